"""The event of a compaction says what was folded, and of which context; a receipt as JSON."""

import json

from builder.domain.context import Compaction
from builder.publish.reports import encode_compaction, receipt_values
from tests.explanations import make_explanation
from tests.factories import make_context, make_remembered


def test_the_event_names_its_context_and_the_tokens_before_and_after() -> None:
    context = make_context(make_remembered("And now?", 2), ["Hello."])
    event = json.loads(
        encode_compaction(context, Compaction(original_tokens=5120, compacted_tokens=2710, folded=("t3", "t5"), budget=4000))
    )
    assert (event["original_tokens"], event["compacted_tokens"], event["folded"]) == (5120, 2710, ["t3", "t5"])
    assert (event["context_id"], event["trigger_event_id"], event["budget"]) == (str(context.id), "m2", context.budget)


def test_a_receipt_is_json_with_short_numbers_and_without_what_is_not_known() -> None:
    rows = [make_remembered(f"Number {n} of the kilns is hot.", n) for n in range(1, 40)]
    _, explanation = make_explanation(make_remembered("Which kiln is hot?", 50), rows)
    values = receipt_values(explanation.receipt())
    assert json.loads(json.dumps(values)) == values
    heading = values["parts"][0]
    assert heading == {"first": 1, "last": 1, "section": "conversation", "tokens": 0, "reduced": "", "reason": heading["reason"]}
    assert values["budget"]["unused"] == values["budget"]["allowance"] - values["budget"]["tokens"]
    probabilities = [absent["evidence"]["probability"] for absent in values["absent"] if "evidence" in absent]
    assert all(len(str(value)) <= 12 for value in probabilities)
