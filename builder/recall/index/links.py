"""Links of breadcrumbs: calls and results, units, and the person to whose memory a breadcrumb belongs."""

from collections import defaultdict
from dataclasses import dataclass, field

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.json_text import canonical_text
from builder.language.names import DEFAULT_NAMES, whole_look
from builder.recall.index.breadcrumb_table import Codes, ints

NameInSession = tuple[int, str]
"""Code of a session, and the id of a call or the name of an agent in it."""


@dataclass(slots=True)
class ToolExchange:
    """One call with its results, as rows of the history; a reader of an earlier place ignores later rows."""

    request: str
    """The id that joins them."""
    signature: str
    """Tool and arguments as one canonical text: equal for equal calls."""
    origin: int
    """Row of the first version of what makes the call."""
    callers: list[int] = field(default_factory=list)
    """Rows that make the call, the first one first; the others are later versions of it, or pass it on."""
    results: list[int] = field(default_factory=list)
    """Rows that answer it, in place order, all versions."""
    successor: int | None = None
    """Row of another call under its request id."""


class ToolExchanges:
    """A result answers the last call under its request id in its session; a later version of a caller makes the same call."""

    def __init__(self) -> None:
        self.origin = ints()
        """The row of the first version of its breadcrumb."""
        self.call = ints()
        """Row of a result, or of a bare call that passes one on → the row that made the call first; -1 for all else.

        A result may come before its call: then that row is a later one.
        """
        self.rows_by_agent: defaultdict[NameInSession, list[int]] = defaultdict(list)
        """Session and agent → rows of its words and calls; agents that are not named have none."""
        self.of_caller: dict[int, list[ToolExchange]] = {}
        self.of_result: dict[int, ToolExchange] = {}
        self._last: dict[NameInSession, ToolExchange] = {}
        self._twins: dict[int, dict[str, list[ToolExchange]]] = {}
        """Origin of what makes calls → id that it gives more than once → the calls after the first one under it."""
        self._by_origin: dict[tuple[int, str], ToolExchange] = {}
        self._early_results: dict[NameInSession, list[int]] = {}

    def append(self, row: int, session: int, crumb: Breadcrumb, first: int) -> None:
        """first: row of the first version of its breadcrumb."""
        if crumb.agent and (crumb.role == "assistant" or crumb.call_signatures):
            self.rows_by_agent[session, crumb.agent].append(row)
        self.origin.append(first)
        caller = -1
        if crumb.call_signatures:
            signatures = map(canonical_text, crumb.call_signatures)
            for request, identity, signature in zip(crumb.call_names, crumb.calls, signatures, strict=False):
                exchange = self._by_origin.get((first, request))
                if exchange is None:
                    exchange = self._exchange_of_call((session, request), signature, row, first)
                    if request != identity:
                        self._twins.setdefault(self._last[session, identity].origin, {}).setdefault(identity, []).append(exchange)
                exchange.signature = signature
                exchange.callers.append(row)
                self._by_origin[first, request] = exchange
                self.of_caller.setdefault(row, []).append(exchange)
                caller = exchange.callers[0] if crumb.role == "tool" and exchange.origin != first else -1
        else:
            for request in crumb.calls:
                caller = self._add_result((session, request), row, first)
        self.call.append(caller)

    def _exchange_of_call(self, key: NameInSession, signature: str, row: int, first: int) -> ToolExchange:
        exchange = self._last.get(key)
        if exchange is not None and exchange.signature == signature and not exchange.results:
            return exchange
        if exchange is not None and exchange.successor is None:
            exchange.successor = row
        exchange = ToolExchange(request=key[1], signature=signature, origin=first, results=self._early_results.pop(key, []))
        self.of_result.update(dict.fromkeys(exchange.results, exchange))
        for result in exchange.results:
            self.call[result] = row
        self._last[key] = exchange
        return exchange

    def _add_result(self, key: NameInSession, row: int, first: int) -> int:
        """The row that made the call first; -1 = none is known yet. Of calls under one id of one message the first open one."""
        exchange = self._last.get(key)
        if exchange is None:
            self._early_results.setdefault(key, []).append(row)
            return -1
        if twins := self._twins.get(exchange.origin, {}).get(key[1]):
            fitting = (each for each in (exchange, *twins) if not each.results)
            exchange = self.of_result.get(first) or next(fitting, twins[-1])
        exchange.results.append(row)
        self.of_result[row] = exchange
        return exchange.callers[0]


