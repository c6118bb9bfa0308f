"""Summaries pair ids with versions."""

from typing import Any

import pytest
from pydantic import ValidationError

from builder.domain.summary import KeptLine, Summary
from builder.remember.decode import decode
from builder.remember.schemas.summary import SummaryV1, summary_event
from tests.factories import MORNING, make_place

LINE: dict[str, Any] = {"text": "Ana: Cone 6.", "ids": ["m3"], "versions": [1]}
BODY: dict[str, Any] = {"lines": [LINE], "covered": ["m3"], "versions": [1], "last": "m3", "recipe": "r"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"versions": [1, 2]}, "1 ids covered and 2 versions"),
        ({"lines": [LINE | {"versions": [1, 2]}]}, "1 ids and 2 versions"),
        ({"covered": []}, "at least 1 item"),
    ],
)
def test_each_id_has_one_version(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        SummaryV1.model_validate(BODY | change)


def test_a_summary_covers_its_ids() -> None:
    assert SummaryV1.model_validate(BODY | {"versions": []}).facts().covers == ("m3",)


def test_the_event_of_a_summary_is_decoded_with_its_recipe_as_a_tag() -> None:
    line = KeptLine(text="Ana: Cone 6.", day="8 May 2023", ids=("m3",), versions=(1,))
    summary = Summary(
        lines=(line,), covered=("m3",), versions=(1,), previous="", last="m3", recipe="3f0c", by="extractive", language="en"
    )
    event = summary_event("acme", "s42", "z1", summary, MORNING)
    crumb = decode(event.arrive(make_place(9), MORNING))
    assert (crumb.id, crumb.schema, crumb.tags, crumb.covers, crumb.text) == ("z1", "summary.v1", ("recipe:3f0c",), ("m3",), "")
