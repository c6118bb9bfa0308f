"""Summaries pair ids with versions."""

from typing import Any

import pytest
from pydantic import ValidationError

from builder.remember.schemas.summary import SummaryV1

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
