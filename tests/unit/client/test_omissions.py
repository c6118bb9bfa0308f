"""What a page leaves out, as the client says it."""

from collections import OrderedDict
from typing import Any

import pytest

from builder.client.omissions import likeliest, omission_note, read_omissions
from builder.client.received import read
from tests.unit.client.test_received import ASKED, event

ABSENT = [
    {"id": "m3", "reason": "over budget", "tokens": 12, "shown": 0, "probability": 0.004},
    {"id": "m17", "reason": "not near enough to the question", "tokens": 40, "shown": 0, "probability": 0.04, "new": 1},
    {"id": "m9", "reason": "older", "tokens": 9, "shown": 0},
]
CUT = {"id": "m1", "reason": "cut to what has room", "tokens": 400, "shown": 60}
NEUTRALISED = {"id": "m2", "reason": "neutralised", "tokens": 7, "shown": 7}


def omissions(count: int = 12, absent: Any = ABSENT) -> dict[str, Any]:
    return {
        "omissions": {"most_relevant": absent, "partial": [NEUTRALISED, CUT], "by_reason": {}, "count": count, "tokens": 3401}
    }


def test_what_is_left_out_comes_first_and_then_what_is_cut() -> None:
    assert [(each.id, each.tokens_shown, each.probability) for each in read_omissions(omissions())] == [
        ("m3", 0, 0.004), ("m17", 0, 0.04), ("m9", 0, None), ("m1", 60, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "note"),
    [
        (omissions(), "12 breadcrumbs are not on the page (3,401 tokens; likeliest m17, 4 %)"),
        (omissions(absent=ABSENT[:1]), "12 breadcrumbs are not on the page (3,401 tokens; likeliest m3, under 1 %)"),
        (omissions(1, ABSENT[2:]), "1 breadcrumb is not on the page (3,401 tokens)"),
        (omissions(0, []), ""),
        ({}, ""),
    ],
)
def test_a_line_says_how_much_and_which_is_the_likeliest(found: dict[str, Any], note: str) -> None:
    assert omission_note(found) == note


def test_without_a_search_nothing_is_the_likeliest() -> None:
    assert likeliest(omissions(absent=ABSENT[2:])) is None


def test_a_received_context_has_them_and_one_of_an_older_service_has_none() -> None:
    context = read(event(**omissions()), ASKED, OrderedDict())
    assert [each.id for each in context.omitted] == ["m3", "m17", "m9", "m1"]
    assert context.omission_note.startswith("12 breadcrumbs are not on the page")
    assert read(event(), ASKED, OrderedDict()).omitted == ()
