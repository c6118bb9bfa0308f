"""One session as of any place, and how many sessions are held."""

from datetime import timedelta

import numpy as np
import pytest

from builder.domain.breadcrumb import ORIGIN
from builder.domain.recall import Scope
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.index.cache import SCOPE_PASSAGES, HistoryCache
from builder.recall.index.history import History
from builder.recall.index.view import View
from tests.factories import (
    MORNING,
    bare,
    make_history,
    make_place,
    make_remembered,
    make_tombstone,
    make_vector,
    make_view,
    view_of,
)


def current(view: View) -> list[str]:
    return [view.breadcrumb(int(row)).id for row in np.flatnonzero(view.current)]


def test_a_view_ends_before_its_place() -> None:
    history = make_history(["One.", "Two.", "Three."])
    assert [view_of(history, make_place(n)).size for n in range(5)] == [0, 0, 1, 2, 3]
    assert history.place == make_place(3)
    assert make_history([]).place == ORIGIN


def test_a_new_version_replaces_the_old_one_from_its_place_on() -> None:
    rows = [make_remembered("Old.", 1, id="a"), make_remembered("Other.", 2), make_remembered("New.", 3, id="a", version=2)]
    history = make_history(rows)
    assert view_of(history, make_place(3)).current.tolist() == [True, True]
    assert view_of(history, make_place(4)).current.tolist() == [False, True, True]


def test_a_tombstone_removes_from_its_place_on_and_is_nothing_itself() -> None:
    history = make_history([make_remembered("One.", 1), make_tombstone("m1", 2), make_remembered("Two.", 3)])
    assert [current(view_of(history, make_place(n))) for n in (2, 3, 4)] == [["m1"], [], ["m3"]]


@pytest.mark.parametrize(
    "later", [make_tombstone("m1", 9), make_remembered("Again.", 9, id="m1", version=2)], ids=["tombstone", "version"]
)
def test_what_is_gone_stays_gone_for_who_looks_from_before_a_later_change(later: object) -> None:
    rows = [make_remembered("One.", 1), make_tombstone("m1", 2), make_remembered("Two.", 3)]
    assert current(view_of(make_history([*rows, later]), make_place(5))) == ["m3"]  # type: ignore[list-item]


def test_the_row_of_a_breadcrumb_is_the_newest_that_can_be_seen() -> None:
    history = make_history([make_remembered(f"Version {n}.", n, id="a", version=n) for n in (1, 2, 3)])
    assert [view_of(history, make_place(n)).row_of("a") for n in (1, 2, 3, 4)] == [-1, 0, 1, 2]
    assert view_of(history, make_place(4)).row_of("b") == -1


def test_an_episode_ends_with_a_gap_of_more_than_six_hours() -> None:
    hours = (0, 5, 11, 17.1, 40)
    view = make_view(make_remembered("Hi.", n, created_at=MORNING + timedelta(hours=hour)) for n, hour in enumerate(hours, 1))
    assert [view.day(row) for row in range(5)] == [*["8 May 2024"] * 3, "9 May 2024", "10 May 2024"]
    assert view.history.breadcrumbs.episode.head(5).tolist() == [0, 0, 0, 1, 2]


def test_a_clock_that_runs_ahead_cuts_no_episode() -> None:
    ahead = make_remembered(
        "From the future.", 2, created_at=MORNING + timedelta(days=90), received_at=MORNING + timedelta(minutes=2)
    )
    assert make_view([make_remembered("One.", 1), ahead, make_remembered("Two.", 3)]).history.breadcrumbs.episode_dates == [
        "8 May 2024"
    ]


def test_vectors_are_zero_where_none_was_made() -> None:
    view = make_view(["?!", "The kiln is hot.", "?"])
    assert view.prefix.vectors is not None
    assert view.prefix.vectors.any(axis=1).tolist() == [False, True, False]
    assert view.prefix.vectors[1].astype("<f2").tobytes() == make_vector("The kiln is hot.")
    assert make_view(["?!"]).prefix.vectors is None


def test_a_passage_with_words_and_without_a_vector_lacks_one_from_its_place_on() -> None:
    history = make_history([make_remembered("The kiln is hot.", 1), make_remembered("?!", 2), bare(make_remembered("Hot.", 3))])
    assert [view_of(history, make_place(n)).lacks_vectors for n in (1, 2, 3, 4)] == [False, False, False, True]
    assert view_of(history, make_place(4)).prefix.has_vector.tolist() == [True, False, False]


def test_repeats_are_the_same_words_of_the_same_speaker_so_far() -> None:
    rows = [make_remembered("Yes we can!", n, speaker=name) for n, name in enumerate(("Ana", "Bob", "Ana", "Ana"), 1)]
    history = make_history(rows)
    assert view_of(history, make_place(4)).repeats(0) == (0, 2)
    assert view_of(history, make_place(9)).repeats(0) == (0, 2, 3)


