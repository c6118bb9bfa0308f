"""The conversation of a view: messages and tool calls, in the order in which each was first said."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from builder.domain.breadcrumb import SUMMARY
from builder.domain.json_text import canonical_text
from builder.domain.selector import Selector
from builder.recall.index.breadcrumb_table import Rows
from builder.recall.index.links import ToolExchange
from builder.recall.index.view import View


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, or one call with its results; an edit keeps its first place."""

    origin: int
    """Row of the first version, whose place it has."""
    row: int
    request: str = ""
    """Id of the call; "" for a message."""
    results: tuple[int, ...] = ()
    """Rows of what answered it, in place order."""
    is_answered: bool = False
    """Something has answered it; without `results` no answer may be seen any more."""

    @property
    def is_open(self) -> bool:
        """A call that nothing has answered."""
        return bool(self.request) and not self.is_answered

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows that it shows something of."""
        return (self.row, *self.results)


Turn = tuple[Entry, ...]
"""A message with all the calls that it makes, in page order."""


def turns(view: View) -> Iterator[Turn]:
    """The visible turns of the session, the newest first."""
    rows, history = view.rows, view.history
    is_first = history.exchanges.origin[rows] == rows
    summaries = history.breadcrumbs.matching(SUMMARIES, view.size)[rows]
    for origin in map(int, rows[is_first & ~summaries][::-1]):
        if turn := turn_of(view, origin):
            yield turn


def turn_of(view: View, origin: int) -> Turn:
    """The entries that a page shows for a first version: () if it is deleted, hidden, or shown below its call."""
    row = view.row_of(view.breadcrumb(origin).id)
    if row < 0 or not view.shows(row):
        return ()
    crumb = view.breadcrumb(row)
    if crumb.role == "tool" and not crumb.call_signatures:
        return () if exchange_of(view, origin) else (Entry(origin, row),)
    exchanges = tuple(
        Entry(
            origin,
            row,
            exchange.request,
            results_of(view, exchange),
            any(row < view.size and view.audience[row] for row in exchange.results),
        )
        for exchange in view.history.exchanges.of_caller.get(row, ())
        if _caller_id(view, exchange) == crumb.id
    )
    speaks = crumb.role != "tool" and (crumb.text.strip() or not crumb.call_signatures)
    return ((Entry(origin, row),) if speaks else ()) + exchanges


def exchange_of(view: View, row: int) -> ToolExchange | None:
    """The exchange of a result; None if its call is not shown any more."""
    exchange = view.history.exchanges.of_result.get(row)
    if exchange is None or exchange.callers[0] >= view.size:
        return None
    caller = view.row_of(_caller_id(view, exchange))
    return exchange if caller in exchange.callers and view.shows(caller) else None


def results_of(view: View, exchange: ToolExchange) -> tuple[int, ...]:
    """Newest versions of what answered a call, in place order; what was delivered twice once."""
    rows = (view.row_of(view.breadcrumb(row).id) for row in exchange.results if row < view.size)
    by_words: dict[tuple[bool, str], int] = {}
    for row in rows:
        if row >= 0 and view.shows(row):
            crumb = view.breadcrumb(row)
            words = "" if "image" in crumb.body else crumb.text.strip()  # two pictures may have one line
            by_words.setdefault((crumb.failed, words or crumb.body), row)
    return tuple(by_words.values())


def closed_turn(view: View, row: int) -> Turn | None:
    """The calls to answer from once this result has come; the result itself where its call is unknown.

    None while another call of the turn is open, when its call was answered before or is another agent's, and when it is hidden.
    """
    exchange = exchange_of(view, row)
    if exchange is None:
        newest = view.row_of(view.breadcrumb(row).id)
        return (Entry(row, newest),) if view.shows(newest) else None
    if not view.is_own(view.breadcrumb(exchange.callers[0])) or exchange.results[0] != row:
        return None
    entries = _turn_with(view, exchange)
    return None if any(entry.is_open for entry in entries) else entries


def open_calls(view: View, identity: str) -> Turn:
    """The calls of a message that have no answer; () for another agent's.

    An answer under a reused request id belongs to the later call.
    """
    row = view.row_of(identity)
    if row < 0 or not view.shows(row) or not view.is_own(view.breadcrumb(row)):
        return ()
    origin = view.history.breadcrumbs.versions[identity][0]
    reused = {
        exchange.request
        for exchange in view.history.exchanges.of_caller.get(row, ())
        if exchange.successor is not None and exchange.successor < view.size
    }
    return tuple(entry for entry in turn_of(view, origin) if entry.is_open and entry.request not in reused)


def last_row_of_person(view: View) -> int:
    """Row of the last message of a person by its first version; -1 = none."""
    rows = view.rows
    rows = rows[view.history.breadcrumbs.by_person[rows] & view.current[rows]]
    return int(rows[np.argmax(view.history.exchanges.origin[rows])]) if len(rows) else -1


def has_other_agents(view: View) -> bool:
    """Whether another agent takes part in the conversation."""
    return bool(view.agent) and any(
        row < view.size and view.shows(row)
        for (session, agent), rows in view.history.exchanges.rows_by_agent.items()
        if session == view.session and agent != view.agent
        for row in rows
    )


def _turn_with(view: View, exchange: ToolExchange) -> Turn:
    origin = exchange.callers[0]
    if view.breadcrumb(origin).role != "tool":
        return tuple(entry for entry in turn_of(view, origin) if entry.request)
    run: list[Entry] = []
    for turn in turns(view):
        if not view.is_own(view.breadcrumb(turn[0].row)):
            continue
        if view.breadcrumb(turn[0].origin).role == "tool" and all(entry.request for entry in turn):
            run = [*turn, *run]
        elif turn[0].origin < origin:
            break
        else:
            run = []
    return tuple(run) if any(entry.origin == origin for entry in run) else turn_of(view, origin)


def repeated_calls(view: View, entries: Iterable[Entry]) -> frozenset[Entry]:
    """Calls that were made again later with the same arguments and did not fail. entries: the newest first."""
    later, again = set[str](), set[Entry]()
    for entry in entries:
        if entry.request and entry.results:
            crumb = view.breadcrumb(entry.row)
            signature = canonical_text(crumb.call_signatures[crumb.call_names.index(entry.request)])
            again.update({entry} if signature in later else ())
            later.update(() if view.breadcrumb(entry.results[-1]).failed else {signature})
    return frozenset(again)


def outdated_results(view: View) -> frozenset[int]:
    """Rows of results whose call was made again later without an error."""
    callers, rows = view.history.exchanges.of_caller, view.rows.tolist()
    calls = [exchange for row in rows for exchange in callers.get(row, ()) if exchange.callers[0] == row]
    later, outdated = set[str](), set[int]()
    for exchange in reversed(calls):
        results = results_of(view, exchange)
        outdated.update(results if exchange.signature in later else ())
        later.update({exchange.signature} if any(not view.breadcrumb(row).failed for row in results) else ())
    return frozenset(outdated)


def _caller_id(view: View, exchange: ToolExchange) -> str:
    return view.breadcrumb(exchange.callers[0]).id


SUMMARIES = Selector(schemas=(SUMMARY,))
"""Their recipe says whose they are."""


def of_audience(view: View, audience: Selector | None, task: str | None) -> View:
    """The rows that an audience matches, of one task; None = all."""
    if audience is None and task is None:
        return view
    table = view.history.breadcrumbs
    rows = np.ones(view.size, np.bool_)
    if audience is not None:
        rows &= table.matching(audience, view.size)
    if task is not None:
        rows &= table.task[: view.size] == table.tasks.get(task, -1)
    return view.within(_with_results(view, rows) | table.matching(SUMMARIES, view.size))


def without_expired(view: View, excluded: tuple[Selector, ...], now: datetime) -> View:
    """Without what has expired by now and what a selector excludes."""
    table = view.history.breadcrumbs
    rows = np.zeros(view.size, np.bool_)
    if table.can_expire:
        rows |= table.expires[: view.size] <= now.timestamp()
    for selector in excluded:
        rows |= table.matching(selector, view.size)
    rows &= view.current  # an older version that has expired takes nothing with it
    return replace(view, current=view.current & ~(rows | _with_results(view, rows))) if rows.any() else view


def _with_results(view: View, rows: Rows) -> Rows:
    exchanges = view.history.exchanges
    origin, call = exchanges.origin[: view.size], exchanges.call[: view.size]
    follows = (call >= 0) & (call < view.size)
    leader = origin.copy()
    leader[follows] = origin[call[follows]]
    leads = np.zeros(view.size, np.bool_)
    leads[leader[rows & ~follows]] = True
    return leads[leader]
