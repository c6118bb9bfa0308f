"""Cut a text into passages of about 90 words at sentence and line ends (`reference/retrieval.md` §6)."""

import re

WORDS = 90
LONGEST = 1200
"""Characters that one passage may have when a text has no ends to cut at (Han, base64, minified code)."""

_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def passages(text: str) -> tuple[tuple[int, int], ...]:
    """Spans (start, end) that cover every word of the text in order; one empty span for an empty text."""
    if len(text) <= LONGEST and len(text.split(maxsplit=WORDS)) <= WORDS:
        return ((0, len(text)),)
    spans: list[tuple[int, int]] = []
    start, end, words = 0, 0, 0
    for low, high in _sentences(text):
        size = len(text[low:high].split())
        if words and (words + size > WORDS or high - start > LONGEST):
            spans.append((start, end))
            words = 0
        start = start if words else low
        end, words = high, words + size
    return (*spans, (start, end))


def _sentences(text: str) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    start = 0
    for stop in [*(match.start() for match in _END.finditer(text)), len(text)]:
        pieces.extend(_short(text, start, stop))
        start = stop
    return pieces


def _short(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """A sentence as it is, or cut at spaces when it is longer than a passage may be."""
    pieces = []
    while start < stop:
        while start < stop and text[start].isspace():
            start += 1
        words = list(re.finditer(r"\S+\s*", text[start : min(stop, start + LONGEST + 1)]))
        cut = stop
        if len(words) > WORDS:
            cut = start + words[WORDS].start()
        elif stop - start > LONGEST:
            cut = start + (words[-1].start() if len(words) > 1 else LONGEST)
        if cut > start:
            pieces.append((start, cut))
        start = cut
    return pieces
