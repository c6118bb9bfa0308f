"""A history grows by new rows only, its vectors may come later, and its summaries continue each other in one chain."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from builder.domain.breadcrumb import ORIGIN
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.history import Chains
from builder.recall.index.view import View
from tests.conversations import deleted, sent
from tests.factories import bare, extend, make_history, make_place, make_remembered, make_vector, make_view, view_of


def test_a_passage_of_function_words_alone_lacks_its_vector_until_it_is_filled_and_a_blank_one_never_does() -> None:
    history = make_history([bare(make_remembered("What was it for her?")), bare(make_remembered("", 2))])
    assert history.lacking == [0]
    assert history.fill({0: (make_vector("kiln"),)})
    assert history.lacking == []


def test_its_rows_keep_no_terms_and_no_vectors_because_the_tables_have_them() -> None:
    history = make_history(["The kiln is hot."])
    assert [(passage.terms, passage.vector) for row in history.rows for passage in row.passages] == [("", b"")]
    assert len(history.passages.postings.of("kiln", 1)[0]) == 1


def test_its_place_is_that_of_the_last_row_and_its_cost_counts_small_talk_as_a_passage() -> None:
    assert (make_history([]).place, make_history([]).cost) == (ORIGIN, 0)
    history = make_history(["The kiln is hot.", "okay", "okay"])
    assert (history.place, history.cost) == (make_place(3), 3)


def test_a_long_body_costs_as_much_as_ordinary_passages_of_so_many_characters() -> None:
    history = make_history([])
    extend(history, (make_remembered("Look.", 1, body='{"log": "' + "x" * 5_000 + '"}'),))
    assert (len(history.passages), history.cost) == (1, 5)


def test_it_is_whole_only_when_its_growing_came_to_the_end() -> None:
    history = make_history([])
    growing = history.extending((make_remembered("One.", 1), make_remembered("Two.", 2)))
    next(growing)
    assert not history.is_whole
    assert list(growing) == []
    assert history.is_whole


def test_rows_whose_vectors_are_not_there_yet_wait_behind_those_that_were_not_asked_for() -> None:
    history = make_history([bare(make_remembered(f"The kiln number {n} is hot.", n)) for n in range(1, 4)])
    assert not history.fill({0: ()})
    assert history.lacking == [1, 2, 0]
    assert history.fill({1: (make_vector("kiln"),), 2: ()})
    assert history.lacking == [0, 2]
    assert not history.fill({})


def test_a_secret_summary_opens_no_chain() -> None:
    body = {"lines": [], "covered": ["m1"], "last": "m1", "recipe": "r"}
    summary = sent(1, "summary.v1", body)
    secret = replace(summary, breadcrumb=replace(summary.breadcrumb, removes="m1"))
    views = [view_of(make_history([each])) for each in (summary, secret)]
    assert [rows(view, "r") for view in views] == [(0,), ()]


RECIPE = "r1"


def summary(sequence: int, previous: str = "", verbatim: str = "", **body: Any) -> StoredBreadcrumb:
    """A summary of one message; `verbatim` is a line word for word."""
    line = {"text": verbatim or f"Line {sequence}.", "ids": [f"x{sequence}"], "versions": [1], "verbatim": bool(verbatim)}
    fields = {"lines": [line], "covered": [f"x{sequence}"], "last": f"x{sequence}", "recipe": RECIPE, "previous": previous}
    return sent(sequence, "summary.v1", fields | body)


def rows(view: View, recipe: str = RECIPE) -> tuple[int, ...]:
    return view.history.chains.rows(view.session, recipe, view.prefix.latest)


def verbatim_texts(view: View, row: int, visible: NDArray[np.bool_] | None = None) -> list[str]:
    visible = view.prefix.latest if visible is None else visible
    return [line.text for line in view.history.chains.lasting(row, visible)]


def test_each_summary_continues_the_one_that_it_names() -> None:
    view = make_view([summary(1), summary(2, "m1"), summary(3, "m2")])
    assert rows(view) == (0, 1, 2)
    assert view.history.chains.summary(1).covered == ("x2",)


def test_of_two_that_continue_the_same_one_the_first_is_the_chains() -> None:
    assert rows(make_view([summary(1), summary(2, "m1"), summary(3, "m1"), summary(4, "m3"), summary(5, "m2")])) == (0, 1, 4)


def test_a_later_version_and_one_that_continues_nothing_known_are_passed_over() -> None:
    edited = summary(2, "m1")
    edited = replace(edited, breadcrumb=replace(edited.breadcrumb, version=2))
    assert rows(make_view([summary(1), edited, summary(3, "lost"), summary(4)])) == (0,)


def test_recipes_have_chains_of_their_own() -> None:
    view = make_view([summary(1), summary(2, recipe="r2")])
    assert (rows(view), rows(view, "r2"), rows(view, "r3")) == ((0,), (1,), ())


def test_with_a_deleted_summary_go_those_that_continue_it_and_the_next_one_begins_again() -> None:
    history = make_history([summary(1), summary(2, "m1"), summary(3, "m2"), deleted(4, "m2"), summary(5, "m1")])
    assert rows(view_of(history, make_place(4))) == (0, 1, 2)
    assert rows(view_of(history, make_place(5))) == (0,)
    assert rows(view_of(history)) == (0, 4)


def test_as_of_an_earlier_place_later_summaries_are_unknown() -> None:
    history = make_history([summary(1), summary(2, "m1")])
    assert [rows(view_of(history, make_place(n))) for n in (1, 2, 3)] == [(), (0,), (0, 1)]


def test_lines_word_for_word_are_those_of_all_summaries_up_to_one_each_once_the_oldest_first() -> None:
    texts = (("Use metres.", "x1"), ("Use euros.", "x3"))
    lines = [{"text": text, "ids": [source], "versions": [1], "verbatim": True} for text, source in texts]
    repeated = summary(3, "m2", lines=lines)
    view = make_view([summary(1, verbatim="Use metres."), summary(2, "m1"), repeated, summary(4, "m3")])
    assert [verbatim_texts(view, row) for row in range(4)] == [["Use metres."]] * 2 + [["Use metres.", "Use euros."]] * 2


def test_lines_word_for_word_of_a_summary_that_is_hidden_are_left_out() -> None:
    view = make_view([summary(1, verbatim="Use metres."), summary(2, "m1", "Use euros.")])
    assert verbatim_texts(view, 1, np.array([False, True])) == ["Use euros."]


def test_the_page_shows_the_newest_from_before_its_window_moved_or_one_made_on_demand() -> None:
    view = make_view([summary(1), summary(2, "m1"), summary(3, "m2")])
    on_demand = make_view([summary(1), summary(2, "m1"), summary(3, "m2", at_once=True)])
    assert [newest(view, moved_at) for moved_at in (0, 1, 2, 3)] == [2, 0, 1, 2]
    assert [newest(on_demand, moved_at) for moved_at in (0, 1, 2, 3)] == [2, 2, 2, 2]


def test_a_hidden_summary_is_not_the_newest_and_those_that_continue_it_stay() -> None:
    view = make_view([summary(1), summary(2, "m1"), summary(3, "m2")])
    assert newest(view, 9, np.array([True, False, True])) == 2
    assert newest(view, 9, np.array([True, True, False])) == 1
    assert newest(view, 9, np.zeros(3, np.bool_)) == -1


def newest(view: View, moved_at: int, visible: NDArray[np.bool_] | None = None) -> int:
    visible = view.current if visible is None else visible
    return view.history.chains.newest_visible(view.session, RECIPE, view.prefix.latest, visible, moved_at)


def test_a_history_without_summaries_has_no_chain() -> None:
    assert Chains().rows(0, RECIPE, np.ones(3, np.bool_)) == ()
