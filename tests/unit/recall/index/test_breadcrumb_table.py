"""Which version of a breadcrumb counts from when on, where episodes end, and the arrays and postings that grow beneath."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from builder.domain.selector import Selector
from builder.recall.index.breadcrumb_table import GrowingArray, Postings
from builder.recall.index.view import View
from tests.factories import (
    MORNING,
    extend,
    make_answer,
    make_history,
    make_place,
    make_remembered,
    make_tombstone,
    make_turn,
    make_view,
    view_of,
)

KILN, RAIN = "We fired the kiln in Delft.", "It rained all afternoon."


def current(view: View) -> list[str]:
    return [view.breadcrumb(int(row)).id for row in np.flatnonzero(view.current)]


def test_a_tombstone_removes_from_its_place_on_and_is_nothing_itself() -> None:
    history = make_history([make_remembered("One.", 1), make_tombstone("m1", 2), make_remembered("Two.", 3)])
    assert [current(view_of(history, make_place(n))) for n in (2, 3, 4)] == [["m1"], [], ["m3"]]


@pytest.mark.parametrize(
    "later", [make_tombstone("m1", 9), make_remembered("Again.", 9, id="m1", version=2)], ids=["tombstone", "version"]
)
def test_what_is_gone_stays_gone_for_who_looks_from_before_a_later_change(later: object) -> None:
    rows = [make_remembered("One.", 1), make_tombstone("m1", 2), make_remembered("Two.", 3)]
    assert current(view_of(make_history([*rows, later]), make_place(5))) == ["m3"]  # type: ignore[list-item]


def test_an_episode_ends_with_a_gap_of_more_than_six_hours() -> None:
    hours = (0, 5, 11, 17.1, 40)
    view = make_view(make_remembered("Hi.", n, created_at=MORNING + timedelta(hours=hour)) for n, hour in enumerate(hours, 1))
    assert [view.day(row) for row in range(5)] == [*["8 May 2024"] * 3, "9 May 2024", "10 May 2024"]
    assert view.history.breadcrumbs.episode[:5].tolist() == [0, 0, 0, 1, 2]


def test_a_clock_that_runs_ahead_cuts_no_episode() -> None:
    ahead = make_remembered(
        "From the future.", 2, created_at=MORNING + timedelta(days=90), received_at=MORNING + timedelta(minutes=2)
    )
    assert make_view([make_remembered("One.", 1), ahead, make_remembered("Two.", 3)]).history.breadcrumbs.episode_dates == [
        "8 May 2024"
    ]


def test_an_older_version_that_comes_late_is_never_current_and_its_id_means_the_newest() -> None:
    versions = [make_remembered(f"Version {v}.", n, id="m", version=v) for n, v in enumerate((1, 3, 2), 1)]
    for size, current in ((1, [True]), (2, [False, True]), (3, [False, True, False])):
        view = make_view(versions[:size])
        assert view.current.tolist() == current
        assert view.row_of("m") == current.index(True)
    assert make_view([*versions, make_remembered("Version 4.", 4, id="m", version=4)]).row_of("m") == 3


def test_a_gap_in_one_session_ends_no_episode_of_another() -> None:
    late = MORNING + timedelta(hours=9)
    moments = [("s1", MORNING), ("s2", MORNING), ("s2", late), ("s1", MORNING + timedelta(hours=5)), ("s1", late)]
    rows = [make_remembered("Hello.", n, session=session, created_at=moment) for n, (session, moment) in enumerate(moments, 1)]
    assert view_of(make_history(rows)).history.breadcrumbs.episode[:5].tolist() == [0, 1, 2, 0, 0]


def test_a_tombstone_counts_in_its_own_session_or_from_none() -> None:
    messages = [make_remembered(KILN, n, session="s1", id=f"m{n}") for n in (1, 2)]
    elsewhere = make_tombstone("m1", 3, session="s2", id="t1")
    from_none = make_tombstone("m2", 4, session="_", id="t2")
    view = view_of(make_history([*messages, elsewhere, from_none]))
    assert view.current[:2].tolist() == [True, False]


def test_a_secret_is_never_current_and_takes_off_its_earlier_version() -> None:
    rows = [make_remembered("The code is 4711.", 1), make_remembered("", 2, id="m1", version=2, removes="m1")]
    assert current(view_of(make_history(rows))) == []
    assert current(view_of(make_history(rows), make_place(2))) == ["m1"]


def test_each_row_is_matched_once_with_a_selector() -> None:
    history = make_history([make_remembered("One.", 1, tags=("to:mira",)), make_remembered("Two.", 2)])
    selector = Selector(any_tags=("to:mira",))
    assert history.breadcrumbs.matching(selector, 1).tolist() == [True]
    extend(history, (make_remembered("Three.", 3, tags=("to:mira",)),))
    assert history.breadcrumbs.matching(selector, 3).tolist() == [True, False, True]
    assert history.breadcrumbs.matching(selector, 2).tolist() == [True, False]


def test_an_answer_stands_in_the_session_that_it_joined() -> None:
    table = make_history([make_remembered("One.", 1), replace(make_answer(2), joins="s42"), make_answer(3)]).breadcrumbs
    assert [list(rows) for rows in table.rows_of] == [[0, 1], [2]]
    assert list(table.sessions) == ["s42", "_"]


def test_agents_are_known_by_their_names_whatever_the_case_and_people_are_none() -> None:
    rows = [make_remembered("Hi.", 1, speaker="Ana"), *(make_turn("Hello.", n) for n in (2, 4))]
    assert make_history(rows).breadcrumbs.agents == {"assistant": 1}


def test_what_never_expires_is_known_without_a_look_at_any_row() -> None:
    history = make_history([make_remembered("One.", 1)])
    assert not history.breadcrumbs.can_expire
    extend(history, (make_remembered("Two.", 2, expires_at=MORNING),))
    assert history.breadcrumbs.can_expire
    assert history.breadcrumbs.expires[:2].tolist() == [np.inf, MORNING.timestamp()]


def test_a_head_is_no_copy_and_stays_as_long_as_it_was() -> None:
    links = GrowingArray(np.int64)
    links.append(-1)
    head = links[:1]
    links.append(7)
    links[0] = 1
    assert head.tolist() == [1]


def make_postings() -> Postings:
    postings = Postings()
    for row, terms in enumerate(("kiln hot kiln", "glaze", "kiln glaze")):
        postings.add(row, terms.split())
    return postings


def test_the_index_grows_while_an_answer_is_in_use_and_the_answer_stays() -> None:
    postings = make_postings()
    rows, counts = postings.of("kiln", 3)
    for row in range(3, 50):
        postings.add(row, ["kiln"])
    assert (rows.tolist(), counts.tolist()) == ([0, 2], [2.0, 1.0])
    assert len(postings.of("kiln", 50)[0]) == 49
