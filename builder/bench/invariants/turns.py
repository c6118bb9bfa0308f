"""The turn that a tool's page is about, by brute force: the calls to answer from, their question, and the rounds before them."""

from collections.abc import Callable, Sequence

from builder.bench.invariants.events import Entry, Events
from builder.bench.invariants.records import RESULTS, Record, calls_of

NEWEST_BREADCRUMBS = 200
USER, AGENT, REQUEST = "user.message.v1", "agent.response.v1", "tool.request.v1"


def turn_of(events: Events, row: int) -> tuple[Entry, ...] | None:
    """The entries to answer from once this result has come: all calls of its turn, itself where its call is not known.

    None while another call is open, and when its own was answered before or is another agent's.
    """
    exchange = events.exchange(row)
    if exchange is None:
        return (Entry(row, row),) if row in events.counting else None
    if not events.is_own(events.records[exchange.callers[0]]) or exchange.results[0] != row:
        return None
    turn = _calls_with(events, exchange.callers[0])
    return None if any(not entry.results and not entry.lacks_results for entry in turn) else turn


def _calls_with(events: Events, caller: int) -> tuple[Entry, ...]:
    """The calls of the message that makes this one, or the bare calls of the same agent in a row with it."""
    origin = events.first[events.records[caller]["id"]]
    if events.records[caller]["schema_name"] != REQUEST:
        return tuple(entry for entry in events.conversation if entry.turn == origin and entry.request)
    run: list[Entry] = []
    own = [entry for entry in events.conversation if events.is_own(events.records[entry.row])]
    for entry in own:
        if entry.request and events.records[entry.row]["schema_name"] == REQUEST:
            run.append(entry)
        elif any(each.turn == origin for each in run):
            break
        else:
            run = []
    return tuple(run)


def questions_of(events: Events, turn: Sequence[Entry], asks: Callable[[Record], bool]) -> tuple[Entry, ...]:
    """The questions of a turn: all that wait when a person has written since its call, else its one question.

    Words of the agent that name no message answer all before them. asks: whether a record asks for a page.
    """
    exchange, records = events.exchange(len(events.records) - 1), events.records
    here = [row for row, session in enumerate(events.sessions) if session == events.session][-NEWEST_BREADCRUMBS:]
    last = max((row for row in here if _answers_all(events, records[row])), default=-1)
    newest = {records[row]["id"]: row for row in here}
    asking = (row for row in here if row > last and asks(records[row]))
    waiting = ((row, newest[records[row]["id"]]) for row in asking)
    entries = tuple(Entry(row, version) for row, version in waiting if version in events.counting)
    if exchange and any(entry.turn > exchange.callers[0] for entry in entries):
        return entries
    question = question_of(events, turn)
    return (question,) if question else ()


def _answers_all(events: Events, record: Record) -> bool:
    """Whether it is a first version of words of the agent without calls."""
    is_first = record["schema_name"] == AGENT and record["version"] == 1
    return is_first and events.is_own(record) and not any(calls_of(record))


def question_of(events: Events, turn: Sequence[Entry]) -> Entry | None:
    """The last words of a person in the session, else the last of another agent before the turn; None when there are none."""
    row = _person_row(events)
    if row < 0:
        others = (other for other in range(turn[0].turn - 1, -1, -1) if _is_said(events, other, AGENT))
        row = next((other for other in others if not events.is_own(events.records[other])), -1)
    return Entry(events.first[events.records[row]["id"]], row) if row >= 0 else None


def _person_row(events: Events) -> int:
    rows = (row for row in range(len(events.records)) if _is_said(events, row, USER))
    return max(rows, key=lambda row: events.first[events.records[row]["id"]], default=-1)  # an edit is no new word


def _is_said(events: Events, row: int, schema: str) -> bool:
    is_here = row in events.counting and events.sessions[row] == events.session
    return is_here and events.records[row]["schema_name"] == schema


def is_of_turn(events: Events, entry: Entry, turn: Sequence[Entry], questions: Sequence[Entry]) -> bool:
    """Whether it is a call of the agent's since the first question, what it said with one, or a result of an unknown call."""
    if not turn or entry in turn or not questions:
        return entry in turn
    record = events.records[entry.row]
    calls = entry.request or any(calls_of(record))
    return entry.turn > questions[0].turn and bool(calls) and events.is_own(record)


def is_result(events: Events, entry: Entry) -> bool:
    """Whether it is a call with its results, or a result by itself."""
    return bool(entry.request) or events.records[entry.row]["schema_name"] in RESULTS | {REQUEST}
