"""One conversation with holes: a sign where something of it is missing, nowhere else, and each is paid for."""

from dataclasses import replace

import pytest

from builder.adapters.tokens import load_counter
from builder.assemble.budget.ledger import Gaps, missing_of, units_of
from builder.assemble.items.writer import Item
from builder.assemble.page import compose
from tests.conversations import chat, said
from tests.factories import PHRASES
from tests.pages import make_ledger, make_writer

NINE = make_writer([*chat(9), said(20, "Elsewhere.", session="s1")])
SIGN = "- …"


def items(*rows: int) -> list[Item]:
    return [NINE.message(NINE.view.breadcrumb(row), row) for row in rows]


def gaps(*rows: int) -> Gaps:
    """Of a page that shows these rows."""
    return Gaps(view=NINE.view, phrases=PHRASES, missing=missing_of(NINE.view, units_of(NINE.view), rows))


@pytest.mark.parametrize(
    ("rows", "signs"),
    [
        (range(9), [""] * 9),
        ((0, 1, 4, 8), ["", "", SIGN, SIGN]),
        ((3, 8), [SIGN, SIGN]),
        ((3, 4, 9), [SIGN, "", ""]),
    ],
)
def test_a_sign_stands_before_what_follows_a_hole_and_other_sessions_have_none(rows: tuple[int, ...], signs: list[str]) -> None:
    assert list(gaps(*rows).signs(items(*rows))) == signs


def test_what_another_section_shows_is_no_hole() -> None:
    assert list(gaps(0, 1, 2, 3).signs(items(0, 3))) == ["", ""]


def test_before_the_first_of_what_goes_on_elsewhere_on_the_page_stands_no_sign() -> None:
    assert list(gaps(5, 8).signs(items(5, 8), is_first=False)) == ["", SIGN]


def test_the_total_is_the_true_count_of_a_page_with_signs() -> None:
    ledger = make_ledger(NINE)
    ledger.put("conversation", items(1, 2, 5, 8), "of the test")
    ledger.put("current", items(7), "of the test")
    ledger.settle()
    ledger.put_note("conversation", "A note.")
    markdown = compose(ledger).markdown
    assert markdown.startswith(f"## Conversation\nA note.\n[8 May 2024]\n{SIGN}\n- Assistant: Remark 2 ")
    assert markdown.count(f"\n{SIGN}\n") == 3
    assert ledger.total == load_counter("o200k_base")(markdown)


def test_what_a_note_tells_is_not_missing() -> None:
    ledger = make_ledger(NINE)
    ledger.put("conversation", items(0, 2), "of the test")
    ledger.noted = frozenset({1})
    ledger.settle()
    assert [line for _, line in ledger.with_gaps("conversation", ledger.items["conversation"])] == ["", ""]


def test_signs_of_an_edited_message_are_those_of_its_place() -> None:
    writer = make_writer([*chat(5), said(30, "I mean the other kiln.", id="m2", version=2)])
    shown = [writer.message(writer.view.breadcrumb(row), row) for row in (0, 5, 4)]
    missing = missing_of(writer.view, units_of(writer.view), (0, 5, 4))
    holes = Gaps(view=writer.view, phrases=PHRASES, missing=missing)
    assert list(holes.signs(shown)) == ["", "", SIGN]
    assert list(replace(holes, missing=missing[:0]).signs(shown)) == ["", "", ""]
