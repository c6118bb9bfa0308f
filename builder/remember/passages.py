"""Cut a text into passages of about 90 words at sentence and line ends; logs into lines, a very long text into longer ones."""

import re

from builder.language.sentences import sentences

PASSAGE_WORDS, LOG_WORDS = 90, 12
LOG_LINES = 8
"""Lines from which on a text may be a log."""
MAX_PASSAGE_CHARS = 1200
"""Of a passage in a text without ends to cut at (Han, base64, minified code)."""
MAX_PASSAGES = 500
"""About the most passages of a text: it bounds the time to remember, embed and search one breadcrumb."""

_LOG_LINE = re.compile(
    r"^[^\w\n]*(?:\d{4}-\d\d-\d\d|\d\d?:\d\d:\d\d|[A-Z][a-z]{2} +\d\d? \d\d:\d\d"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)",
    re.MULTILINE,
)
_WORD = re.compile(r"\S+\s*")


def passages(text: str) -> tuple[tuple[int, int], ...]:
    """Spans (start, end) that cover every word of the text in order; one empty span for an empty text."""
    most = LOG_WORDS if is_log(text) else PASSAGE_WORDS
    if len(text) <= MAX_PASSAGE_CHARS and len(text.split(maxsplit=most)) <= most:
        return ((0, len(text)),)
    words = max(most, -(-len(text.split()) // MAX_PASSAGES))
    longest = max(MAX_PASSAGE_CHARS, -(-len(text) // MAX_PASSAGES))
    spans: list[tuple[int, int]] = []
    start, end, count = 0, 0, 0
    for low, high in _sentences(text, max(words, PASSAGE_WORDS), longest):  # a line of a log stays in one
        size = len(text[low:high].split())
        if count and (count + size > words or high - start > longest):
            spans.append((start, end))
            count = 0
        start = start if count else low
        end, count = high, count + size
    return (*spans, (start, end))


def is_log(text: str) -> bool:
    """Whether half of its lines begin with a time or a level: one line of them matters, and the others say something else."""
    lines = text.count("\n") + 1
    return lines >= LOG_LINES and 2 * sum(1 for _ in _LOG_LINE.finditer(text)) >= lines


def lines(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of its lines, one empty span for an empty text."""
    ends = [position for position, sign in enumerate(text) if sign == "\n"]
    return tuple(zip((0, *(end + 1 for end in ends)), (*ends, len(text)), strict=True))


def _sentences(text: str, words: int, longest: int) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    start = 0
    for _, stop in sentences(text):
        pieces.extend(_short(text, start, stop, words, longest))
        start = stop
    return pieces


def _short(text: str, start: int, stop: int, words: int, longest: int) -> list[tuple[int, int]]:
    """A sentence as it is, or cut at spaces when it is longer than a passage may be."""
    pieces: list[tuple[int, int]] = []
    while start < stop:
        start = stop - len(text[start:stop].lstrip())
        if stop - start <= min(longest, 2 * words - 1):  # too short for more words
            return [*pieces, (start, stop)] if start < stop else pieces
        matches = list(_WORD.finditer(text[start : min(stop, start + longest + 1)]))
        cut = stop
        if len(matches) > words:
            cut = start + matches[words].start()
        elif stop - start > longest:
            cut = start + (matches[-1].start() if len(matches) > 1 else longest)
        if cut > start:
            pieces.append((start, cut))
        start = cut
    return pieces
