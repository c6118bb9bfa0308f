"""The ledger counts what the page costs, puts nothing on it without room, and tells true numbers of what is missing."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from builder.adapters.tokens import load_counter
from builder.assemble.budget.ledger import Gaps, Ledger, dialogue_rows, missing_of, units_of
from builder.assemble.items.writer import Item
from builder.assemble.page import compose
from builder.domain.phrases import Phrases
from builder.recall.index.view import View
from tests.conversations import answered, bash, chat, deleted, replied, requested, said
from tests.factories import make_context, make_rendering
from tests.pages import make_ledger, make_writer
from tests.two_sections import make_two_sections

ROWS = chat(6)
DATED = make_two_sections()
UNDATED = replace(DATED, sections=tuple(replace(rule, dates="none") for rule in DATED.sections))
WRITER = make_writer(ROWS, UNDATED)


def items(*rows: int) -> list[Item]:
    return [WRITER.message(WRITER.view.breadcrumb(row), row) for row in rows]


def ids(ledger: Ledger, section: str) -> list[str]:
    return [item.first.id for item in ledger.items.get(section, [])]


def test_a_ledger_of_no_items_costs_nothing_and_has_no_sections() -> None:
    ledger = make_ledger(WRITER, 500)
    ledger.put("recent", [], "of the test")
    assert (ledger.cost("recent", []), ledger.total, ledger.remaining, ledger.page_sections()) == (0, 0, 500, ())


def test_the_total_is_the_true_count_of_the_page() -> None:
    ledger = make_ledger(make_writer(ROWS, DATED))
    ledger.put_text("tools", "Words of the profile.")
    ledger.put_note("recent", "A note.")
    ledger.put("recent", items(0, 1, 2), "of the test")
    ledger.put("relevant", items(4), "of the test")
    ledger.settle()
    markdown = compose(ledger).markdown
    assert ledger.total == load_counter("o200k_base")(markdown)
    assert markdown.index("Words of the profile.") < markdown.index("A note.") < markdown.index("Remark 1")


def test_a_section_pays_its_heading_once() -> None:
    ledger = make_ledger(WRITER)
    heading = ledger.heading("recent")
    assert heading > 0
    ledger.put("recent", items(0), "of the test")
    assert ledger.heading("recent") == 0
    assert ledger.spent["recent"] == heading + items(0)[0].tokens


def test_a_note_is_paid_for_with_the_heading_above_it_and_goes_without_lines() -> None:
    ledger = make_ledger(WRITER)
    heading = ledger.heading("recent")
    ledger.put_note("recent", "A note.", "", "Another.")
    assert ledger.notes["recent"] == "A note.\nAnother."
    assert ledger.total == heading + load_counter("o200k_base")("A note.\nAnother.\n")
    ledger.put_note("recent")
    assert ledger.total == 0


def test_notes_are_taken_off_one_by_one_until_there_are_none() -> None:
    ledger = make_ledger(WRITER)
    ledger.put_note("recent", "A note.")
    ledger.put_note("relevant", "Another.")
    assert [ledger.take_off_note() for _ in range(3)] == [True, True, False]
    assert ledger.total == 0


def test_what_messages_need_more_is_not_remaining() -> None:
    (item,) = items(0)
    ledger = make_ledger(WRITER, 500)
    ledger.put("recent", [replace(item, extra=30)], "of the test")
    assert ledger.remaining == 500 - ledger.total - 30
    ledger.put("recent", (), "of the test")
    assert ledger.remaining == 500 - ledger.total
    ledger.put("recent", [replace(item, extra=-30)], "of the test")
    assert ledger.remaining == 500 - ledger.total


def test_sections_stand_in_the_order_of_the_profile_and_may_be_given_other_items() -> None:
    ledger = make_ledger(WRITER)
    for section in ("current", "recent", "tools"):
        ledger.put(section, items(0), "of the test")
    assert [section.name for section in ledger.page_sections()] == ["tools", "recent", "current"]
    assert [section.name for section in ledger.page_sections({"recent": items(1)})] == ["recent"]


def test_the_words_of_the_profile_stand_above_what_is_in_a_section_and_are_counted() -> None:
    profile = DATED
    words = "Excerpts, the newest last; the later one holds where two differ."
    sections = tuple(replace(rule, note=words) if rule.source in {"window", "retrieval"} else rule for rule in profile.sections)
    context = make_context(said(9, "And now?"), chat(3), replace(profile, sections=sections))
    assert context.markdown.startswith(f"## Recent Conversation\n{words}\n[8 May 2024]\n- ")
    assert context.markdown.count(words) == 1, "an empty section has none"
    plain = make_context(said(9, "And now?"), chat(3), profile)
    more = sum(part.tokens for part in context.sections) - sum(part.tokens for part in plain.sections)
    assert context.tokens - plain.tokens == more > 0


NINE = make_writer(chat(9))
PHRASES = make_writer([]).rendering.phrases


def gaps_of(view: View, phrases: Phrases, rows: Iterable[int]) -> Gaps:
    return Gaps(view=view, phrases=phrases, missing=missing_of(view, units_of(view), rows))


def gaps(*rows: int) -> Gaps:
    """Of a page that shows these rows of nine messages."""
    return gaps_of(NINE.view, PHRASES, rows)


def lines(shown: tuple[int, ...], section: tuple[int, ...]) -> list[str]:
    return list(gaps(*shown).lines([NINE.message(NINE.view.breadcrumb(row), row) for row in section]))


def test_a_page_that_shows_everything_misses_nothing() -> None:
    assert gaps(*range(9)).earlier == ""
    assert lines(tuple(range(9)), (0, 4, 8)) == ["", "", ""]


@pytest.mark.parametrize(
    ("shown", "note"), [((8,), "(8 earlier messages are not shown)"), (tuple(range(8)), "(1 earlier message")]
)
def test_the_note_counts_each_unit_of_which_nothing_is_on_the_page(shown: tuple[int, ...], note: str) -> None:
    assert gaps(*shown).earlier.startswith(note)


def test_a_sign_stands_for_what_is_nowhere_on_the_page_and_not_for_what_another_section_shows() -> None:
    assert lines((0, 4, 8), (0, 4, 8)) == ["", "- …", "- …"]
    assert lines((0, 1, 2, 4), (0, 4)) == ["", "- …"]
    assert lines((0, 1, 2, 3, 4), (0, 4)) == ["", ""]


def test_a_call_with_its_result_is_one_unit_with_the_words_that_make_it() -> None:
    rows = [said(1, "Wie viel Uhr?"), replied(2, "Ich sehe nach.", bash("a", "date")), answered(3, "a", "zehn"), said(4, "Gut.")]
    view = make_writer(rows).view
    assert gaps_of(view, PHRASES, [3]).earlier == "(2 earlier messages are not shown)"
    assert gaps_of(view, PHRASES, [2, 3]).earlier == "(1 earlier message is not shown)"


def test_a_result_stands_at_its_own_place_behind_a_hole_when_its_call_is_deleted() -> None:
    writer = make_writer([requested(1, "a"), deleted(2, "m1"), *chat(3, 3), answered(6, "a", "wedge")])
    items = [writer.message(writer.view.breadcrumb(row), row) for row in (2, 5)]
    assert [*gaps_of(writer.view, PHRASES, [2, 5]).lines(items)] == ["", "- …"]


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
