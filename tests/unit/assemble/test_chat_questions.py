"""Messages of a page that answers several messages of people."""

from builder.recall.questions import Questions
from tests.factories import make_context
from tests.property.sessions import hear
from tests.unit.assemble.test_chat import answer, calling, profile, said, shown


def test_a_note_on_what_was_answered_stands_in_front_of_the_turn_without_an_empty_line_of_its_own() -> None:
    rows = [
        said(1, "How hot?"),
        calling(2, "r1", content=""),
        said(3, "And now?"),
        hear(4, "agent.response.v1", {"content": "Cold."}),
    ]
    meanwhile = Questions(ids=("m1",), current=("m1",), answered=1)
    note = "(1 message was answered meanwhile; answer the rest)\n"
    behind_an_answer = make_context(answer(5, "r1"), rows, profile(), questions=meanwhile)
    assert [parts for _, parts, _ in shown(behind_an_answer)] == [["How hot?"], ["And now?"], ["Cold."], [note], []]
    behind_a_message = make_context(answer(5, "r1"), rows[:2], profile(), questions=meanwhile)
    assert [parts for _, parts, _ in shown(behind_a_message)] == [["How hot?", f"\n{note}"], []]
