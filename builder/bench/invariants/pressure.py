"""What is wrong with a page that has no room for all of the conversation: rights, gaps, and room that nothing uses."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from builder.bench.invariants.estimates import ample, count_words, fixed
from builder.bench.invariants.events import RESULTS, TOOLS, Entry
from builder.bench.invariants.expected_items import Display, words_of
from builder.bench.invariants.finds import MARK
from builder.bench.invariants.reader import CUT, FOLD, GAP, GAPS, MIN_PART_TOKENS, MISSING, ORDER, UNUSED, Fault, Reading
from builder.bench.invariants.turns import AGENT, is_result

RESULTS_SHARE, ANSWER_SHARE, CURRENT_SHARE = 0.6, 0.5, 0.5
LEAST_USE = 0.85
SLACK_TOKENS = 90
"""Tokens of headings, notes, date lines, and the differences of counting."""
LINE_TOKENS = 110
"""Most tokens of a call with a line for its result."""
NOTE_TOKENS = 45
"""Most tokens of all notes."""
NEWEST_MESSAGES = 3
CALL = re.compile(r'"tool_calls"|"type": "tool_use"')
EARLIER = re.compile(r"\((?P<number>[\d,]+) earlier messages? (?:is|are) not shown\)")
TURNS = re.compile(r"\((?P<number>[\d,]+) earlier tool turns? left out\)")


def rights(reading: Reading) -> Iterator[Fault]:
    """What has a right to room and has none: the results that triggered, the last answer, the newest messages."""
    rule, spent = reading.rule("window"), _spent(reading)
    rest = min(rule.max_tokens(_aim(reading)) if rule else 0, _aim(reading) - spent) - SLACK_TOKENS
    present = {each.entry: each for each in reading.displays}
    yield from _triggering(reading, present, _aim(reading) - spent - SLACK_TOKENS)
    dialogue = reading.waiting[0]
    if rule is None or reading.is_one or reading.turn or _is_limited(reading):
        return
    answer = next((entry for entry in reversed(dialogue) if _is_answer(reading, entry)), None)
    need = ample(answer, reading) if answer else 0
    if answer and need <= ANSWER_SHARE * rest and not (answer in present and present[answer].is_whole):
        yield CUT, f"the last answer {_name(reading, answer)} has room in {rest} tokens, and is not whole"
    rest -= min(need, int(ANSWER_SHARE * rest))
    messages = 0
    for entry in reversed(dialogue):
        message = not is_result(reading.events, entry)
        rest -= min(ample(entry, reading), max(int(reading.profile.window.min_share * _aim(reading)), LINE_TOKENS))
        if messages == NEWEST_MESSAGES or rest < 0:
            break
        if message and entry not in present:
            yield MISSING, f"{_name(reading, entry)} is one of the newest messages and has room"
        messages += message


def _triggering(reading: Reading, present: dict[Entry, Display], rest: int) -> Iterator[Fault]:
    each = RESULTS_SHARE * rest / max(sum(len(entry.results) or 1 for entry in reading.turn), 1)
    for entry in reading.turn:
        if entry not in present and each >= 2 * LINE_TOKENS:
            yield MISSING, f"{_name(reading, entry)} triggered and is not on the page"
        for row, state in present[entry].states if entry in present else ():
            is_line = state == "line" and not reading.is_placeholder(entry)
            if is_line and each >= 4 * LINE_TOKENS:
                yield FOLD, f"{reading.events.records[row]['id']} triggered and is one line"
    order = reading.events.conversation if reading.is_one else reading.waiting[1]
    places = [order.index(display.entry) for display in reading.running]
    if places != sorted(places) and not reading.is_one:
        yield ORDER, "the running turn is not in order"


def in_messages(reading: Reading) -> Iterator[Fault]:
    """Where the question and the results that triggered are in `messages`: the one before its calls, the others last."""
    chat = [(message["role"], json.dumps(message, ensure_ascii=False)) for message in reading.published.get("messages") or ()]
    first = min((entry.turn for entry in reading.turn), default=0)
    questions = [question for question in reading.questions if question.turn < first]
    marks = MARK.findall(words_of(reading.current[0])) if questions else []
    calls = [entry for entry in reading.turn if entry.request and entry.results]
    if not chat or not calls or not any(each.entry in reading.turn and each.states[1:] for each in reading.running):
        return
    called = max((number for number, (role, text) in enumerate(chat) if role == "assistant" and CALL.search(text)), default=-1)
    places = [number for number, (_, text) in enumerate(chat) if marks and (marks[0] in text or marks[-1] in text)]
    if marks and all(reading.current_states) and not (places and places[0] < called):
        yield MISSING, "the question is not in messages before its calls"
    if len(questions) == len(reading.questions) and chat[-1][0] != "tool" and '"type": "tool_result"' not in chat[-1][1]:
        yield ORDER, "messages do not end with the results that triggered"


def gaps(reading: Reading) -> Iterator[Fault]:
    """The numbers of what is missing: units of which nothing is on the page."""
    events = reading.events
    on_page = {name for part in reading.published["sections"] for name in part["ids"]}
    # A call that passes on that of a message says nothing.
    entry_rows = {row for entry in events.conversation for row in (entry.row, *entry.results)}
    rows = [
        row
        for row in events.counting
        if events.sessions[row] == events.session and _is_dialogue(reading, row) and row in entry_rows
    ]
    heads = {events.units[row] for row in rows}
    seen = {unit for row, unit in enumerate(events.units) if events.records[row]["id"] in on_page}  # also what is only pinned
    limit_units = {number for entry in _calls_beyond_limits(reading) for number in (events.units[entry.row],)}
    missing = heads - seen
    earlier, turns, rounds = (_number(reading, *each) for each in (("window", EARLIER), ("window", TURNS), ("turn", TURNS)))
    running = {entry.turn for entry in reading.waiting[1] if entry.request}
    has_room = reading.limit - reading.published["token_count"] >= NOTE_TOKENS
    present = {each.entry.turn for each in reading.running if each.entry.request}
    is_due = reading.rule("turn") and not limit_units and (rounds or has_room)
    if is_due and rounds != len(running - present) and earlier != len(missing):
        yield GAPS, f"{rounds} earlier tool turns are told of, shown are {len(present)} of {len(running)}"
    if reading.rule("window") is None:
        return
    others = missing - {events.units[turn] for turn in running}
    if not limit_units and earlier != len(missing) and (earlier or (others and has_room)):
        yield GAPS, f"{earlier} messages are told of, missing are {len(missing)}"
    if limit_units and has_room and not len(others - limit_units) <= earlier + turns + rounds:
        yield GAPS, f"{earlier} messages and {turns} and {rounds} turns are told of, missing are {len(missing)}"
    if not limit_units:
        yield from _between(reading, sorted(missing))


def _between(reading: Reading, missing: Sequence[int]) -> Iterator[Fault]:
    for source, displays in (("window", reading.recent), ("turn", reading.running)):
        lines = [line for line in reading.lines(source) if "call" not in line.text or not GAP.fullmatch(line.text)]
        numbers, last = [], 0
        for line in lines:
            match = GAP.fullmatch(line.text)
            if match:
                last = int((match["number"] or "0").replace(",", ""))
            else:
                numbers.append(last)
                last = 0
        if len(numbers) != len(displays):
            return
        for (one, other), number in zip(pairwise(displays), numbers[1:], strict=True):
            between = sum(one.entry.turn < head < other.entry.turn for head in missing)
            if number != between:
                yield GAPS, f"{number} messages are told of before {_name(reading, other.entry)}, missing are {between}"


def unused(reading: Reading) -> Iterator[Fault]:
    """A page that leaves room though something of the conversation is not on it, and no setting asks for that."""
    profile, rule = reading.profile, reading.rule("window")
    asks = profile.target is not None or not profile.fill or profile.on_overflow == "reject" or _is_limited(reading)
    if rule is None or rule.max_share < 1 or asks:
        return
    used = max(reading.published["token_count"], reading.chat_tokens)
    present = {each.entry: each for each in reading.displays}
    waiting = [*reading.waiting[0], *reading.waiting[1]]
    rest = [entry for entry in waiting if entry not in present or not present[entry].is_whole]
    if rest and used < LEAST_USE * reading.limit and reading.limit - used >= MIN_PART_TOKENS + SLACK_TOKENS + LINE_TOKENS:
        yield UNUSED, f"{used} of {reading.limit} tokens are used, and {_name(reading, rest[-1])} is not whole"


def _is_limited(reading: Reading) -> bool:
    window, tools = reading.profile.window, reading.profile.tool_output
    return any(
        limit is not None
        for limit in (window.max_units, window.max_tool_turns, tools.placeholder_after, tools.cut.results, tools.cut.characters)
    )


def _calls_beyond_limits(reading: Reading) -> list[Entry]:
    """Calls that a limit may leave out; all of them where units are limited."""
    calls = [entry for entry in reading.events.conversation if entry.request]
    if reading.profile.window.max_units is not None:
        return calls
    return [entry for entry in calls if entry not in reading.limited]


def _aim(reading: Reading) -> int:
    return min(reading.limit, reading.profile.target or reading.limit)


def _spent(reading: Reading) -> int:
    """Tokens of what goes before: the profile's words, the current message, instructions, pinned sections."""
    names = {rule.name for rule in reading.sections if rule.source in {"pinned", "instructions"}}
    room = max(_aim(reading) - fixed(reading), 0)
    current = min(count_words(reading), int(CURRENT_SHARE * room) + MIN_PART_TOKENS)
    return fixed(reading) + current + sum(int(part["tokens"]) for part in reading.published["sections"] if part["name"] in names)


def _is_dialogue(reading: Reading, row: int) -> bool:
    return reading.events.records[row]["schema_name"] in {"user.message.v1", AGENT} | TOOLS | RESULTS


def _is_answer(reading: Reading, entry: Entry) -> bool:
    return not entry.request and reading.events.records[entry.row]["schema_name"] == AGENT


def _number(reading: Reading, source: str, pattern: re.Pattern[str]) -> int:
    numbers: list[str] = [match["number"] for note in reading.notes(source) for match in pattern.finditer(note)]
    return sum(int(number.replace(",", "")) for number in numbers)


def _name(reading: Reading, entry: Entry) -> str:
    record = reading.events.records[entry.row]
    return f"{record['id']} v{record['version']}{f' call {entry.request}' if entry.request else ''}"
