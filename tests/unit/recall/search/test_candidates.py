"""The breadcrumbs and passages that a query may find, and what a find shows."""

from dataclasses import replace

import numpy as np

from builder.domain.stored import StoredBreadcrumb
from builder.recall.search.candidates import eligible_breadcrumbs, eligible_passages, find_of
from builder.recall.search.query import Query
from tests.factories import (
    bare,
    make_history,
    make_profile,
    make_query,
    make_remembered,
    make_tombstone,
    make_turn,
    make_view,
    view_of,
)
from tests.searches import find


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
