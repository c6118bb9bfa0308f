"""Which units a chain of summaries stands for, and which wait to be summarised."""

from dataclasses import replace
from itertools import islice

from builder.domain.selector import Selector
from builder.domain.stored import StoredBreadcrumb
from builder.extras.summaries.chain import (
    chain_of,
    covered_sources,
    is_from_person,
    sources_of,
    summary_ids,
    tokens,
    utterance,
    waiting_units,
)
from builder.recall.summaries.recipes import recipe_of
from tests.conversations import answered, bash, chat, deleted, replied, said, sent
from tests.factories import make_view
from tests.summarised import COUNT, PROFILE, RECIPE, stored_summary


def waiting(rows: list[StoredBreadcrumb], last: int = -1) -> list[list[str]]:
    view = make_view(rows)
    return [[view.breadcrumb(row).id for row in members] for _, members in waiting_units(view, RECIPE, last)]


def test_the_chain_knows_what_it_stands_for_and_where_it_ends() -> None:
    assert chain_of(make_view(chat(2)), RECIPE).last == -1
    view = make_view([*chat(4), stored_summary(5, ("m1", "m2")), stored_summary(6, ("m3",), "m5")])
    chain = chain_of(view, RECIPE)
    assert (chain.previous, chain.last) == ("m6", 2)
    assert covered_sources(view, RECIPE) == (("m1", 1), ("m2", 1), ("m3", 1))
    assert [line.ids for line in chain.free] == [("m3",)]


def test_a_summary_whose_last_unit_is_unknown_covers_no_row() -> None:
    assert chain_of(make_view([*chat(2), stored_summary(3, ("lost",))]), RECIPE).last == -1


def test_units_behind_the_last_one_covered_wait_with_all_that_shares_their_calls() -> None:
    rows = [said(1, "Go."), replied(2, "I look.", bash("a", "ls")), said(3, "Hm."), answered(4, "a", 1)]
    assert waiting(rows) == [["m1"], ["m2", "m4"], ["m3"]]
    assert waiting(rows, 0) == [["m2", "m4"], ["m3"]]


def test_what_joined_a_covered_unit_since_waits_in_front_without_what_was_covered() -> None:
    rows = [
        replied(1, "I look.", bash("a", "ls")),
        said(2, "Hm."),
        stored_summary(3, ("m1",)),
        answered(4, "a", 1),
        said(5, "So?"),
    ]
    assert waiting(rows, 0) == [["m4"], ["m2"], ["m5"]]


def test_what_was_deleted_or_is_no_conversation_does_not_wait() -> None:
    rows = [said(1, "One."), sent(2, "note.v1", {"content": "A note."}), said(3, "Three."), deleted(4, "m1")]
    assert waiting(rows) == [["m3"]]


def test_a_recipe_with_an_audience_waits_for_its_conversation_only() -> None:
    recipe = recipe_of(replace(PROFILE, audience=Selector(any_tags=("to:mira",))))
    assert recipe
    view = make_view([said(1, "One.", tags=["to:mira"]), said(2, "Two.")])
    assert [head for head, _ in waiting_units(view, recipe, -1)] == [0]


def test_the_id_of_a_summary_is_the_same_whoever_makes_it_and_of_what_it_covers() -> None:
    def ids(*sources: tuple[str, int], previous: str = "") -> list[str]:
        return list(islice(summary_ids("acme", "s42", RECIPE, previous, sources), 2))

    assert ids(("m1", 1)) == ids(("m1", 1))
    assert len({*ids(("m1", 1)), *ids(("m1", 2)), *ids(("m1", 1), previous="s")}) == 6


def test_a_summariser_reads_the_sources_of_the_units_as_utterances() -> None:
    view = make_view(chat(3))
    assert sources_of(view, ((0, (0,)), (1, (1, 2)))) == (("m1", 1), ("m2", 1), ("m3", 1))
    crumb = view.breadcrumb(1)
    read = utterance(view, 1)
    assert (read.id, read.text, read.role, read.day) == (crumb.id, crumb.text, "assistant", "8 May 2024")
    assert tokens(view, (0, 1)) == COUNT(view.breadcrumb(0).text) + COUNT(crumb.text)


def test_only_words_of_a_person_are_from_a_person() -> None:
    view = make_view([said(1, "Go."), said(2, "  "), replied(3, "I go.")])
    assert [is_from_person(view, row) for row in range(3)] == [True, False, False]
