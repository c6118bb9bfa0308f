"""A receipt as JSON."""

import json

from builder.publish.reports import receipt_values
from tests.explanations import make_explanation
from tests.factories import make_remembered


def test_a_receipt_is_json_with_short_numbers_and_without_what_is_not_known() -> None:
    rows = [make_remembered(f"Number {n} of the kilns is hot.", n) for n in range(1, 40)]
    _, explanation = make_explanation(make_remembered("Which kiln is hot?", 50), rows)
    values = receipt_values(explanation.receipt())
    assert json.loads(json.dumps(values)) == values
    heading = values["parts"][0]
    assert heading == {"first": 1, "last": 1, "section": "recent", "tokens": 0, "reduced": "", "reason": heading["reason"]}
    assert values["budget"]["unused"] == values["budget"]["allowance"] - values["budget"]["tokens"]
    probabilities = [absent["evidence"]["probability"] for absent in values["absent"] if "evidence" in absent]
    assert all(len(str(value)) <= 12 for value in probabilities)
