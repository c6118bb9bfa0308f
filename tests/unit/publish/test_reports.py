"""The event of a compaction says what was folded, and of which context."""

import json

from builder.domain.context import Compaction
from builder.publish.reports import encode_compaction
from tests.factories import make_context, make_remembered


def test_the_event_names_its_context_and_the_tokens_before_and_after() -> None:
    context = make_context(make_remembered("And now?", 2), ["Hello."])
    event = json.loads(
        encode_compaction(context, Compaction(original_tokens=5120, compacted_tokens=2710, folded=("t3", "t5"), budget=4000))
    )
    assert (event["original_tokens"], event["compacted_tokens"], event["folded"]) == (5120, 2710, ["t3", "t5"])
    assert (event["context_id"], event["trigger_event_id"], event["budget"]) == (str(context.id), "m2", context.budget)
