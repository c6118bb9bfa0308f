"""What is wrong with the conversation on a page: what is missing though it has room, out of place, cut or folded without need."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from builder.bench.invariants.estimates import (
    DATE_LINE_TOKENS,
    UPPER_FACTOR,
    count_words,
    exceeds,
    fits,
    fixed,
    of_result,
)
from builder.bench.invariants.events import Entry
from builder.bench.invariants.expected_items import Display, display_of
from builder.bench.invariants.pressure import CURRENT_SHARE, in_messages, rights, unused
from builder.bench.invariants.reader import (
    ALTERED,
    CUT,
    FOLD,
    LIMIT,
    MIN_PART_TOKENS,
    MISSING,
    ORDER,
    PAIR,
    REFUSED,
    STALE,
    Fault,
    Reading,
)

HEADING_TOKENS = 100
"""Tokens of a heading, notes, lines on gaps, and the differences of counting."""
SHORT_RESULT_TOKENS = 160
"""Tokens of a result that may be no longer than the line in its place: forty signs of it may be flags of seven each."""


def in_conversation(reading: Reading) -> Iterator[Fault]:
    """Everything that is wrong with the section, when the page has one; and a current message that is cut without need."""
    room = CURRENT_SHARE * (min(reading.limit, reading.profile.target or reading.limit) - fixed(reading))
    if reading.current_states == ("cut",) and UPPER_FACTOR * count_words(reading) + HEADING_TOKENS <= room:
        yield CUT, f"the current message is cut, and has room in {room} tokens"
    rule = reading.rule("window")
    if rule is None:
        return
    if reading.is_one:
        yield from _one(reading)
        return
    displays = reading.recent
    if len(displays) < len(reading.items("window")):
        yield _stranger(reading, len(displays))
        return
    if len(reading.running) < len(reading.items("turn")):
        yield PAIR, f"{reading.items('turn')[-len(reading.running) - 1].text!r:.300} is in the running turn"
        return
    certain = demanded(reading)
    if reading.profile.window.max_units is not None and turns_back(reading, displays) > reading.profile.window.max_units:
        yield LIMIT, f"{turns_back(reading, displays)} turns are shown, allowed are {reading.profile.window.max_units}"
    if fits(reading, possible(reading), for_finds(reading)):
        present = {each.entry for each in reading.displays}
        if missing := [entry for entry in certain if entry not in present]:
            yield MISSING, f"{_name(reading, missing[-1])} has room and is not on the page"
        yield from _reduced(reading, reading.displays)
        return
    yield from _under_pressure(reading, displays)


def _one(reading: Reading) -> Iterator[Fault]:
    """One conversation is whole when it fits; what triggered has room where it does not."""
    if any(len(reading.pieces[source]) < len(reading.items(source)) for source in reading.pieces):
        return
    everything = reading.events.conversation
    if possible(reading) == everything and fits(reading, everything):
        present = {each.entry for each in reading.displays}
        if missing := [entry for entry in everything if entry not in present]:
            yield MISSING, f"{_name(reading, missing[-1])} has room and is not on the page"
        yield from _reduced(reading, reading.displays)
        return
    yield from rights(reading)
    yield from in_messages(reading)


def demanded(reading: Reading) -> list[Entry]:
    """What no limit may take: all of it, or the newest turns that a window is trimmed to."""
    limits = reading.profile.window
    return _newest(reading, None if limits.max_units is None else limits.trim_to)


def possible(reading: Reading) -> list[Entry]:
    """What the limits may leave: all of it, or as many of the newest turns as a window may have."""
    return _newest(reading, reading.profile.window.max_units)


def _newest(reading: Reading, turns: int | None) -> list[Entry]:
    newest_turns = set(list(dict.fromkeys(entry.turn for entry in reversed(reading.events.conversation)))[:turns])
    return [entry for entry in reading.limited if entry.turn in newest_turns and entry not in reading.turn] + list(reading.turn)


def turns_back(reading: Reading, displays: Sequence[Display]) -> int:
    """How many turns there are from the newest to the oldest that is shown."""
    turns = list(dict.fromkeys(entry.turn for entry in reversed(reading.events.conversation)))
    return turns.index(displays[0].entry.turn) + 1 if displays else 0


def for_finds(reading: Reading) -> int:
    """Tokens that finds are left with, because a limit may leave something out that can only be found."""
    profile, rule = reading.profile, reading.rule("retrieval")
    is_limited = profile.window.max_units is not None or profile.window.max_tool_turns is not None
    return int(rule.min_share * reading.whole) if rule and is_limited and profile.on_overflow == "trim" else 0


def refusal(reading: Reading) -> Iterator[Fault]:
    """A page is refused when what no page is without has no room, or the profile trims nothing and the conversation has none."""
    min_tokens = fixed(reading) + min(count_words(reading), 2 * MIN_PART_TOKENS)
    if reading.page is not None:
        if reading.profile.on_overflow == "reject" and reading.rule("window") and exceeds(reading, demanded(reading)):
            yield REFUSED, "the conversation has no room, and a profile that rejects got a page"
    elif reading.profile.on_overflow == "reject" and fits(reading, possible(reading)):
        yield REFUSED, "the conversation has room, and no page came"
    elif reading.profile.on_overflow == "trim" and 2 * min_tokens <= reading.limit:
        yield REFUSED, f"{reading.limit} tokens are enough for the system prompt and the current message, and no page came"


def _stranger(reading: Reading, number: int) -> Fault:
    """What to say of the newest item that is not the entry that is due."""
    text = reading.items("window")[-number - 1].text
    due = reading.waiting[0][-number - 1] if number < len(reading.waiting[0]) else None
    name = _name(reading, due) if due else "nothing more"
    for entry in reading.limited:
        if display_of(entry, text, reading.events, reading.trigger):
            later = due is not None and reading.limited.index(entry) < reading.limited.index(due)
            return (MISSING if later else ORDER), f"{_name(reading, entry)} stands where {name} is due"
    ids = {part.split(" ")[0] for part in text.split("id ")[1:]}
    if due and (reading.events.records[due.row]["id"] in ids or text.startswith("Call ")):
        return PAIR, f"{text!r:.300} stands where {name} is due"
    visible_ids = {record["id"] for row, record in enumerate(reading.events.records) if row in reading.events.counting}
    kind = ALTERED if due else STALE
    return kind, f"{text!r:.300} stands where {name} is due, ids {sorted(ids - visible_ids)}"


def _name(reading: Reading, entry: Entry) -> str:
    record = reading.events.records[entry.row]
    call = f" call {entry.request} answered by {[reading.events.records[row]['id'] for row in entry.results]}"
    return f"{record['id']} v{record['version']}{call if entry.request else ''}"


def _reduced(reading: Reading, displays: Sequence[Display]) -> Iterator[Fault]:
    """What is not whole though everything has room and no limit of the profile says so."""
    for each in displays:
        for row, state in each.states:
            if state == "cut" and not reading.is_limited(row):
                yield CUT, f"{_name(reading, each.entry)} is cut, and the conversation has room"
            if state == "line" and not reading.is_placeholder(each.entry):
                yield FOLD, f"{_name(reading, each.entry)} is one line, and the conversation has room"


def _under_pressure(reading: Reading, displays: Sequence[Display]) -> Iterator[Fault]:
    yield from _too_much(reading, displays)
    if not reading.profile.tool_output.newest_only:
        yield from _folded(reading, displays)
    yield from rights(reading)
    yield from in_messages(reading)
    yield from unused(reading)


def _too_much(reading: Reading, displays: Sequence[Display]) -> Iterator[Fault]:
    """A conversation that is not whole has no more than its share."""
    rule = reading.rule("window")
    parts = [part for part in reading.published["sections"] if rule and part["name"] == rule.name]
    if rule and parts and len(displays) < len(reading.waiting[0]) and reading.profile.window.max_units is None:
        share = rule.max_tokens(reading.limit) + HEADING_TOKENS + 2 * DATE_LINE_TOKENS * len(reading.lines("window"))
        if parts[0]["tokens"] > share:
            yield LIMIT, f"the conversation has {parts[0]['tokens']} tokens, its share are {share}"


def _folded(reading: Reading, displays: Sequence[Display]) -> Iterator[Fault]:
    """A result that is one line though an older one is whole."""
    long = [
        each for each in displays if _results(reading, each) and all(_is_long(reading, row) for row, _ in _results(reading, each))
    ]
    for one, other in pairwise(long):
        is_line = any(state == "line" for _, state in _results(reading, other)) and not reading.is_placeholder(other.entry)
        older, newer = (_result_tokens(reading, each) for each in (one, other))
        if is_line and newer <= older and all(state == "whole" for _, state in _results(reading, one)):
            yield FOLD, f"{_name(reading, other.entry)} is one line, and the older {_name(reading, one.entry)} is whole"


def _is_long(reading: Reading, row: int) -> bool:
    return of_result(reading.events.records[row], reading.count) > SHORT_RESULT_TOKENS


def _result_tokens(reading: Reading, each: Display) -> int:
    return sum(of_result(reading.events.records[row], reading.count) for row, _ in _results(reading, each))


def _results(reading: Reading, each: Display) -> list[tuple[int, str]]:
    records = reading.events.records
    return [(row, state) for row, state in each.states if records[row]["schema_name"] == "tool.response.v1"]


def is_under_pressure(reading: Reading) -> bool:
    """Whether not all of the conversation is shown whole that the profile's limits leave."""
    whole = {each.entry for each in reading.displays if each.is_whole}
    return any(entry not in whole for entry in demanded(reading))
