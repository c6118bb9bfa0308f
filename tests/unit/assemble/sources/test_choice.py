"""What may be on the page, as numbers: each message and call once, its tokens about as many as it will have."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from builder.assemble.sources.choice import ANSWER_TOKENS, MAX_FINDS, QUESTION_TOKENS, Choice, choice_of, entry_of
from builder.domain.stored import StoredBreadcrumb
from builder.recall.search.candidates import Find
from tests.conversations import answered, bash, chat, replied, said, sent
from tests.factories import make_profile
from tests.pages import make_draft, make_writer

LETTER = " ".join(f"Sentence {n} of a long letter." for n in range(60))
TIGHT = make_profile(budget=500)
CALLS = [
    said(1, "Look."),
    replied(2, "I look.", bash("a", "ls"), bash("b", "pwd")),
    answered(3, "b", "home"),
    answered(4, "a", LETTER),
]


def choice(rows: Sequence[StoredBreadcrumb], *finds: Find, **changes: Any) -> Choice:
    """Of a page on which the rows have no room."""
    return choice_of(make_draft(rows, TIGHT, **changes), finds, 1.0)


def test_what_is_next_to_the_question_comes_newest_first_and_then_what_was_found_farther_away() -> None:
    rows = [*chat(400), *(replace(row, breadcrumb=replace(row.breadcrumb, session="s1")) for row in chat(1, 500))]
    made = choice(rows, Find(row=2), Find(row=400), Find(row=398))
    newest = made.entries.newest
    assert [entry.row for entry in made.order[:newest]] == list(range(399, 399 - newest, -1))
    assert [entry.row for entry in made.order[newest:]] == [2, 400]
    assert made.offers.entry.tolist() == [newest, newest + 1, 1], "what is next to the question has its number there"
    assert len(made.order) == len(made.entries.whole) == len(made.entries.line) == len(made.entries.is_certain)


@pytest.mark.parametrize("rows", [chat(400), [said(n, f"Frage {n}: wie heiß war der Ofen? {LETTER}") for n in range(1, 60)]])
def test_the_tokens_of_an_entry_are_about_those_that_it_has_on_a_page(rows: list[StoredBreadcrumb]) -> None:
    draft = make_draft(rows, TIGHT)
    made = choice_of(draft, (), 1.0)
    for entry, whole in zip(made.order, made.entries.whole.tolist(), strict=True):
        assert whole == pytest.approx(draft.writer.entry(entry).tokens, rel=0.01, abs=2)


@pytest.mark.parametrize("command", ["ls", LETTER])
def test_a_call_costs_what_it_and_its_results_cost_and_as_a_part_of_a_run_next_to_nothing(command: str) -> None:
    rows = [said(200, "Look."), replied(201, "I look.", bash("a", command), bash("b", "pwd")), *CALLS[2:]]
    draft = make_draft([*chat(60, 10), *rows], TIGHT)
    made = choice_of(draft, (), 1.0)
    items = {entry.request: draft.writer.entry(entry) for entry in made.order if entry.request}
    assert set(items) == {"a", "b"}
    for number, entry in enumerate(made.order):
        if entry.request:
            assert made.entries.whole[number] == pytest.approx(items[entry.request].tokens, rel=0.1, abs=4)
            assert made.entries.line[number] < 10
    assert sum(made.entries.line < 10) == 2


def test_a_row_is_shown_by_its_message_and_a_result_by_the_call_that_it_answers() -> None:
    rows = [*CALLS, answered(5, "lost", "42"), said(6, "Look here.", id="m1", version=2)]
    view = make_writer(rows).view
    assert [(entry.origin, entry.row, entry.request) for entry in (entry_of(view, row) for row in range(1, 6))] == [
        (1, 1, ""), (1, 1, "b"), (1, 1, "a"), (4, 4, ""), (0, 5, ""),
    ]  # fmt: skip
    assert entry_of(view, 3).results == (3,)


@pytest.mark.parametrize(
    ("rows", "certain"),
    [
        (chat(60), [0]),
        ([*chat(60), replied(61, "Done.", bash("a", "ls"), bash("b", "pwd"))], [0, 1, 2]),
        ([*chat(60), replied(61, "Done.", bash("a", "ls")), said(62, "Thanks.")], [0]),
    ],
)
def test_the_last_message_with_its_calls_is_certain(rows: list[StoredBreadcrumb], certain: list[int]) -> None:
    made = choice(rows)
    assert [number for number in range(made.entries.newest) if made.entries.is_certain[number]] == certain


@pytest.mark.parametrize(("behind", "result"), [(0, 0), (6, 6), (7, -1)])
def test_a_result_is_new_while_few_messages_are_behind_it(behind: int, result: int) -> None:
    rows = [*chat(60), replied(61, "", bash("a", "ls")), answered(62, "a", "files"), *chat(behind, 70)]
    assert choice(rows).entries.result == result


def test_on_the_page_of_a_result_no_other_one_is_new() -> None:
    rows = [*chat(60), replied(61, "", bash("a", "ls")), answered(62, "a", "files")]
    assert choice(rows, turn=(entry_of(make_writer(rows).view, 61),)).entries.result == -1


def test_what_is_brought_belongs_to_the_first_of_its_chain_and_who_bring_each_other_to_the_better_one() -> None:
    chain = Find(row=1), Find(row=2, reply_to=1), Find(row=3, replaces=2)
    assert choice(chat(60), *chain).offers.leader.tolist() == [-1, 0, 0]
    round_of = Find(row=1, replaces=2), Find(row=2, replaces=1), Find(row=3, reply_to=50)
    assert choice(chat(60), *round_of).offers.leader.tolist() == [-1, 0, -1]


@pytest.mark.parametrize(
    ("half", "most"),
    [(Find(row=2, reply_to=1), ANSWER_TOKENS), (Find(row=2, answer=1), QUESTION_TOKENS)],
    ids=["answer", "question"],
)
def test_a_short_half_comes_along_with_its_other_half_a_long_one_does_not_and_a_correction_always(half: Find, most: int) -> None:
    short, long = (replace(half, tokens=tokens) for tokens in (most, most + 1))
    correction = replace(long, reply_to=-1, answer=-1, replaces=1)
    draft = make_draft(chat(400), make_profile(budget=1000))
    leaders = [choice_of(draft, (Find(row=1), find), 1.0).offers.leader.tolist() for find in (short, long, correction)]
    assert leaders == [[-1, 0], [-1, -1], [-1, 0]]


def test_in_a_small_room_only_a_shorter_answer_comes_along() -> None:
    drafts = [make_draft(chat(400), make_profile(budget=budget)) for budget in (300, 500, 1000)]
    answers = [Find(row=2, reply_to=1, tokens=tokens) for tokens in (25, 45, 60)]
    brought = [[choice_of(draft, (Find(row=1), each), 1.0).offers.leader[1] == 0 for each in answers] for draft in drafts]
    assert brought == [[True, False, False], [True, True, False], [True, True, True]]


@pytest.mark.parametrize(
    "text", ["Kiln {} is ready.", "窑 {} 已经准备好了。", "窑{}已经准备好了。", "窯{}号は準備ができました。"]
)
def test_messages_of_one_form_with_other_numbers_are_of_a_kind_in_every_writing(text: str) -> None:
    rows = [said(1, text.format(1)), said(2, text.format(2)), said(3, "The glaze of the bowl cracked.")]
    made = choice([*rows, *chat(60, 10)], *(Find(row=row) for row in range(3)))
    assert made.offers.alike.tolist() == [1, 1, 0]


def test_a_passage_is_a_part_and_a_message_found_whole_is_none() -> None:
    rows = [*CALLS, said(5, LETTER), *chat(60, 10)]
    made = choice(rows, Find(row=4), Find(row=4, spans=((0, 29),)), Find(row=2))
    assert made.offers.is_part.tolist() == [False, True, True]
    assert 0 < made.offers.lead[1] < 8
    assert made.offers.tokens[2] > 0


def test_a_note_costs_its_own_entry_and_the_best_finds_are_looked_at() -> None:
    notes = [sent(n, "note.v1", {"content": f"Note {n} on tea."}) for n in range(100, 500)]
    made = choice([*chat(60), *notes], *(Find(row=row, share=0.001) for row in range(60, 460)))
    assert len(made.finds) == len(made.offers.worth) == MAX_FINDS
    assert made.entries.newest + MAX_FINDS == len(made.order)
    assert (made.offers.worth > 0).all()


def rounds(number: int) -> list[StoredBreadcrumb]:
    return [
        row
        for n in range(number)
        for row in (replied(500 + 2 * n, "", bash(f"r{n}", f"job {n}")), answered(501 + 2 * n, f"r{n}", LETTER))
    ]


def folded(fold_at: float | None, fold_keep: int | None = None) -> list[str]:
    """Requests of the calls that the limit folds, the newest first, of ten with results of about 490 tokens."""
    profile = make_profile(budget=4000)
    profile = replace(profile, tool_output=replace(profile.tool_output, fold_at=fold_at, fold_keep=fold_keep))
    made = choice_of(make_draft([*chat(400), *rounds(10)], profile), (), 1.0)
    assert all(made.entries.whole[number] <= made.entries.line[number] for number in made.folded)
    return [made.order[number].request for number in sorted(made.folded)]


def test_a_limit_folds_the_oldest_results_above_its_share_of_the_room_and_none_without_it() -> None:
    assert folded(None) == []
    half, least = folded(0.5), folded(0.01)
    assert half == [f"r{number}" for number in reversed(range(len(half)))]
    assert 4 <= len(half) <= 7
    assert len(least) == 10
    assert folded(0.01, 3) == least[3:]
