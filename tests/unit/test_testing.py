"""What `memory_client` is given wrong."""

from pathlib import Path
from typing import Any

import pytest

from builder.domain.errors import BuilderError, Misconfigured, Rejected
from builder.testing import memory_client


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"templates": "nowhere"}, Misconfigured, "templates is 'nowhere', which is no folder"),
        ({"templates": Path(__file__)}, Misconfigured, "which is no folder"),
        ({"profiles": {"a/b": {"extends": "default"}}}, Rejected, "profile name 'a/b' does not fit a NATS subject"),
        ({"profiles": {"../a": {"extends": "default"}}}, Rejected, "profile name '../a' does not fit a NATS subject"),
        ({"workspace": "a.b"}, Rejected, "workspace 'a.b' does not fit"),
    ],
)
async def test_what_is_wrong_is_said_in_a_sentence(given: dict[str, Any], error: type[BuilderError], message: str) -> None:
    with pytest.raises(error, match=message):
        async with memory_client(**given):
            pass
