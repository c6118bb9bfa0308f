"""What a query may find before any ranking, what is written as the query writes it, and what a find shows."""
# ruff: noqa: RUF001 - words of many scripts

from dataclasses import replace

import numpy as np
import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.recall.search.candidates import eligible_breadcrumbs, eligible_passages, find_of
from builder.recall.search.points import FURTHER, FURTHER_BROADLY, MAX_FURTHER, POINTS, exact, further
from builder.recall.search.query import Query, identifier_terms
from tests.conversations import answered, bash, failed, replied
from tests.factories import (
    bare,
    make_history,
    make_profile,
    make_query,
    make_remembered,
    make_terms,
    make_tombstone,
    make_turn,
    make_view,
    view_of,
)
from tests.searches import BLAND, find


def test_a_short_message_is_found_whole_and_of_a_long_one_the_passage() -> None:
    long = "We saw the harbour and walked on along the river. " * 60
    search = find("Where is the harbour?", ["The kiln is hot.", long])
    assert search.found.candidates is not None
    view = make_view(["The kiln is hot.", long])
    short, part = (find_of(view, passage, search.found.candidates, times=2) for passage in (0, 1))
    assert (short.row, short.spans, short.times) == (0, (), 2)
    ((start, end),) = part.spans
    assert (part.row, start) == (1, 0)
    assert 0 < end < len(long)
    assert part.tokens > short.tokens


def points(question: str, *rows: StoredBreadcrumb | str) -> list[float]:
    """Of the last rows, after bland ones."""
    view = make_view([*BLAND, *rows])
    return [float(value) for value in exact(make_query(question), view)[-len(rows) :]]


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("What was ticket OPS-4471 about?", "OPS-4471 is the leak.", "OPS-447 is the roof, 4471 the fence."),
        ("Wer hat conf/app.yaml geändert?", "Priya hat conf/app.yaml umgebaut.", "Priya hat die App und yaml umgebaut."),
        ("¿Qué pasó el 2026-03-14?", "El 2026-03-14 llegó el horno.", "El 2026-03-15 no pasó nada."),
        ("Что с заказом А-17?", "Заказ А-17 готов.", "Заказ А-18 готов."),
    ],
)
def test_what_is_written_as_in_the_question_has_points_unlike_what_resembles_it(question: str, right: str, wrong: str) -> None:
    assert points(question, wrong, right) == [0, POINTS]


def test_an_identifier_that_is_everywhere_tells_nothing_apart() -> None:
    rows = [f"Batch 12 has plate number {n} of the whole kiln." for n in range(100, 140)]
    assert not any(points("What is in batch 12?", *rows))


def test_a_question_for_failures_has_points_for_what_failed() -> None:
    rows = [replied(90, "", bash("r1", "make"), bash("r2", "ls")), failed(91, "r1", "no rule"), answered(92, "r2", "kiln.txt")]
    view = make_view([*BLAND, *rows])
    assert float(exact(make_query("Which command failed?"), view)[-2]) == POINTS
    assert not exact(make_query("Which command was it?"), view).any()


@pytest.mark.parametrize(
    ("question", "cost"), [("Where is the kiln?", FURTHER), ("Give me a summary of the kiln.", FURTHER_BROADLY)]
)
def test_further_passages_of_a_message_come_later_all_the_more_in_a_broad_answer(question: str, cost: float) -> None:
    view = make_view(["We saw the harbour and walked on along the river. " * 60, *BLAND])
    scores = np.arange(view.passages, 0, -1, dtype=np.float32)
    lost = further(make_query(question), view, scores)
    number = view.history.passages.first(1)
    assert lost[:number].tolist() == [min(place, MAX_FURTHER) * cost for place in range(number)]
    assert not lost[number:].any()


def test_identifiers_come_with_their_terms() -> None:
    assert identifier_terms("Is v2.3 in app.py?", make_terms) == {
        name: frozenset(make_terms(name).split()) for name in ("v2.3", "app.py")
    }


def test_nothing_was_said() -> None:
    view = make_view([])
    assert not len(further(make_query("Where?"), view, np.zeros(0, np.float32)))
    assert not len(exact(make_query("OPS-4471?"), view))


