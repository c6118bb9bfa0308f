"""One session as of any place, and how many sessions are held."""

from builder.domain.breadcrumb import ORIGIN
from builder.domain.recall import Scope, StoredBreadcrumb
from builder.recall.index.history import History
from builder.recall.scopes import SCOPE_PASSAGES, HistoryCache
from tests.factories import (
    make_remembered,
)


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
