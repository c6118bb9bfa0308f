"""The results that a page answers from: whole where they have room, else an even part of each, and no call is gone."""

import pytest

from builder.assemble.draft import PageDraft
from builder.assemble.sources.results import MAX_LINE_TOKENS, RUNNING, complete_results, put_results, shorten_results
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.conversation import closed_turn
from tests.conversations import answered, bash, chat, replied, said, section
from tests.factories import ids_on_page, make_context, make_profile
from tests.pages import make_draft, make_recall

BEFORE = [*chat(300, words="on tea and the weather"), said(400, "How hot is it?")]


def turn_of(*words: int) -> list[StoredBreadcrumb]:
    """A call for each, and its result of so many words."""
    calls = [bash(f"r{number}", f"job {number}") for number in range(len(words))]
    results = [answered(600 + n, f"r{n}", f"{n}: " + "word " * length) for n, length in enumerate(words)]
    return [replied(500, "", *calls), *results]


def draft_of(budget: int, *words: int) -> PageDraft:
    """Before anything is bought, with a conversation that has no room."""
    rows = [*BEFORE, *turn_of(*words)]
    view = make_recall(rows).view
    turn = closed_turn(view, len(rows) - 1)
    assert turn
    return make_draft(rows, make_profile(budget=budget), rows[-1], view=view, turn=turn)


def test_results_that_have_room_stand_whole_in_the_order_of_their_calls() -> None:
    draft = draft_of(1000, 300, 5, 100)
    items = draft.items("turn")
    assert [item.entry.request for item in items if item.entry] == ["r0", "r1", "r2"]
    assert not any(item.is_cut for item in items)
    assert draft.ledger.reasons["tool_results"] == RUNNING


def test_of_results_without_room_the_short_ones_are_whole_and_the_long_ones_have_even_parts() -> None:
    first, short, second = draft_of(1000, 3000, 5, 2000).items("turn")
    assert not short.is_cut
    assert first.is_cut
    assert second.is_cut
    assert first.size == pytest.approx(second.size, rel=0.1)
    assert 400 < first.size + short.size + second.size < 650, "about its share of the page"


def test_what_has_no_room_for_a_useful_part_is_a_line_below_its_call() -> None:
    items = draft_of(1000, *[300] * 12).items("turn")
    assert [item.entry.request for item in items if item.entry] == [f"r{number}" for number in range(12)]
    assert all(item.size <= MAX_LINE_TOKENS for item in items)
    assert all(f"id m{600 + number}" in item.text for number, item in enumerate(items))


def test_what_nothing_else_uses_goes_to_the_results_that_were_cut() -> None:
    draft = draft_of(1000, 3000, 5, 2000)
    before = draft.ledger.remaining
    complete_results(draft, 0)
    assert 0 <= draft.ledger.remaining < 20 < before
    whole = draft_of(1000, 30, 5, 20)
    items = whole.items("turn")
    complete_results(whole, 0)
    assert whole.items("turn") == items


@pytest.mark.parametrize("budget", range(300, 700, 20))
def test_what_nothing_else_uses_takes_no_result_off(budget: int) -> None:
    draft = draft_of(budget, 90, 500)
    before = {item.entry for item in draft.items("turn")}
    complete_results(draft, 0)
    assert before <= {item.entry for item in draft.items("turn")}


def test_where_not_even_a_line_of_each_has_room_the_page_holds_its_budget_and_accounts_for_the_others() -> None:
    rows = [*BEFORE, *turn_of(*[300] * 60)]
    context = make_context(rows[-1], rows[:-1], make_profile(budget=500))
    there = section(context, "Tool results").count("- Call bash")
    assert 0 < there < 60
    assert context.tokens <= 500
    assert context.markdown.endswith("- User: How hot is it?\n")
    assert len(set(ids_on_page(context))) + sum(context.left_out.values()) == len(rows)


def test_a_page_that_answers_no_tool_has_none() -> None:
    draft = make_draft(chat(300), make_profile(budget=500))
    put_results(draft)
    assert draft.items("turn") == []


@pytest.mark.parametrize("words", [5, 40, 400])
def test_results_that_had_no_room_at_first_have_it_with_their_heading_or_not_at_all(words: int) -> None:
    numbers = set()
    for budget in range(60, 260, 5):
        draft = draft_of(budget, words)
        numbers.add(len(draft.items("turn")))
        complete_results(draft, 0)
        assert draft.ledger.remaining >= 0
    assert numbers == {0, 1}


@pytest.mark.parametrize("budget", [20, 40, 60])
def test_a_page_without_room_for_any_result_is_made_without_them(budget: int) -> None:
    draft = draft_of(budget, 300, 300, 300)
    complete_results(draft, 3 * budget)
    assert not draft.items("turn")


def test_a_token_too_many_shortens_a_result_and_takes_none_off() -> None:
    draft = draft_of(1000, 300, 5)
    before = draft.items("turn")
    assert shorten_results(draft, 1)
    items = draft.items("turn")
    assert [item.entry for item in items] == [item.entry for item in before]
    assert 0 < sum(item.size for item in before) - sum(item.size for item in items) < 40
    assert not shorten_results(draft, 1000), "nothing is left to take off"


@pytest.mark.parametrize("budget", [220, 300, 400])
def test_where_not_even_a_line_of_each_has_room_the_newest_result_is_there_and_the_shortest_ones(budget: int) -> None:
    requests = [item.entry.request for item in draft_of(budget, 9, *[300] * 10, 300).items("turn") if item.entry]
    assert 1 < len(requests) < 12
    assert requests[0] == "r0", "which is shorter"
    assert requests[-1] == "r11"