def eligible(rows: list[StoredBreadcrumb], query: Query | None = None, **rules: object) -> list[str]:
    """Ids of the breadcrumbs that may be found."""
    view = make_view(rows)
    eligible_rows = eligible_breadcrumbs(query or make_query("kiln"), view, make_profile(retrieval=rules).retrieval)
    return [view.breadcrumb(int(row)).id for row in np.flatnonzero(eligible_rows)]


def passages(rows: list[StoredBreadcrumb], query: Query | None = None, **rules: object) -> list[int]:
    """Rows of the passages that may be found."""
    view, question = make_view(rows), query or make_query("kiln")
    settings = make_profile(retrieval=rules).retrieval
    eligible_rows = eligible_passages(question, view, settings, eligible_breadcrumbs(question, view, settings))
    return [int(row) for row in view.crumb[eligible_rows]]


def test_only_current_breadcrumbs_of_the_profiles_schemas_are_eligible() -> None:
    rows = [
        make_remembered("The kiln.", 1),
        make_remembered("A kiln.", 2, schema="event.v1"),
        make_remembered("Kilns.", 3),
        make_tombstone("m3", 4),
    ]
    assert eligible(rows) == ["m1"]
    assert eligible(rows, schemas=("event.v1", "unheard.v1")) == ["m2"]


def test_of_people_only_those_that_the_query_names_where_the_profile_asks_for_it() -> None:
    rows = [
        make_remembered("The kiln.", 1, speaker="Ana"),
        make_remembered("The kiln.", 2, speaker="Bob"),
        make_turn("The kiln.", 4),
    ]
    query = make_query("What did Ana say of the kiln?", ("Ana", "Bob"))
    assert eligible(rows, query) == ["m1", "m2", "m4"]
    assert eligible(rows, query, people="named") == ["m1", "m4"]
    assert eligible(rows, people="named") == ["m4"]


def test_of_no_session_only_notes_unless_all_sessions_are_searched() -> None:
    rows = [
        make_remembered("The kiln.", 1),
        make_remembered("The kiln.", 2, session="_"),
        make_remembered("The kiln.", 3, session="_", schema="note.v1"),
    ]
    schemas = ("user.message.v1", "note.v1")
    assert eligible(rows, schemas=schemas) == ["m1", "m3"]
    assert eligible(rows, schemas=schemas, scope="workspace") == ["m1", "m2", "m3"]


def test_seen_from_no_session_what_is_of_none_is_eligible() -> None:
    view = view_of(make_history([make_remembered("The kiln.", 1, session="_")]), session="_")
    assert eligible_breadcrumbs(make_query("kiln"), view, make_profile().retrieval).tolist() == [True]


def test_small_talk_and_passages_without_words_are_not_eligible() -> None:
    assert passages([make_remembered(text, n) for n, text in enumerate(("okay", "?!", "The kiln is hot."), 1)]) == [2]


def test_a_passage_is_eligible_only_with_its_breadcrumb() -> None:
    rows = [make_remembered("The kiln.", 1, schema="event.v1"), make_remembered("The kiln.", 2)]
    assert passages(rows) == [1]


def test_what_is_less_similar_than_the_profile_asks_is_not_eligible_unless_it_has_no_vector_yet() -> None:
    rows = [
        make_remembered("The kiln is hot.", 1),
        make_remembered("Rain again in Gouda.", 2),
        bare(make_remembered("A pale moon.", 3)),
    ]
    assert passages(rows, similarity_threshold=0.5) == [0, 2]
    assert passages(rows, similarity_threshold=0) == [0, 1, 2]


def test_without_the_engine_nothing_is_too_dissimilar() -> None:
    rows = [make_remembered("Rain again in Gouda.", 1)]
    assert passages(rows, replace(make_query("kiln"), vector=b""), similarity_threshold=0.9) == [0]


def test_an_empty_session_has_nothing_to_find() -> None:
    view = make_view([])
    query, rules = make_query("kiln"), make_profile().retrieval
    assert not eligible_passages(query, view, rules, eligible_breadcrumbs(query, view, rules)).any()
