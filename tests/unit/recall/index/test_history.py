"""A history grows by new rows only, and its vectors may come later."""

from dataclasses import replace

from builder.domain.breadcrumb import ORIGIN
from tests.conversations import sent
from tests.factories import (
    bare,
    extend,
    make_history,
    make_place,
    make_remembered,
    make_vector,
    view_of,
)


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
    heads = [
        view_of(history).history.chains.head(0, "r", view_of(history).prefix.latest)
        for history in map(make_history, ([summary], [secret]))
    ]
    assert heads == [0, -1]
