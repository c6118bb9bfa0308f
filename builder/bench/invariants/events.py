"""Facts of records by brute force: which of them count, and which of them are the conversation.

Nothing of `recall` is called here: visibility and the pairs of calls and results are derived independently.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from builder.bench.invariants.records import (
    RESULTS,
    TOOLS,
    WORDS,
    Record,
    agent_of,
    arguments_of,
    calls_of,
    is_retry,
    is_said,
    requests_of,
    text_of,
)

DELETED, BLACKLIST = "breadcrumb.deleted.v1", "context.blacklist.v1"
NOWHERE = "_"


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, or one call with its results. Rows are numbers of records, of the versions that are shown."""

    turn: int
    """Row of the first version of the message that makes it."""
    row: int
    request: str = ""
    """Id of the call; "" for a message."""
    results: tuple[int, ...] = ()
    lacks_results: bool = False
    """It was answered, and no answer counts any more."""


@dataclass(slots=True)
class _Exchange:
    """One call; rows are in stream order."""

    question: str
    """Tool and arguments of the last call."""
    callers: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    twins: list["_Exchange"] = field(default_factory=list)
    """Other calls of its message under its id; each result answers the first of them that has none."""

    @property
    def first_open(self) -> "_Exchange":
        """The first of it and its twins without a result, else the last twin."""
        return next((each for each in (self, *self.twins) if not each.results), self.twins[-1])

    def is_passed_on(self, question: str) -> bool:
        """Whether a later call with this question is the same one."""
        return self.question == question and not self.results


def _sent_id(record: Record, call: str) -> str:
    """The id under which a record sends a call."""
    request = requests_of(record).get(call)
    return request["requestId"] if request else call


