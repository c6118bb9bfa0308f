"""From a plan to a page: a conversation in the order of time, whose calls are lines where they were not bought."""

from collections.abc import Sequence

import pytest

from builder.assemble.budget.purchases import Plan
from builder.assemble.draft import PageDraft
from builder.assemble.sources.choice import Choice, choice_of
from builder.assemble.sources.placement import OFTEN, Placement, placement
from builder.domain.context import PASSAGES
from builder.domain.stored import StoredBreadcrumb
from builder.recall.search.candidates import Find
from tests.conversations import answered, bash, chat, replied, said, sent, undated
from tests.factories import make_context, make_profile
from tests.pages import make_draft
from tests.two_sections import make_two_sections

TIGHT = make_profile(budget=500)
LOG = " ".join(f"Line {n} of a long log." for n in range(400))
BEFORE = chat(200)
TIMES = "\N{MULTIPLICATION SIGN}"


def chosen(rows: Sequence[StoredBreadcrumb], *finds: Find) -> tuple[PageDraft, Choice]:
    """Of a page on which the rows have no room."""
    draft = make_draft(rows, TIGHT)
    return draft, choice_of(draft, finds, 1.0)


def number_of(choice: Choice, row: int, request: str = "") -> int:
    return next(number for number, entry in enumerate(choice.order) if (entry.row, entry.request) == (row, request))


def texts(placed: Placement) -> list[str]:
    return [line for item in placed.conversation for line in item.text.split("\n")]


def call(number: int, command: str = "make", text: str = "I look.") -> list[StoredBreadcrumb]:
    return [replied(number, text, bash(f"r{number}", command)), answered(number + 1, f"r{number}", LOG)]


def test_what_was_bought_stands_in_the_order_of_time() -> None:
    draft, choice = chosen(chat(60), Find(row=3), Find(row=30))
    placed = placement(draft, choice, Plan(newest=2, whole={0, 1, number_of(choice, 3), number_of(choice, 30)}))
    assert [item.first.id for item in placed.conversation] == ["m4", "m31", "m59", "m60"]
    assert not placed.apart


def test_the_calls_of_a_message_on_the_page_are_a_line_where_they_were_not_bought() -> None:
    rows = [
        *chat(60),
        *call(70),
        replied(80, "And again.", bash("a", "ls"), bash("b", "ls")),
        answered(81, "a", LOG),
        said(90, "Ok."),
    ]
    draft, choice = chosen(rows, Find(row=60), Find(row=62))
    placed = placement(draft, choice, Plan(newest=1, whole={0, number_of(choice, 60), number_of(choice, 62)}))
    assert texts(placed) == [
        "- Assistant: I look.",
        "- 1 call: bash make",
        "- Assistant: And again.",
        f"- 2 calls: bash ls 2 {TIMES}",
        "- User: Ok.",
    ]
    assert [(entry.row, entry.request) for entry in placed.in_runs] == [(60, "r70"), (62, "a"), (62, "b")]


@pytest.mark.parametrize("newest", [1, 2])
def test_the_newest_part_does_not_begin_within_a_turn(newest: int) -> None:
    rows = [
        *chat(60),
        replied(70, "I look.", bash("a", "ls"), bash("b", "pwd")),
        answered(71, "b", "home"),
        answered(72, "a", "src"),
    ]
    draft, choice = chosen(rows)
    assert [entry.request for entry in choice.order[:3]] == ["b", "a", ""]
    placed = placement(draft, choice, Plan(newest=newest, whole=set(range(newest))))
    assert texts(placed)[0] == "- Assistant: I look."
    assert texts(placed)[-2:] == ["- Call bash: command: pwd", "  Result: home"]
    assert ("- 1 call: bash ls" in texts(placed)) == (newest == 1)


def test_calls_that_follow_each_other_are_one_line() -> None:
    draft, choice = chosen([*BEFORE, *(row for n in range(300, 340, 2) for row in call(n, text="")), said(400, "Ok.")])
    placed = placement(draft, choice, Plan(newest=21, whole={0}, short=set(range(1, 21))))
    assert texts(placed) == [f"- 20 calls: bash make 20 {TIMES}", "- User: Ok."]
    assert len(placed.in_runs) == 20


@pytest.mark.parametrize(("times", "lines"), [(OFTEN, 2), (OFTEN - 1, 1 + 2 * (OFTEN - 1))])
def test_words_that_were_often_said_beside_calls_fold_with_them(times: int, lines: int) -> None:
    rows = [*BEFORE, *(row for n in range(times) for row in call(300 + 2 * n)), said(400, "Ok.")]
    draft, choice = chosen(rows)
    calls = [number for number, entry in enumerate(choice.order[: 1 + 2 * times]) if entry.request]
    messages = {number for number in range(1 + 2 * times) if number not in calls}
    placed = placement(draft, choice, Plan(newest=1 + 2 * times, whole=messages, short=set(calls)))
    assert len(texts(placed)) == lines
    assert sum(bool(entry.request) for entry in placed.in_runs) == times