def test_arrays_grow_and_earlier_views_stay_as_they_were() -> None:
    history = make_history([f"Message {n}." for n in range(10)])
    view = view_of(history, make_place(6))
    before = (view.crumb.copy(), view.current.copy(), view.units)
    history.extend(tuple(make_remembered(f"Message {n}.", n) for n in range(11, 500)))
    np.testing.assert_array_equal(view.crumb, before[0])
    np.testing.assert_array_equal(view.current, before[1])
    assert view.units == before[2]


def grow(cache: HistoryCache, history: History, rows: tuple[StoredBreadcrumb, ...]) -> History:
    for _ in cache.extend(history, rows):
        pass
    return history


def scope(session: str, workspace: str = "acme") -> Scope:
    return Scope(workspace=workspace, sessions=(session,))


def test_a_session_is_kept_and_grows_by_its_new_rows() -> None:
    histories = HistoryCache(100)
    rows = tuple(make_remembered(f"Message {n}.", n) for n in range(1, 6))
    grow(histories, histories.get(scope("s1")), rows[:3])
    grown = grow(histories, histories.get(scope("s1")), rows)
    assert [row.breadcrumb.id for row in grown.rows] == ["m1", "m2", "m3", "m4", "m5"]
    assert histories.get(scope("s1", "rival")).rows == histories.get(scope("s2")).rows == []


def test_the_sessions_unused_for_longest_are_forgotten() -> None:
    histories = HistoryCache(2 * (4 + SCOPE_PASSAGES))
    for session in ("a", "b", "a", "c"):
        history = histories.get(scope(session))
        grow(histories, history, tuple(make_remembered(f"Message {n}.", n) for n in range(1, 5)))
    assert [histories.get(scope(session)).cost for session in ("a", "c", "b")] == [4, 4, 0]


def test_a_workspace_is_let_go_of_and_no_other() -> None:
    histories = HistoryCache(1000)
    for held in (scope("a"), scope("b"), scope("a", "rival")):
        grow(histories, histories.get(held), (make_remembered("The kiln is hot."),))
    assert histories.drop("acme") == 2
    assert [histories.get(held).cost for held in (scope("a"), scope("b"), scope("a", "rival"))] == [0, 0, 1]


def test_the_session_in_use_is_kept_whatever_its_size() -> None:
    histories = HistoryCache(2)
    grow(histories, histories.get(scope("big")), tuple(make_remembered(f"Message {n}.", n) for n in range(1, 50)))
    assert histories.get(scope("big")).cost == 49
    grow(histories, histories.get(scope("small")), (make_remembered(),))
    assert histories.get(scope("big")).cost == 0


def test_small_talk_takes_no_place_between_a_question_and_its_answer() -> None:
    with_talk = make_view(["Where is the key?", "hmm", "okay", "Behind the door."])
    without = make_view(["Where is the key?", "Behind the door."])
    assert with_talk.passages == without.passages == 2
    assert with_talk.crumb.tolist() == [0, 3]


def test_a_history_that_was_read_before_something_was_erased_takes_no_later_rows() -> None:
    histories = HistoryCache(100)
    history = histories.get(scope("s1"))
    assert histories.accepts(history, 3)
    grow(histories, history, (make_remembered(),))
    assert histories.accepts(history, 3)
    assert not histories.accepts(history, 4)
    fresh = histories.reset(scope("s1"))
    assert histories.accepts(fresh, 4)
    assert histories.get(scope("s1")) is fresh
    assert fresh.place == ORIGIN


def test_a_history_whose_growing_ended_in_the_middle_takes_no_later_rows() -> None:
    histories = HistoryCache(1000)
    history = histories.get(scope("s1"))
    growing = histories.extend(history, tuple(make_remembered(f"Message {n}.", n) for n in range(1, 50)))
    assert histories.accepts(history, 0)
    next(growing)
    del growing
    assert not histories.accepts(history, 0)
    fresh = histories.reset(scope("s1"))
    assert histories.accepts(fresh, 0)
    assert grow(histories, fresh, (make_remembered(),)).is_whole


def test_an_older_version_that_comes_late_is_never_current_and_its_id_means_the_newest() -> None:
    versions = [make_remembered(f"Version {v}.", n, id="m", version=v) for n, v in enumerate((1, 3, 2), 1)]
    for size, current in ((1, [True]), (2, [False, True]), (3, [False, True, False])):
        view = make_view(versions[:size])
        assert view.current.tolist() == current
        assert view.row_of("m") == current.index(True)
    assert make_view([*versions, make_remembered("Version 4.", 4, id="m", version=4)]).row_of("m") == 3


def test_a_passage_of_function_words_alone_lacks_its_vector_until_it_is_filled_and_a_blank_one_never_does() -> None:
    history = make_history([bare(make_remembered("What was it for her?")), bare(make_remembered("", 2))])
    assert history.lacking == [0]
    assert history.fill({0: (make_vector("kiln"),)})
    assert history.lacking == []
