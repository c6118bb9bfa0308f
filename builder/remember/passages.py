"""Cut a text into passages of about 90 words at sentence and line ends; of a very long text into longer ones."""

import re

from builder.language.sentences import sentences

WORDS = 90
LONGEST = 1200
"""Characters that one passage may have when a text has no ends to cut at (Han, base64, minified code)."""

MAX_PASSAGES = 500
"""About so many at most has a text: the time that one breadcrumb takes to be remembered, embedded and searched is bounded."""

_WORD = re.compile(r"\S+\s*")


def passages(text: str) -> tuple[tuple[int, int], ...]:
    """Spans (start, end) that cover every word of the text in order; one empty span for an empty text."""
    if len(text) <= LONGEST and len(text.split(maxsplit=WORDS)) <= WORDS:
        return ((0, len(text)),)
    words = max(WORDS, -(-len(text.split()) // MAX_PASSAGES))
    longest = max(LONGEST, -(-len(text) // MAX_PASSAGES))
    spans: list[tuple[int, int]] = []
    start, end, count = 0, 0, 0
    for low, high in _sentences(text, words, longest):
        size = len(text[low:high].split())
        if count and (count + size > words or high - start > longest):
            spans.append((start, end))
            count = 0
        start = start if count else low
        end, count = high, count + size
    return (*spans, (start, end))


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
        found = list(_WORD.finditer(text[start : min(stop, start + longest + 1)]))
        cut = stop
        if len(found) > words:
            cut = start + found[words].start()
        elif stop - start > longest:
            cut = start + (found[-1].start() if len(found) > 1 else longest)
        if cut > start:
            pieces.append((start, cut))
        start = cut
    return pieces
