"""How many tokens a conversation needs at most and at least, counted of a rendering of our own."""

import json
from collections.abc import Callable, Iterable

from builder.bench.invariants.events import Entry
from builder.bench.invariants.expected_items import leaves, words_of
from builder.bench.invariants.reader import Reading
from builder.bench.invariants.records import RESULTS, TOOLS, Record, call_of

UPPER_FACTOR, LOWER_FACTOR = 1.03, 0.93
"""Of our count, so that no difference of writing matters."""
EXTRA_TOKENS = 40
FRAME_TOKENS, NOTE_TOKENS = 40, 45
"""Most tokens of a heading, a date and a sign; of all notes."""
DATE_LINE_TOKENS = 10
"""Tokens of a date line."""
HEADING_TOKENS = 12
CHAT_FACTOR, NAME_TOKENS = 1.1, 20
"""Of `messages`, which have other joints, and a name for each message."""


def fits(reading: Reading, entries: Iterable[Entry]) -> bool:
    """Whether these entries certainly have room beside what no page is without."""
    entries = list(entries)
    texts = sum(_ample(entry, reading) for entry in entries)
    tokens = texts + _dates(reading, entries) + fixed(reading) + count_words(reading)
    if reading.profile.chat_format:
        tokens = int(CHAT_FACTOR * tokens) + NAME_TOKENS * (len(entries) + 2)
    tokens += (reading.published or {}).get("picture_tokens") or 0
    return UPPER_FACTOR * tokens + EXTRA_TOKENS <= reading.limit


def _dates(reading: Reading, entries: list[Entry]) -> int:
    """Of a line for each day, by whatever clocks; of one for each entry where times are shown."""
    rule = reading.rule("window")
    if rule and rule.dates == "time":
        return 2 * DATE_LINE_TOKENS * (len(entries) + 1)
    days = {reading.events.records[entry.row]["created_at"][:10] for entry in entries}
    return 3 * DATE_LINE_TOKENS * len(days) if len(days) > 1 else 2 * DATE_LINE_TOKENS


def exceeds(reading: Reading, entries: Iterable[Entry]) -> bool:
    """Whether these entries certainly have no room."""
    return LOWER_FACTOR * sum(_scant(entry, reading) for entry in entries) > reading.limit


def fixed(reading: Reading) -> int:
    """Of headings and what the profile says itself."""
    texts = [reading.profile.system_prompt, *(reminder.text for reminder in reading.profile.reminders)]
    return sum(HEADING_TOKENS + reading.count(f"{text}\n") for text in texts) + 2 * HEADING_TOKENS


def count_words(reading: Reading) -> int:
    """Of the current messages."""
    return sum(DATE_LINE_TOKENS + reading.count(words_of(record)) for record in reading.current)


def ample(entry: Entry, reading: Reading) -> int:
    """Most tokens of one entry."""
    return int(UPPER_FACTOR * _ample(entry, reading))


def _ample(entry: Entry, reading: Reading) -> int:
    record = reading.events.records[entry.row]
    if not entry.request and record["schema_name"] not in TOOLS:
        return NAME_TOKENS + reading.count(words_of(record).replace("\n", "\n  "))
    if record["schema_name"] in RESULTS:
        return NAME_TOKENS + of_result(record, reading.count)
    arguments = json.dumps(call_of(record, entry.request).get("input"), indent=2, ensure_ascii=False)
    results = (reading.events.records[row] for row in entry.results)
    return NAME_TOKENS + reading.count(arguments) + sum(NAME_TOKENS + of_result(result, reading.count) for result in results)


def of_result(record: Record, count: Callable[[str], int]) -> int:
    """Most tokens of a result."""
    body = record["context"]
    value = body.get("error_message", body.get("output"))
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    return count(text.replace("\n", "\n    "))


def _scant(entry: Entry, reading: Reading) -> int:
    record = reading.events.records[entry.row]
    if not entry.request and record["schema_name"] not in TOOLS:
        return reading.count(words_of(record))
    results = (entry.row,) if record["schema_name"] in RESULTS else entry.results
    whole = (row for row in results if not reading.is_placeholder(entry) and not reading.is_limited(row))
    bodies = (reading.events.records[row]["context"] for row in whole)
    values = (body.get("error_message", body.get("output")) for body in bodies)
    return sum(reading.count(" ".join(set(leaves(value)))) for value in values)
