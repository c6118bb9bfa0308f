"""What a context that was built again says of itself."""

from dataclasses import replace
from typing import Any

import pytest

from builder.domain.breadcrumb import Place
from builder.worker.replays import Replay
from tests.factories import make_context, make_remembered


@pytest.mark.parametrize(
    ("published", "as_of", "is_same"),
    [(b"event", None, True), (b"other", None, False), (None, None, None), (b"event", Place(1, 9), None)],
)
def test_it_is_the_published_one_unless_nobody_knows(published: bytes | None, as_of: Place | None, is_same: bool | None) -> None:
    parts: dict[str, Any] = dict.fromkeys(("trigger", "assembly", "profile"))
    trigger = make_remembered("Where is it?", 2)
    context = replace(make_context(trigger, [trigger]), as_of=as_of)
    replay = Replay(context=context, event=b"event", published=published, notes=(), times={}, **parts)
    assert replay.is_same is is_same