def hole(between: str, **fields: object) -> list[str]:
    """The page of two messages around one that was not bought."""
    rows = [*BEFORE, said(300, "The red kiln is hot."), replied(301, between, **fields), said(302, "Thanks."), *chat(9, 400)]  # type: ignore[arg-type]
    draft, choice = chosen(rows, Find(row=200), Find(row=202))
    numbers = {number_of(choice, row) for row in (200, 202)}
    placed = placement(draft, choice, Plan(newest=2, whole={0, 1, *numbers}))
    assert [item.origin for item in placed.conversation] == sorted(item.origin for item in placed.conversation)
    return texts(placed)[:-2]


def test_a_hole_of_a_few_tokens_is_filled_and_a_larger_one_is_left() -> None:
    assert hole("Yes, it is.") == ["- User: The red kiln is hot.", "- Assistant: Yes, it is.", "- User: Thanks."]
    assert hole("It was the third firing of this week, and all went well.") == ["- User: The red kiln is hot.", "- User: Thanks."]


def test_who_goes_on_speaking_has_a_label_again_behind_a_hole() -> None:
    rows = [said(number, f"Kiln {number} stands in the yard by the river and is as hot as ever.") for number in range(1, 90)]
    draft, choice = chosen(rows, Find(row=3), Find(row=4))
    placed = placement(draft, choice, Plan(newest=2, whole={0, 1, number_of(choice, 3), number_of(choice, 4)}))
    labels = [line.partition("Kiln")[0] for line in texts(placed)]
    assert labels[2:] == ["- User: ", "- "]
    assert labels[0] == "- User: "


def test_who_goes_on_speaking_below_the_heading_of_the_running_turn_has_a_label_again() -> None:
    rows = [
        *chat(60),
        said(70, "Is it hot?"),
        replied(71, "I think so."),
        *call(72, "cat a"),
        replied(74, "Well.", bash("r", "ls")),
    ]
    context = make_context(answered(75, "r", "hot"), rows, make_two_sections(budget=690))
    assert "- Assistant: I think so.\n\n## Tool results\n- Assistant: I look.\n" in undated(context.markdown)


def test_passages_of_a_message_stand_in_their_order_with_signs_between_them() -> None:
    draft, choice = chosen([said(1, LOG), *chat(60, 2)], Find(row=0, spans=((44, 65),)), Find(row=0, spans=((0, 21),)))
    number = number_of(choice, 0)
    (found, _) = placement(draft, choice, Plan(newest=1, whole={0}, parts={number: [0, 1]})).conversation
    assert found.text == "- User: Line 0 of a long log. […] Line 2 of a long log. […]"
    assert found.fragments[0].reduced == PASSAGES


def test_what_was_found_of_a_result_stands_below_its_call() -> None:
    rows = [*call(1, "make kiln"), *chat(60, 3)]
    draft, choice = chosen(rows, Find(row=1, spans=((0, rows[1].breadcrumb.text.index("Line 1 ") - 1),)))
    (found, _) = placement(draft, choice, Plan(newest=1, whole={0}, parts={number_of(choice, 0, "r1"): [0]})).conversation
    assert found.text == "- Call bash: command: make kiln\n  Result: Line 0 of a long log. […]"


def test_a_long_message_in_its_short_form_has_the_tokens_of_the_plan() -> None:
    draft, choice = chosen([*chat(60), said(100, LOG)])
    (item,) = placement(draft, choice, Plan(newest=1, short={0}, caps={0: 80})).conversation
    assert item.is_cut
    assert 40 < item.tokens <= 80
    assert "characters left out, id m100 …]" in item.text


def test_what_is_no_part_of_the_conversation_stands_elsewhere_in_the_order_of_time() -> None:
    notes = [sent(n, "note.v1", {"content": f"Note {n} on the kiln."}) for n in (100, 101)]
    draft, choice = chosen([*chat(60), *notes], Find(row=61), Find(row=60))
    placed = placement(draft, choice, Plan(newest=1, whole={0, *(number_of(choice, row) for row in (60, 61))}))
    assert [item.text for item in placed.apart] == ["- Note: Note 100 on the kiln.", "- Note: Note 101 on the kiln."]
    assert [item.first.id for item in placed.conversation] == ["m60"]


def test_nothing_is_placed_of_an_empty_plan() -> None:
    placed = placement(*chosen(BEFORE), Plan())
    assert (placed.conversation, placed.apart, placed.in_runs) == ((), (), ())
