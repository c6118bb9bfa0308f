"""Cut a rendered text to a number of tokens, with a note of what was left out (features B11)."""

import re
from collections.abc import Callable

from builder.pipeline.words import MARKS

CHARACTERS_PER_TOKEN = 16
"""No encoding packs ordinary text tighter; more characters than this per allowed token are never even counted."""

_BOUNDARY = re.compile(r"\s")
_FLAG = "[\U0001f1e6-\U0001f1ff]"
_JOINER = re.compile(
    f"[{MARKS}\u200d\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]|(?<=\u200d).|(?<={_FLAG}){_FLAG}", re.DOTALL
)
"""A character that belongs to the one in front of it."""


def shorten(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The text if it has at most `tokens` (its line end counted), else two thirds of that from its head, one from its tail.

    Cuts at white space where there is any near, never inside a grapheme's joined marks. The note says how many characters
    are missing. Gives an empty string when not even the note fits.
    """
    if len(text) <= tokens * CHARACTERS_PER_TOKEN and count(text + "\n") <= tokens:
        return text
    low, high, best = 0, min(len(text), tokens * CHARACTERS_PER_TOKEN), ""
    while low <= high:
        middle = (low + high) // 2
        candidate = _cut(text, middle)
        if count(candidate + "\n") <= tokens:
            best, low = candidate, middle + 1
        else:
            high = middle - 1
    return best


def _cut(text: str, kept: int) -> str:
    head = _back(text, 2 * kept // 3)
    tail = _forward(text, len(text) - kept // 3)
    line = text.rfind("\n", 0, tail) + 1
    whole = line > head and not text[line:tail].strip()
    note = f"[… {tail - head:,} characters left out …]"
    # A whole line stays one; what was cut out of one goes behind the note, because at a line's start it might open something.
    end = f"{note}\n{text[line:].rstrip()}" if whole else f"{note} {text[tail:].strip()}"
    return "\n    ".join(filter(None, (text[:head].rstrip(), end.rstrip())))


def _back(text: str, position: int) -> int:
    for space in range(position, max(position - 40, 0), -1):
        if _BOUNDARY.match(text, space):
            return space
    while 0 < position < len(text) and _JOINER.match(text, position):
        position -= 1
    return position


def _forward(text: str, position: int) -> int:
    match = _BOUNDARY.search(text, position, min(position + 40, len(text)))
    if match:
        return match.end()
    while position < len(text) and _JOINER.match(text, position):
        position += 1
    return position
