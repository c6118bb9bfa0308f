"""What is wrong with the conversation on a page: what is missing though it has room, beyond a limit, or reduced without need."""

from collections.abc import Iterator, Sequence

from builder.bench.invariants.estimates import UPPER_FACTOR, count_words, exceeds, fits, fixed
from builder.bench.invariants.events import Entry
from builder.bench.invariants.expected_items import Display
from builder.bench.invariants.pressure import CURRENT_SHARE, under_pressure
from builder.bench.invariants.reader import CUT, FOLD, LIMIT, MIN_PART_TOKENS, MISSING, REFUSED, Fault, Reading

HEADING_TOKENS = 100
"""Tokens of a heading, notes, lines on gaps, and the differences of counting."""


def in_conversation(reading: Reading) -> Iterator[Fault]:
    """What is missing, cut or one line without need, and what stands there beyond a limit of the profile."""
    room = CURRENT_SHARE * (reading.limit - fixed(reading))
    if reading.current_states == ("cut",) and UPPER_FACTOR * count_words(reading) + HEADING_TOKENS <= room:
        yield CUT, f"the current message is cut, and has room in {room} tokens"
    if reading.rule("window") is None or any(len(pieces) < len(reading.items(name)) for name, pieces in reading.pieces.items()):
        return
    everything = possible(reading)
    is_whole = everything == reading.events.conversation or reading.profile.on_overflow == "reject"
    if is_whole and fits(reading, everything):
        present = {each.entry for each in reading.displays}
        if missing := [entry for entry in demanded(reading) if entry not in present]:
            yield MISSING, f"{_name(reading, missing[-1])} has room and is not on the page"
        yield from _reduced(reading, reading.displays)
    else:
        yield from under_pressure(reading)
    if not reading.is_one:  # a page with one conversation has what was found in it
        yield from _limits(reading)


def _limits(reading: Reading) -> Iterator[Fault]:
    """No more turns are shown than may be, and no calls that are older than the last tool turns."""
    displays, most = reading.displays_of("window"), reading.profile.window.max_units
    if most is not None and (number := turns_back(reading, displays)) > most:
        yield LIMIT, f"{number} turns are shown, allowed are {most}"
    for each in (*displays, *reading.displays_of("turn")):
        if each.entry not in reading.limited and each.entry not in reading.turn:
            yield LIMIT, f"{_name(reading, each.entry)} is older than the last tool turns"


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


def is_under_pressure(reading: Reading) -> bool:
    """Whether not all of the conversation is shown whole that the profile's limits leave."""
    whole = {each.entry for each in reading.displays if each.is_whole}
    return any(entry not in whole for entry in demanded(reading))