@dataclass(frozen=True, kw_only=True)
class Events:
    """Records up to a trigger, as one consumer sees them."""

    records: Sequence[Record]
    session: str
    now: datetime
    """Time of the trigger."""
    is_visible: Callable[[Sequence[str]], bool]
    """A record's tags → whether it is in the consumer's audience."""
    task: str | None
    """The only visible task; None = all."""
    agent: str = ""
    """Whose page it is: what others say and call is not its own."""
    trigger: Record | None = None
    """The one that is answered, where it is none of the records."""

    @cached_property
    def sessions(self) -> list[str]:
        """The session of each row. A result of no session is one of the only session that had asked by then."""
        sessions: list[str] = []
        askers: dict[str, set[str]] = {}
        for record in self.records:
            answered, calls = calls_of(record)
            session = record["session"]
            if answered and session == NOWHERE:
                sessions_asking = askers.get(answered[0], set())
                session = next(iter(sessions_asking)) if len(sessions_asking) == 1 else NOWHERE
            for call in calls if record["session"] != NOWHERE else ():
                askers.setdefault(call, set()).add(session)
            sessions.append(session)
        return sessions

    @cached_property
    def newest(self) -> dict[str, int]:
        """Id → row of its highest version, without removed breadcrumbs."""
        newest: dict[str, int] = {}
        removed: set[str] = set()
        for row, record in enumerate(self.records):
            if record["schema_name"] == DELETED:
                name = record["context"]["breadcrumb_id"]
                if name in newest and record["session"] in {NOWHERE, self.records[newest[name]]["session"]}:
                    removed.add(name)
                continue
            older = newest.get(record["id"])
            if older is None or record["version"] >= self.records[older]["version"]:
                newest[record["id"]] = row
                removed.discard(record["id"])
        return {name: row for name, row in newest.items() if name not in removed}

    @cached_property
    def first(self) -> dict[str, int]:
        """Id → row of the version that came first."""
        first: dict[str, int] = {}
        for row, record in enumerate(self.records):
            first.setdefault(record["id"], row)
        return first

    @cached_property
    def counting(self) -> frozenset[int]:
        """Rows that may be on the page: newest version, not removed, not ended, not excluded, this consumer's."""
        current = set(self.newest.values())
        gone = {row for row in current if self._is_gone(row)}
        heads = [self._head(row) for row in range(len(self.records))]
        leads = {row for row, record in enumerate(self.records) if heads[row] == self.first[record["id"]]}
        own = {heads[row] for row in leads if self._is_seen(self.records[row])}
        return frozenset(row for row in current - gone if heads[row] in own - {heads[row] for row in gone & leads})

    def _head(self, row: int) -> int:
        """The first version of what it goes with: a result, or a call passed on, with the call; all else with itself."""
        record = self.records[row]
        answered, calls = calls_of(record)
        exchange = None
        if record["schema_name"] in TOOLS and answered + calls:
            exchange = self._exchanges[0].get(row) or self._exchanges[1].get((row, calls[0] if calls else ""))
        return self.first[(record if exchange is None else self.records[exchange.callers[0]])["id"]]

    @cached_property
    def conversation(self) -> list[Entry]:
        """The entries of a page with room for everything, in page order."""
        entries: list[Entry] = []
        tries = self._tries
        for row, record in enumerate(self.records):
            if self.sessions[row] == self.session and self.first[record["id"]] == row:
                entries += (entry for entry in self.entries(row) if entry.row not in tries)
        return entries

    @cached_property
    def _tries(self) -> frozenset[int]:
        """Rows of messages that were sent again at once: in the next row of the conversation, or as the trigger."""
        spoken = [row for row, record in enumerate(self.records) if self.sessions[row] == self.session and is_said(record)]
        tries = {row for row, later in pairwise(spoken) if later in self.counting and self._is_tried_again(row, later)}
        later = self.trigger and {**self.trigger, "at": self.now}
        for row in reversed([row for row in spoken if row in self.counting]):
            record = {**self.records[row], "at": self.arrivals[row]}
            if later is None or not is_retry(record, later):
                break
            tries.add(row)
            later = record
        return frozenset(tries)

    def _is_tried_again(self, row: int, later: int) -> bool:
        return is_retry(*({**self.records[each], "at": self.arrivals[each]} for each in (row, later)))

    @cached_property
    def arrivals(self) -> list[datetime]:
        """The time of each row: when it was sent, or later, because the stream's clock does not run back."""
        return list(accumulate((datetime.fromisoformat(record["created_at"]) for record in self.records), max))

    def exchange(self, row: int) -> "_Exchange | None":
        """The call that a result stands below; None when it is not visible."""
        exchange = self._exchanges[0].get(self.first[self.records[row]["id"]])
        return exchange if exchange is not None and self._is_called(exchange) else None

    def is_own(self, record: Record) -> bool:
        """Whether the page's agent says or calls it, or nobody names another one."""
        return agent_of(record) in {"", self.agent}

    @cached_property
    def has_others(self) -> bool:
        """Whether another agent has a part in the conversation."""
        return any(
            agent_of(record) not in {"", self.agent} and record["schema_name"] in {"agent.response.v1", "tool.request.v1"}
            for row, record in enumerate(self.records)
            if row in self.counting and self.sessions[row] == self.session
        )

    @cached_property
    def units(self) -> list[int]:
        """The first row of each row's unit: versions of one breadcrumb, and all that shares a call, are one."""
        heads: list[int] = []
        by_key: dict[tuple[str, str, str], int] = {}
        for row, record in enumerate(self.records):
            session = self.sessions[row]
            keys = [("call", session, call) for calls in calls_of(record) for call in calls]
            keys.append(("id", session, record["id"]))
            joined = {heads[by_key[key]] for key in keys if key in by_key}
            heads.append(min(joined, default=row))
            if len(joined) > 1:
                heads = [heads[-1] if head in joined else head for head in heads]
            by_key |= dict.fromkeys(keys, row)
        return heads

    def entries(self, origin: int) -> list[Entry]:
        """Entries of the breadcrumb that came first with this row: its words, and each of its calls."""
        row = self.newest.get(self.records[origin]["id"], -1)
        if row not in self.counting or self.records[row]["schema_name"] not in WORDS | TOOLS:
            return []
        record = self.records[row]
        _, calls = calls_of(record)
        if record["schema_name"] in TOOLS and not calls:
            return [] if record["schema_name"] in RESULTS and self.exchange(origin) else [Entry(origin, row)]
        speaks = record["schema_name"] in WORDS and (text_of(record).strip() or not calls)
        entries = [Entry(origin, row)] if speaks else []
        for call in dict.fromkeys(calls):
            exchange = self._exchanges[1][row, call]
            results = tuple(dict.fromkeys(self._visible_results(exchange)))
            if self.records[exchange.callers[0]]["id"] == record["id"]:
                entries.append(Entry(origin, row, call, results, bool(exchange.results) and not results))
        return entries

    def _visible_results(self, exchange: _Exchange) -> list[int]:
        rows = (self.newest.get(self.records[row]["id"], -1) for row in exchange.results)
        return [row for row in rows if row in self.counting]

    def _is_called(self, exchange: _Exchange) -> bool:
        caller = self.newest.get(self.records[exchange.callers[0]]["id"], -1)
        return caller in exchange.callers and caller in self.counting

    @cached_property
    def _exchanges(self) -> tuple[dict[int, _Exchange], dict[tuple[int, str], _Exchange]]:
        """The exchange of each result, and of each call. A result answers what was last called by its id in its session.

        An edit repeats the calls of earlier versions, even when their ids were used again since.
        """
        of_result: dict[int, _Exchange] = {}
        of_call: dict[tuple[int, str], _Exchange] = {}
        last: dict[tuple[str, str], _Exchange] = {}
        early: dict[tuple[str, str], list[int]] = {}
        by_origin: dict[tuple[int, str], _Exchange] = {}
        for row, record in enumerate(self.records):
            session, origin = self.sessions[row], self.first[record["id"]]
            answered, calls = calls_of(record)
            for call in answered:
                exchange = last.get((session, call))
                if exchange is None:
                    early.setdefault((session, call), []).append(row)
                    continue
                if exchange.twins:
                    exchange = of_result.get(origin) or exchange.first_open
                exchange.results.append(row)
                of_result[row] = exchange
            for call in calls:
                key, question = (session, call), arguments_of(record, call)
                exchange = by_origin.get((origin, call)) or last.get(key)
                if exchange is None or not ((origin, call) in by_origin or exchange.is_passed_on(question)):
                    exchange = last[key] = _Exchange(question, results=early.pop(key, []))
                    if (identity := _sent_id(record, call)) != call:
                        last[session, identity].twins.append(exchange)
                    of_result.update(dict.fromkeys(exchange.results, exchange))
                by_origin[origin, call] = exchange
                exchange.question = question
                exchange.callers.append(row)
                of_call[row, call] = exchange
        return of_result, of_call

    def _is_seen(self, record: Record) -> bool:
        """By its tags, and by its task where the consumer sees only one."""
        task = next((tag.removeprefix("task:") for tag in record["tags"] if tag.startswith("task:")), "")
        return self.is_visible(record["tags"]) and self.task in {None, task}

    def _is_gone(self, row: int) -> bool:
        """Whether it has ended, or the latest blacklist names it."""
        record = self.records[row]
        if record["expires_at"] and datetime.fromisoformat(record["expires_at"]) <= self.now:
            return True
        return self._blacklist is not None and (
            record["id"] in self._blacklist["excluded_ids"]
            or not set(record["tags"]).isdisjoint(self._blacklist["excluded_tags"])
            or record["schema_name"] in {line["schema_name"] for line in self._blacklist["excluded_schemas"]}
        )

    @cached_property
    def _blacklist(self) -> Mapping[str, Any] | None:
        """The latest one that is not removed in no session: all of them are operators'."""
        removed = {record["context"].get("breadcrumb_id") for record in self.records if record["session"] == NOWHERE}
        lists = [record for record in self.records if record["schema_name"] == BLACKLIST and record["id"] not in removed]
        return lists[-1]["context"] if lists else None