class UnitTable:
    """A unit is named by the row that heads it. A row that shares calls with two units joins them."""

    def __init__(self) -> None:
        self.head = ints()
        """Row → the head of its unit as the row came."""
        self.members: dict[int, list[int]] = {}
        """Head → the rows that came to it."""
        self.merged: dict[int, tuple[int, int]] = {}
        """Head of a unit that became part of another → (head of the other, row by which it did)."""
        self.absorbed: dict[int, list[int]] = {}
        """Head → heads of the units that became part of it."""
        self._head_by_call: dict[NameInSession, int] = {}

    def append(self, row: int, session: int, crumb: Breadcrumb, edited: int | None) -> None:
        """edited: row of the version before it in its session; an edit opens no unit."""
        calls = [(session, call) for call in crumb.calls]
        heads = {self._root(self._head_by_call[call]) for call in calls if call in self._head_by_call}
        if edited is not None:
            heads.add(self._root(int(self.head[edited])))
        head, *others = sorted(heads) or [row]
        for other in others:
            self.merged[other] = (head, row)
            self.absorbed.setdefault(head, []).extend((other, *self.absorbed.get(other, ())))
        self._head_by_call.update(dict.fromkeys(calls, head))
        self.head.append(head)
        self.members.setdefault(head, []).append(row)

    def _root(self, head: int) -> int:
        while head in self.merged:
            head = self.merged[head][0]
        return head


NOBODY = -1


class PersonTable:
    """One row a breadcrumb. Persons are codes, numbered from 0 as they come."""

    def __init__(self) -> None:
        self.person = ints()
        """NOBODY for the words of a person without a `user_id`, and for what answers nothing known."""
        self.codes: Codes = {}
        self._last_speakers: dict[int, int] = {}
        self._openings: dict[int, list[int]] = {}
        self._cuts: set[int] = set()
        self._agents: dict[int, int] = {}
        """Session → the row in which an agent spoke or called first."""
        self._firsts: dict[int, tuple[int, Breadcrumb]] = {}
        """Session → the first words of somebody with a `user_id` or a name, and their row."""
        self._seconds: dict[int, int] = {}
        """Session → the row in which another person spoke first."""

    def cut(self, session: int) -> None:
        """The rows of this session begin in its middle: another person spoke before."""
        self._cuts.add(session)

    def append(self, row: int, session: int, crumb: Breadcrumb, head: int, answered: int | None) -> None:
        """Append one row. head: row that heads its unit. answered: row of what it answers; None = unknown.

        Words that answer nothing are said to the person who spoke last, or who will speak first.
        """
        person = self._person(row, session, crumb, head, answered)
        self.person.append(person)
        if _is_of_agent(crumb):
            self._agents.setdefault(session, row)
        elif crumb.role == "user":
            if crumb.user_id or crumb.speaker != DEFAULT_NAMES["user"]:
                self._firsts.setdefault(session, (row, crumb))
            if session in self._cuts or self._is_second(session, row, crumb):
                self._seconds.setdefault(session, row)
        if crumb.role == "user":
            self._last_speakers[session] = person
            for opening in self._openings.pop(session, ()):
                self.person[opening] = person
        elif person == NOBODY and not crumb.answers and session not in self._last_speakers:
            self._openings.setdefault(session, []).append(row)

    def talk_alone(self, session: int, size: int, trigger: Breadcrumb | None) -> bool:
        """Whether only people talk in the first `size` rows of the session: two of them and no agent.

        trigger: what comes next in this session; None = nothing.
        """
        if self._agents.get(session, size) < size or (trigger and _is_of_agent(trigger)):
            return False
        return self._seconds.get(session, size) < size or bool(trigger and self._is_second(session, size, trigger))

    def _is_second(self, session: int, row: int, crumb: Breadcrumb) -> bool:
        since, first = self._firsts.get(session, (row, crumb))
        if since >= row or crumb.role != "user":
            return False
        if first.user_id and crumb.user_id:
            return first.user_id != crumb.user_id
        names = {first.speaker, crumb.speaker}
        return DEFAULT_NAMES["user"] not in names and len(set(map(whole_look, names))) > 1

    def _person(self, row: int, session: int, crumb: Breadcrumb, head: int, answered: int | None) -> int:
        if crumb.user_id:
            return self.codes.setdefault(crumb.user_id, len(self.codes))
        if crumb.role == "user":
            return NOBODY
        if head != row:
            return int(self.person[head])
        if session in self._cuts and (crumb.version > 1 or (crumb.calls and not crumb.call_signatures)):
            return NOBODY  # what it edits, or the call that it answers, stands before the cut
        if crumb.answers:
            return NOBODY if answered is None else int(self.person[answered])
        return self._last_speakers.get(session, NOBODY)


def _is_of_agent(crumb: Breadcrumb) -> bool:
    return crumb.role == "assistant" or bool(crumb.call_signatures or crumb.agent)
