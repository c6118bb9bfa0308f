"""What is missing between the lines of a page is told with true numbers, in the page's language."""

from collections.abc import Iterable

import pytest

from builder.assemble.budget.ledger import Gaps, dialogue_rows, missing_of, units_of
from builder.domain.text import Phrases
from builder.recall.index.view import View
from tests.conversations import answered, bash, chat, deleted, replied, requested, said
from tests.factories import make_rendering
from tests.pages import make_writer

WRITER = make_writer(chat(9))
PHRASES = make_writer([]).rendering.phrases


def gaps_of(view: View, phrases: Phrases, rows: Iterable[int]) -> Gaps:
    return Gaps(view=view, phrases=phrases, missing=missing_of(view, units_of(view), rows), other_calls={})


def gaps(*rows: int) -> Gaps:
    """Of a page that shows these rows of nine messages."""
    return gaps_of(WRITER.view, PHRASES, rows)


def lines(shown: tuple[int, ...], section: tuple[int, ...]) -> list[str]:
    return list(gaps(*shown).lines([WRITER.message(WRITER.view.breadcrumb(row), row) for row in section]))


def test_a_page_that_shows_everything_misses_nothing() -> None:
    assert gaps(*range(9)).earlier == ""
    assert lines(tuple(range(9)), (0, 4, 8)) == ["", "", ""]


@pytest.mark.parametrize(
    ("shown", "note"), [((8,), "(8 earlier messages are not shown)"), (tuple(range(8)), "(1 earlier message")]
)
def test_the_note_counts_each_unit_of_which_nothing_is_on_the_page(shown: tuple[int, ...], note: str) -> None:
    assert gaps(*shown).earlier.startswith(note)


def test_a_gap_counts_what_is_nowhere_on_the_page_and_not_what_another_section_shows() -> None:
    assert lines((0, 4, 8), (0, 4, 8)) == ["", "- (3 messages between)", "- (3 messages between)"]
    assert lines((0, 1, 2, 4), (0, 4)) == ["", "- (1 message between)"]
    assert lines((0, 1, 2, 3, 4), (0, 4)) == ["", ""]


def test_a_call_with_its_result_is_one_unit_with_the_words_that_make_it() -> None:
    rows = [said(1, "Wie viel Uhr?"), replied(2, "Ich sehe nach.", bash("a", "date")), answered(3, "a", "zehn"), said(4, "Gut.")]
    view = make_writer(rows).view
    assert gaps_of(view, PHRASES, [3]).earlier == "(2 earlier messages are not shown)"
    assert gaps_of(view, PHRASES, [2, 3]).earlier == "(1 earlier message is not shown)"


def test_a_call_that_passes_on_that_of_a_message_is_not_missing_also_when_the_message_is_deleted() -> None:
    asks = replied(1, "Ich sehe nach.", bash("a", "date"))
    rows = [asks, requested(2, "a", command="date"), said(3, "Gut."), deleted(4, asks.breadcrumb.id)]
    assert dialogue_rows(make_writer(rows[:3]).view).tolist() == [0, 2]
    assert dialogue_rows(make_writer(rows).view).tolist() == [2]


def test_a_message_without_words_that_passes_on_a_deleted_call_is_not_missing() -> None:
    call = requested(1, "a", command="date")
    rows = [call, replied(2, "", bash("a", "date")), said(3, "Gut."), deleted(4, call.breadcrumb.id)]
    assert dialogue_rows(make_writer(rows[:3]).view).tolist() == [0, 2]
    assert dialogue_rows(make_writer(rows).view).tolist() == [2]


@pytest.mark.parametrize(("language", "note"), [("en", "(91 earlier messages are not shown)"), ("de", "(91 frühere Nachrichten")])
def test_a_page_says_it_once_in_its_own_language(language: str, note: str) -> None:
    rendering = make_rendering().for_pages(language, 4000)
    assert gaps_of(make_writer(chat(100)).view, rendering.phrases, range(91, 100)).earlier.startswith(note)
