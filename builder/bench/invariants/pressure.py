"""Faults of a page that has no room for all of the conversation: its results, `messages`, and room that nothing uses."""

import json
import re
from collections.abc import Iterator, Sequence

from builder.bench.invariants.estimates import count_words, fixed
from builder.bench.invariants.events import Entry
from builder.bench.invariants.expected_items import Display, words_of
from builder.bench.invariants.finds import MARK
from builder.bench.invariants.reader import FOLD, LIMIT, MIN_PART_TOKENS, MISSING, ORDER, UNUSED, Fault, Reading, missing_units

RESULTS_SHARE, CURRENT_SHARE = 0.6, 0.5
LEAST_USE = 0.85
SLACK_TOKENS = 90
"""Tokens of headings, notes, date lines, and the differences of counting."""
PART_TOKENS = 320
"""Most tokens of the short form of a message with its label."""
LINE_TOKENS = 110
"""Most tokens of a call with a line for its result."""
CALL = re.compile(r'"tool_calls"|"type": "(tool_use|function_call)"')
ITEM_ROLES = {"function_call": "assistant", "function_call_output": "tool"}
"""Role of the items of OpenAI's Responses that say none."""


def under_pressure(reading: Reading) -> Iterator[Fault]:
    """Everything that is wrong with it."""
    yield from _triggering(reading, {each.entry: each for each in reading.displays})
    yield from _in_messages(reading)
    yield from _shares(reading)
    yield from _unused(reading)


def _triggering(reading: Reading, present: dict[Entry, Display]) -> Iterator[Fault]:
    """The results that triggered have room, before everything that is older."""
    rest = reading.limit - _spent(reading) - SLACK_TOKENS
    each = RESULTS_SHARE * rest / max(sum(len(entry.results) or 1 for entry in reading.turn), 1)
    for entry in reading.turn:
        if entry not in present and each >= 2 * LINE_TOKENS:
            yield MISSING, f"{_name(reading, entry)} triggered and is not on the page"
        for row, state in present[entry].states if entry in present else ():
            is_line = state == "line" and not reading.is_placeholder(entry)
            if is_line and each >= 4 * LINE_TOKENS:
                yield FOLD, f"{reading.events.records[row]['id']} triggered and is one line"


def _in_messages(reading: Reading) -> Iterator[Fault]:
    """Where the question and the results that triggered are in `messages`: the one before its calls, the others last."""
    chat = _chat(reading)
    has_calls = any(entry.request and entry.results for entry in reading.turn)
    has_results = any(each.entry in reading.turn and each.states[1:] for each in reading.displays_of("turn"))
    if not (chat and has_calls and has_results):
        return
    first = min(entry.turn for entry in reading.turn)
    are_before = [question.turn < first for question in reading.questions]
    if any(are_before) and all(reading.current_states) and not _asks_before_calls(chat, words_of(reading.current[0])):
        yield MISSING, "the question is not in messages before its calls"
    if all(are_before) and chat[-1][0] != "tool" and '"type": "tool_result"' not in chat[-1][1]:
        yield ORDER, "messages do not end with the results that triggered"


def _chat(reading: Reading) -> list[tuple[str, str]]:
    """Role and JSON of each message."""
    messages = reading.published.get("messages") or ()
    return [(message.get("role") or ITEM_ROLES[message["type"]], json.dumps(message, ensure_ascii=False)) for message in messages]


def _asks_before_calls(chat: Sequence[tuple[str, str]], question: str) -> bool:
    """Whether the question is in a message before the last calls. chat: role and JSON of each message."""
    marks = MARK.findall(question)
    if not marks:
        return True
    places = (number for number, (_, text) in enumerate(chat) if any(mark in text for mark in marks))
    place = next(places, len(chat))  # a cut keeps any sentences of it
    calls = (number for number, (role, text) in enumerate(chat) if role == "assistant" and CALL.search(text))
    return place < max(calls, default=-1)


def _shares(reading: Reading) -> Iterator[Fault]:
    """A section has no more than its largest share, and leaves the other one the share that only that may spend."""
    tokens = {part["name"]: int(part["tokens"]) for part in reading.published["sections"]}
    rules = [rule for rule in (reading.rule("window"), reading.rule("retrieval")) if rule and rule.name in tokens]
    if not missing_units(reading)[0] or reading.profile.on_overflow == "reject":
        return
    for rule in rules:
        others = 0.0 if reading.is_one else sum(other.min_share for other in rules if other is not rule)
        most = int(rule.max_share * reading.limit)
        share = min(most, int((1 - others) * reading.limit)) + SLACK_TOKENS
        if tokens[rule.name] > share:
            yield LIMIT, f"the section {rule.name} has {tokens[rule.name]} tokens, its share are {share}"


def _unused(reading: Reading) -> Iterator[Fault]:
    """A page that leaves room though messages are not on it, and no setting asks for that."""
    profile, rules = reading.profile, [reading.rule("window"), reading.rule("retrieval")]
    asks = profile.worth is not None or not profile.fill or profile.on_overflow == "reject" or _is_limited(reading)
    if rules[0] is None or asks or any(rule and (rule.max_share < 1 or rule.min_share) for rule in rules):
        return
    missing, number = missing_units(reading)
    used = reading.used
    if missing and used < LEAST_USE * reading.limit and reading.limit - used >= PART_TOKENS + SLACK_TOKENS:
        yield UNUSED, f"{used} of {reading.limit} tokens are used, and {len(missing)} of {number} messages are missing"


def _is_limited(reading: Reading) -> bool:
    window = reading.profile.window
    return window.max_units is not None or window.max_tool_turns is not None


def _spent(reading: Reading) -> int:
    """Tokens of what goes before: the profile's words, the current message, instructions, pinned sections."""
    names = {rule.name for rule in reading.sections if rule.source in {"pinned", "instructions"}}
    room = max(reading.limit - fixed(reading), 0)
    current = min(count_words(reading), int(CURRENT_SHARE * room) + MIN_PART_TOKENS)
    return fixed(reading) + current + sum(int(part["tokens"]) for part in reading.published["sections"] if part["name"] in names)


def _name(reading: Reading, entry: Entry) -> str:
    record = reading.events.records[entry.row]
    return f"{record['id']} v{record['version']}{f' call {entry.request}' if entry.request else ''}"
