"""A buyer pays for nothing twice, buys the newest part in order, and brings along what belongs to a find."""

import numpy as np
import pytest

from builder.assemble.budget.purchases import HOLE_TOKENS, Buyer, Entries, Offers
from tests.offers import Offer, make_entries, make_offers, make_room

NONE = make_offers()


def buyer(entries: Entries, offers: Offers = NONE, room: float = 100, part: int = 64) -> Buyer:
    """The short form of a long message has `part` tokens."""
    short = np.minimum(np.minimum(entries.whole, part), entries.line)
    return Buyer(entries, offers, short, make_room(room, part=part))


def test_the_newest_part_is_bought_in_order_and_ends_where_one_has_no_room() -> None:
    buys = buyer(make_entries([30, 30, 60, 5]))
    buys.steps(0, 4)
    assert (buys.plan.newest, buys.plan.whole, buys.plan.spent, buys.plan.lacks_room) == (2, {0, 1}, 60, True)
    buys.steps(2, 2)
    assert buys.plan.newest == 2, "what is behind it would leave a hole"


def test_a_long_message_is_short_until_its_rest_is_bought() -> None:
    buys = buyer(make_entries([90]))
    buys.steps(0, 1)
    assert (buys.plan.short, buys.plan.whole, buys.plan.spent) == ({0}, set(), 64)
    buys.rest(0)
    buys.rest(0)
    assert (buys.plan.short, buys.plan.whole, buys.plan.spent) == (set(), {0}, 90)


def test_a_rest_is_bought_only_of_what_is_on_the_page() -> None:
    buys = buyer(make_entries([90]))
    buys.rest(0)
    assert (buys.plan.spent, buys.plan.whole) == (0, set())


def test_a_find_that_the_newest_part_reaches_is_not_paid_again() -> None:
    buys = buyer(make_entries([20, 20]), make_offers(Offer(entry=1, tokens=20)))
    buys.find(0)
    assert buys.plan.spent == 20 + HOLE_TOKENS
    buys.steps(0, 2)
    assert (buys.plan.newest, buys.plan.whole, buys.plan.spent) == (2, {0, 1}, 40 + HOLE_TOKENS)


def test_a_find_in_the_newest_part_costs_what_is_missing_of_it() -> None:
    offers = make_offers(Offer(entry=0, tokens=20), Offer(entry=1, tokens=15, lead=5, is_part=True))
    buys = buyer(make_entries([20, 80]), offers, 200)
    buys.steps(0, 2)
    buys.find(0)
    assert buys.plan.spent == 20 + 64
    buys.find(1)
    assert (buys.plan.parts, buys.plan.spent) == ({1: [1]}, 20 + 64 + 15)


def test_two_passages_of_one_message_have_one_label_and_one_hole() -> None:
    passages = (Offer(entry=1, tokens=15, lead=5, is_part=True), Offer(entry=1, tokens=10, lead=5, is_part=True))
    buys = buyer(make_entries([20, 80], 1), make_offers(*passages))
    buys.find(1)
    buys.find(0)
    buys.find(1)
    assert (buys.plan.parts, buys.plan.spent) == ({1: [1, 0]}, HOLE_TOKENS + 5 + 15 + 10)


def test_a_passage_of_what_is_whole_costs_nothing_and_is_not_named() -> None:
    offers = make_offers(Offer(entry=0, tokens=40), Offer(entry=0, tokens=15, lead=5, is_part=True))
    buys = buyer(make_entries([40], 0), offers)
    buys.find(0)
    spent = buys.plan.spent
    buys.find(1)
    assert (buys.plan.parts, buys.plan.whole, buys.plan.spent) == ({}, {0}, spent)


@pytest.mark.parametrize(
    ("room", "numbers", "lacks_room"), [(30 + 2 * HOLE_TOKENS, {0, 1}, False), (29 + 2 * HOLE_TOKENS, {0}, True)]
)
def test_a_find_brings_what_belongs_to_it_and_stands_alone_where_all_of_it_has_no_room(
    room: float, numbers: set[int], lacks_room: bool
) -> None:
    offers = make_offers(Offer(entry=0, tokens=10), Offer(entry=1, tokens=20, leader=0))
    buys = buyer(make_entries([10, 20], 0), offers, room)
    buys.find(0)
    assert (buys.plan.whole, buys.plan.lacks_room) == (numbers, lacks_room)


def test_what_has_no_room_leaves_everything_as_it_was() -> None:
    buys = buyer(make_entries([50], 0), make_offers(Offer(entry=0, tokens=50)), 50)
    buys.find(0)
    assert (buys.plan.whole, buys.plan.parts, buys.plan.spent, buys.plan.lacks_room) == (set(), {}, 0, True)


@pytest.mark.parametrize(("most", "newest"), [(59, 0), (60, 2)])
def test_the_newest_result_is_bought_whole_with_what_is_behind_it_where_all_of_that_is_small_enough(
    most: float, newest: int
) -> None:
    buys = buyer(make_entries([10, 50, 10], lines=[np.inf, 6, np.inf], result=1))
    buys.newest_result(most)
    assert (buys.plan.newest, buys.plan.whole) == (newest, {0, 1} if newest else set())


def test_without_a_result_nothing_is_bought_first() -> None:
    buys = buyer(make_entries([10, 50]))
    buys.newest_result(100)
    assert (buys.plan.newest, buys.plan.spent) == (0, 0)


def test_the_newest_part_and_finds_have_each_their_most_and_a_summary_what_both_leave() -> None:
    entries, finds = make_entries([30, 30, 30, 30], 2), make_offers(Offer(entry=2, tokens=30), Offer(entry=3, tokens=30))
    buys = Buyer(entries, finds, entries.whole, make_room(100, newest=40, finds=50))
    buys.steps(0, 2)
    buys.find(0)
    buys.find(1)
    buys.summary(80)
    assert (buys.plan.whole, buys.plan.for_newest, buys.plan.for_finds) == ({0, 2}, 30, 30 + HOLE_TOKENS)
    assert (buys.plan.summary, buys.plan.spent) == (100 - 60 - HOLE_TOKENS, 100)
    assert buys.is_full


@pytest.mark.parametrize(("is_certain", "cut"), [(True, {0}), (False, set())])
def test_of_a_new_call_without_room_for_its_result_a_part_is_bought(is_certain: bool, cut: set[int]) -> None:
    buys = buyer(make_entries([300], lines=[6], is_certain=[is_certain]))
    buys.steps(0, 1)
    buys.rest(0)
    assert ({*buys.plan.caps}, buys.plan.spent) == (cut, 6 + 64 * len(cut))


def test_a_picture_is_bought_behind_its_words_and_only_in_the_newest_part() -> None:
    entries = make_entries([70, 70, 70], pictures=[60, 60, 60])
    buys = Buyer(entries, make_offers(Offer(entry=2, tokens=10)), np.array([10.0, 10.0, 10.0]), make_room(100))
    buys.steps(0, 2)
    buys.find(0)
    assert (buys.plan.pictured, buys.plan.spent) == (set(), 30 + HOLE_TOKENS)
    buys.rest(0)
    buys.rest(1)
    assert (buys.plan.pictured, buys.plan.whole, buys.plan.lacks_room) == ({0}, {0, 1, 2}, True)
