"""A record is on the page when its calls are, unless it says more."""

from builder.assemble.presence import rows_of_calls
from builder.recall.index.conversation import turns
from tests.conversations import answered, bash, chat, replied, requested, said
from tests.pages import make_ledger, make_writer
from tests.two_sections import make_two_sections

WRITER = make_writer(chat(8), make_two_sections())


COUNTING = [
    said(1, "Zähle."),
    replied(2, "Ich zähle.", bash("a", "wc")),
    requested(3, "a", command="wc"),
    answered(4, "a", "zeile\n" * 300),
]
COUNTING_WRITER = make_writer(COUNTING, make_two_sections())
ENTRIES = [entry for turn in reversed([*turns(COUNTING_WRITER.view)]) for entry in turn]


def test_a_record_that_passes_a_call_on_says_nothing_more_than_the_call() -> None:
    ledger = make_ledger(COUNTING_WRITER, 4000)
    ledger.put("recent", [COUNTING_WRITER.entry(ENTRIES[-1])], "of the test")
    assert {COUNTING[row].breadcrumb.id for row in rows_of_calls(ledger)} == {"m3"}  # m2 says "Ich zähle." too


def test_a_record_that_passes_a_call_on_and_makes_another_one_says_more() -> None:
    rows = [requested(1, "a", command="wc"), replied(2, "", bash("a", "wc"), bash("b", "ls")), answered(3, "a", "2")]
    writer = make_writer(rows, make_two_sections())
    entries = [entry for turn in reversed([*turns(writer.view)]) for entry in turn]
    ledger = make_ledger(writer, 4000)
    for count, ids in ((1, {"m1"}), (2, {"m1", "m2"})):
        ledger.put("recent", [writer.entry(entry) for entry in entries[:count]], "of the test")
        assert {rows[row].breadcrumb.id for row in rows_of_calls(ledger)} == ids
