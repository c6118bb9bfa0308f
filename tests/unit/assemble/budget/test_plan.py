"""The plan of a page: within the room, the dearest first, no hole in the newest part, nothing that is not worth its price."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.assemble.budget.plan import MAX_PART, MIN_PART, SUMMARY_PRICE, plan
from builder.assemble.budget.purchases import HOLE_TOKENS, Entries, Offers, Plan, Room
from tests.examples import examples
from tests.offers import MESSAGE, Offer, make_entries, make_offers, make_room

NONE = make_offers()
rooms = st.integers(0, 3000).map(float)
limited_rooms = st.builds(make_room, rooms, rooms, rooms)
prices = st.sampled_from([0.0, 1e-5, 1e-4, 1e-3, 1e-2])
sizes = st.integers(1, 900).map(float)


@st.composite
def choices(draw: st.DrawFn) -> tuple[Entries, Offers]:
    """Messages and calls, of which the first are next to the question; finds of any of them, some brought by others."""
    whole = draw(st.lists(sizes, min_size=1, max_size=12))
    number = len(whole)
    lines = draw(st.lists(st.sampled_from([MESSAGE, 6.0]), min_size=number, max_size=number))
    newest = draw(st.integers(0, number))
    results = [entry for entry in range(newest) if lines[entry] != MESSAGE]
    finds: list[Offer] = []
    for entry in draw(st.lists(st.integers(0, number - 1), max_size=12)):
        leaders = [-1, *(find for find, other in enumerate(finds) if other.leader < 0)]
        is_part = lines[entry] != MESSAGE or draw(st.booleans())
        find = Offer(
            entry=entry,
            tokens=draw(st.floats(1, whole[entry])) if is_part else whole[entry],
            worth=draw(st.floats(0, 1)),
            lead=draw(st.sampled_from([0.0, 4.0])),
            is_part=is_part,
            leader=draw(st.sampled_from(leaders)),
            alike=draw(st.integers(0, 3)),
        )
        finds.append(find)
    entries = make_entries(whole, newest, lines=lines, result=draw(st.sampled_from([-1, *results])))
    return entries, make_offers(*finds)


def tokens_of(bought: Plan, entries: Entries, offers: Offers) -> float:
    """At least what it costs: each entry once, of passages their own tokens, a short form with passages the larger of both."""
    total = float(sum(entries.whole[entry] for entry in bought.whole))
    for entry in {*bought.short, *bought.parts} - bought.whole:
        passages = float(sum(offers.tokens[find] for find in bought.parts.get(entry, ())))
        short = min(float(bought.caps.get(entry, np.inf)), float(entries.whole[entry]), float(entries.line[entry]))
        total += max(passages, short * (entry in bought.short))
    return total


@examples(300)
@given(choices(), limited_rooms, prices, st.booleans(), st.integers(0, 400))
def test_a_plan_spends_no_more_than_the_room_of_each_and_pays_for_all_that_it_names(
    choice: tuple[Entries, Offers], room: Room, least: float, follows: bool, summary: int
) -> None:
    bought = plan(*choice, room, least, follows=follows, summary=summary)
    assert 0 <= bought.spent <= room.page
    assert 0 <= bought.for_newest <= room.newest
    assert 0 <= bought.for_finds <= room.finds
    assert 0 <= bought.summary <= summary
    calls = np.isfinite(choice[0].line)
    is_smaller = any(calls[entry] for entry in (*bought.whole, *bought.parts))  # a passage of a call may be more than all of it
    assert is_smaller or tokens_of(bought, *choice) <= bought.for_newest + bought.for_finds + 1e-6


@examples(300)
@given(choices(), limited_rooms, prices, st.booleans())
def test_the_newest_part_has_no_hole_and_nothing_is_bought_in_two_forms(
    choice: tuple[Entries, Offers], room: Room, least: float, follows: bool
) -> None:
    bought = plan(*choice, room, least, follows=follows)
    assert set(range(bought.newest)) <= bought.whole | bought.short
    assert bought.short <= set(range(bought.newest))
    assert not bought.whole & bought.short
    assert bought.caps.keys() <= bought.short, "messages, and the newest result of which a part has room"
    finds = [find for each in bought.parts.values() for find in each]
    assert len(finds) == len(set(finds))
    assert all(choice[1].entry[find] == entry for entry, each in bought.parts.items() for find in each)


@examples(200)
@given(choices(), rooms, st.booleans())
def test_nothing_is_bought_below_the_least_price_but_the_newest_result(
    choice: tuple[Entries, Offers], room: float, follows: bool
) -> None:
    entries, offers = choice
    bought = plan(entries, offers, make_room(room), float("inf"), follows=follows)
    assert bought.newest in {0, entries.result + 1}
    assert not bought.parts
    assert not bought.lacks_room


@examples(200)
@given(choices(), prices, st.booleans())
def test_where_everything_has_room_a_lower_least_price_buys_at_least_as_much(
    choice: tuple[Entries, Offers], least: float, follows: bool
) -> None:
    dear, cheap = (plan(*choice, make_room(1e6), price, follows=follows) for price in (least, least / 2))
    assert dear.newest <= cheap.newest
    assert dear.whole <= cheap.whole
    assert not dear.lacks_room
    assert not cheap.lacks_room


@examples(200)
@given(st.lists(st.integers(1, MIN_PART).map(float), max_size=40), rooms)
def test_of_short_messages_the_most_that_has_room_is_bought_and_more_room_never_buys_less(
    whole: list[float], room: float
) -> None:
    bought = plan(make_entries(whole), NONE, make_room(room), 0.0, follows=False)
    assert bought.newest == int(np.searchsorted(np.cumsum(whole), room, side="right"))
    assert bought.spent == sum(whole[: bought.newest])
    assert plan(make_entries(whole), NONE, make_room(room + 50), 0.0, follows=False).newest >= bought.newest


finds_alone = st.lists(st.tuples(sizes, st.floats(0.01, 1)), min_size=1, max_size=12)


@examples(300)
@given(finds_alone, rooms, prices)
def test_a_dearer_find_yields_to_a_cheaper_one_only_where_it_is_larger(
    finds: list[tuple[float, float]], room: float, least: float
) -> None:
    offers = [Offer(entry=number, tokens=tokens, worth=worth) for number, (tokens, worth) in enumerate(finds)]
    bought = plan(make_entries([tokens for tokens, _ in finds], 0), make_offers(*offers), make_room(room), least, follows=False)
    price = [worth / (tokens + HOLE_TOKENS) for tokens, worth in finds]
    others = [number for number in range(len(finds)) if number not in bought.whole and price[number] >= least]
    assert all(finds[number][0] + HOLE_TOKENS > room - bought.spent for number in others), "what fits and is worth it is bought"
    for number in others:
        cheaper = (each for each in bought.whole if price[each] < price[number])
        assert all(finds[each][0] < finds[number][0] for each in cheaper)
    assert bought.lacks_room == bool(others)


def test_a_find_brings_its_answer_which_would_not_be_bought_for_itself() -> None:
    entries = make_entries([20, 20], 0)
    alone = make_offers(Offer(entry=0, tokens=20), Offer(entry=1, tokens=20, worth=0.0))
    pair = make_offers(Offer(entry=0, tokens=20), Offer(entry=1, tokens=20, worth=0.0, leader=0))
    assert plan(entries, alone, make_room(1000), 1e-3, follows=False).whole == {0}
    assert plan(entries, pair, make_room(1000), 1e-3, follows=False).whole == {0, 1}


def test_of_finds_of_one_form_those_that_are_doubtful_are_not_bought_and_a_likely_one_is() -> None:
    entries = make_entries([20, 20, 20], 0)
    offers = make_offers(*(Offer(entry=n, tokens=20, worth=worth, alike=2) for n, worth in enumerate((0.3, 0.01, 0.01))))
    assert plan(entries, offers, make_room(1000), 1e-4, follows=False).whole == {0}
    alone = make_offers(*(Offer(entry=n, tokens=20, worth=worth) for n, worth in enumerate((0.3, 0.01, 0.01))))
    assert plan(entries, alone, make_room(1000), 1e-4, follows=False).whole == {0, 1, 2}


@pytest.mark.parametrize(("room", "part"), [(100, MIN_PART), (1000, 100), (90_000, MAX_PART)])
def test_a_long_message_has_a_short_form_by_the_room(room: float, part: int) -> None:
    bought = plan(make_entries([5000.0]), NONE, make_room(room), 1e-4, follows=False)
    assert (bought.caps, bought.short, bought.spent) == ({0: part}, {0}, part)
    assert plan(make_entries([part * 1.3]), NONE, make_room(2 * room), 0.0, follows=False).whole == {0}, "it would save little"


def test_who_asks_about_the_last_message_has_all_of_it() -> None:
    entries = make_entries([600.0, 20, 20], is_certain=[True, False, False])
    first, follow_up = (plan(entries, NONE, make_room(2000), 1e-3, follows=follows) for follows in (False, True))
    assert (0 in first.short, 0 in follow_up.whole) == (True, True)


def test_a_follow_up_has_more_of_what_was_said_last_and_less_of_what_was_found() -> None:
    offers = make_offers(Offer(entry=60, tokens=20, worth=0.02))
    entries = make_entries([20.0] * 61, 60)
    first, follow_up = (plan(entries, offers, make_room(2000), 5e-4, follows=follows) for follows in (False, True))
    assert first.newest < follow_up.newest
    assert (60 in first.whole, 60 in follow_up.whole) == (True, False)


def test_calls_are_lines_before_their_results_come_and_the_newest_result_is_there_first() -> None:
    lines = [MESSAGE, 6, 6, 6]
    few = plan(make_entries([20.0, 300, 300, 300], lines=lines), NONE, make_room(60), 0.0, follows=False)
    assert (few.newest, few.whole, few.short) == (4, {0}, {1, 2, 3})
    newest = plan(make_entries([20.0, 300, 300, 300], lines=lines, result=1), NONE, make_room(700), 0.0, follows=False)
    assert (newest.newest, newest.whole, newest.short) == (4, {0, 1, 2}, {3})


def test_nothing_is_chosen_from_nothing() -> None:
    assert plan(make_entries([]), NONE, make_room(1000), 0.0, follows=False) == Plan()


def test_the_newest_call_is_cut_where_its_result_has_no_room_whole_and_an_older_one_stays_a_line() -> None:
    entries = make_entries([300.0, 300], lines=[6, 6], result=0)
    bought = plan(entries, NONE, make_room(200), 0.0, follows=False)
    assert (bought.newest, bought.short, bought.caps, bought.whole) == (2, {0, 1}, {0: 64}, set())
    assert bought.for_newest == 6 + 6 + 64


def test_a_summary_has_a_price_and_what_is_dearer_comes_first() -> None:
    offers = make_offers(Offer(entry=0, tokens=20, worth=0.5))
    entries = make_entries([20], 0)
    dear, cheap = (plan(entries, offers, make_room(50), SUMMARY_PRICE * by, follows=False, summary=100) for by in (1.1, 0.9))
    assert (dear.whole, dear.summary, dear.lacks_room) == ({0}, 0, False)
    assert (cheap.whole, cheap.summary, cheap.lacks_room) == ({0}, 50 - 20 - HOLE_TOKENS, True)


def test_a_find_of_which_a_later_copy_is_there_is_not_shown_twice() -> None:
    entries = make_entries([10.0, 900.0, 10.0], newest=2, is_certain=[True, False, False])
    offers = replace(make_offers(Offer(entry=2, tokens=10)), copies={2: 0})
    assert plan(entries, offers, make_room(100), 0.0, follows=False).whole == {0}
    assert plan(entries, replace(offers, copies={}), make_room(100), 0.0, follows=False).whole == {0, 2}
    of_finds = replace(make_offers(Offer(entry=1, tokens=10), Offer(entry=2, tokens=10)), copies={1: 2})
    assert plan(make_entries([10.0, 10.0, 10.0], newest=1), of_finds, make_room(100), 0.0, follows=False).whole == {0, 2}
