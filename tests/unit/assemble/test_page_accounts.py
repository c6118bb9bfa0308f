"""The account of a page: tokens of each section and breadcrumb, and what is there otherwise than it came."""

from builder.assemble.page import parts, rows_of_calls, sections_of
from builder.domain.context import CUT
from builder.recall.index.conversation import turns
from tests.conversations import answered, bash, replied, requested, said
from tests.pages import make_ledger, make_writer

ROWS = [
    said(1, "Zähle."),
    replied(2, "Ich zähle.", bash("a", "wc")),
    requested(3, "a", command="wc"),
    answered(4, "a", "zeile\n" * 300),
]
WRITER = make_writer(ROWS)
ENTRIES = [entry for turn in reversed([*turns(WRITER.view)]) for entry in turn]


def test_an_empty_page_has_an_empty_account() -> None:
    ledger = make_ledger(WRITER)
    assert (sections_of(ledger), list(parts(ledger)), rows_of_calls(ledger)) == ((), [], frozenset())


def test_a_section_has_its_tokens_and_those_of_each_breadcrumb() -> None:
    ledger = make_ledger(WRITER, 4000)
    ledger.put("recent", [WRITER.entry(entry) for entry in ENTRIES], "of the test")
    (section,) = sections_of(ledger)
    assert (section.name, section.tokens) == ("recent", ledger.total)
    assert list(section.tokens_by_id) == ["m1", "m2", "m4"]
    assert sum(section.tokens_by_id.values()) == section.tokens - WRITER.rendering.heading_tokens(
        "default", "recent", "Recent Conversation"
    )


def test_what_is_cut_is_told_with_its_size_and_what_is_whole_is_not() -> None:
    ledger = make_ledger(WRITER, 4000)
    ledger.put("recent", [WRITER.entry(ENTRIES[0]), WRITER.entry(ENTRIES[-1], cap=100)], "of the test")
    (part,) = parts(ledger)
    assert (part.id, part.reason) == ("m4", CUT)
    assert 0 < part.tokens_shown <= 100 < part.tokens


def test_a_record_that_passes_a_call_on_says_nothing_more_than_the_call() -> None:
    ledger = make_ledger(WRITER, 4000)
    ledger.put("recent", [WRITER.entry(ENTRIES[-1])], "of the test")
    assert {ROWS[row].breadcrumb.id for row in rows_of_calls(ledger)} == {"m3"}  # m2 says "Ich zähle." too


def test_a_record_that_passes_a_call_on_and_makes_another_one_says_more() -> None:
    rows = [requested(1, "a", command="wc"), replied(2, "", bash("a", "wc"), bash("b", "ls")), answered(3, "a", "2")]
    writer = make_writer(rows)
    entries = [entry for turn in reversed([*turns(writer.view)]) for entry in turn]
    ledger = make_ledger(writer, 4000)
    for count, ids in ((1, {"m1"}), (2, {"m1", "m2"})):
        ledger.put("recent", [writer.entry(entry) for entry in entries[:count]], "of the test")
        assert {rows[row].breadcrumb.id for row in rows_of_calls(ledger)} == ids
