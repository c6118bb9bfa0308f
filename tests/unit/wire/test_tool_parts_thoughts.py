"""Thoughts in the shape of any vendor."""

from typing import Any

import pytest

from builder.wire.parts import Mark, Thought
from builder.wire.tool_parts import thought


@pytest.mark.parametrize(
    "part",
    [
        {"thinking": "Clay first."},
        {"reasoning": "Clay first."},
        {"text": [{"type": "text", "text": "Clay first."}]},
        {"summary": [{"type": "summary_text", "text": "Clay first."}]},
        {"reasoningText": {"text": "Clay first.", "signature": "Eq"}},
    ],
)
def test_its_words_are_read_in_every_shape(part: dict[str, Any]) -> None:
    assert thought(part) == (Thought("Clay first."),)


def test_one_that_only_its_vendor_reads_is_a_mark() -> None:
    assert thought({"type": "redacted_thinking", "data": "EqQBCgI"}) == (Mark("[redacted_thinking, 5 bytes]"),)
