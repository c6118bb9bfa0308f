"""Cut a rendered text to a number of tokens, with a note of what was left out.

No cut splits a grapheme cluster or a row of a table, and a code fence that a cut left open is closed.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import regex

from builder.assemble.items.list_items import INSIDE, ITEM
from builder.domain.control_text import visible
from builder.domain.phrases import Mark

CHARACTERS_PER_TOKEN = 16
"""No encoding packs ordinary text tighter; longer texts are cut without a count."""
SAMPLE_CHARS_PER_TOKEN = 4
"""Of a text's beginning, per allowed token, for an estimate of its characters per token."""
LINE_END_CHARS = 120
"""Within these the end of a line is the better place for a cut."""
SPACE_CHARS = 40
"""Within these white space is."""
CLUSTER_CHARS = 512
"""Searched backwards for white space, from which the clusters of the stretch are read."""

_BOUNDARY = regex.compile(r"\s(?![\p{M}\u200d])")
_GRAPHEME = regex.compile(r"\X")
_FLAG = regex.compile(r"\p{Regional_Indicator}")
_FENCE = re.compile(r"(?P<indent>[ \t]*(?:- )?)(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_ROW = re.compile(r"\s*\|")
_BARE_BULLET = re.compile(r"(?:^|\n) *- *$")


def shorten(text: str, tokens: int, count: Callable[[str], int], mark: Mark) -> str:
    """The items if they have at most `tokens` (line end counted), else two thirds of that from their head, one from their tail.

    Cuts at white space where there is any near. mark: characters that are missing → what stands between the two. Gives an empty
    string when not even the mark fits.
    """
    if len(text) <= tokens * CHARACTERS_PER_TOKEN and count(text + "\n") <= tokens:
        return text
    low, high, best = 0, min(len(text), tokens * CHARACTERS_PER_TOKEN), ""
    guesses = _guesses(text, tokens, count)
    while low <= high:
        # Near the guess few counts are enough, none of them of a text that is much too long.
        middle = next((guess for guess in guesses if low < guess < high), (low + high) // 2)
        candidate = _cut(text, middle, mark, ITEM, INSIDE)
        if count(candidate + "\n") <= tokens:
            best, low = candidate, middle + 1
        else:
            high = middle - 1
    return best


def _guesses(text: str, tokens: int, count: Callable[[str], int]) -> Iterator[int]:
    """Estimates of the characters of `tokens` tokens by the text's beginning, one a little above and one a little below."""
    sample = text[: tokens * SAMPLE_CHARS_PER_TOKEN]
    guess = tokens * len(sample) // max(count(sample), 1)
    return iter((guess + guess // 8, guess - guess // 8))


def trimmed(text: str, characters: int, mark: Mark) -> str:
    """The text if it has at most `characters`, else about that much of its head and tail, marked as by `shorten`.

    It is no item yet.
    """
    return text if len(text) <= characters else _cut(text, characters, mark, "", "")


def clip(text: str, characters: int) -> str:
    """The text if it has at most `characters`, else its beginning and an ellipsis of that length."""
    if len(text) <= characters:
        return text
    return text[: _back(text, max(characters - 2, 0))].rstrip() + " …"


def _cut(text: str, kept_chars: int, mark: Mark, item: str, inside: str) -> str:
    """item, inside: the text in front of the mark without a head, and with one."""
    start = _out_of_bullet(text, _out_of_row(text, _back(text, 2 * kept_chars // 3), at_end=False))
    end = _out_of_row(text, _forward(text, len(text) - kept_chars // 3), at_end=True)
    line = text.rfind("\n", 0, end) + 1
    whole = line > start and not text[line:end].strip()
    head, tail = text[:start].rstrip(), (text[line:].rstrip() if whole else text[end:].strip())
    shut, again = _open_fence(text[:start]), _open_fence(text[:end]) if tail else NO_FENCE
    # A whole line stays one; a part of a line goes behind the mark, because at a line's start it might open something.
    opening = "\n" if whole else " "
    if again.marks:
        opening = f"\n{again.indent}{again.marks}{again.info}\n{'' if whole else again.indent}"
    closed = (head, shut.indent + shut.marks) if head and shut.marks else (head,) if head else ()
    # A cut may leave a control token that was none in its place.
    return visible("\n".join((*closed, (inside if head else item) + f"{mark(end - start)}{opening}{tail}".rstrip())))


@dataclass(frozen=True, slots=True)
class _Fence:
    """The line that opened a code fence."""

    indent: str
    """At least what keeps it inside the fragment."""
    marks: str
    info: str


NO_FENCE = _Fence("", "", "")


def _open_fence(text: str) -> _Fence:
    """The code fence that is still open where the text ends."""
    if "```" not in text and "~~~" not in text:
        return NO_FENCE
    opened = NO_FENCE
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        marks, info = fence["marks"], fence["info"].rstrip()
        if opened.marks and not info and marks.startswith(opened.marks):
            opened = NO_FENCE
        elif not opened.marks and not (marks[0] == "`" and "`" in info):
            opened = _Fence(fence["indent"].replace("-", " "), marks, info)
    return opened


def _out_of_bullet(text: str, position: int) -> int:
    """The position, moved in front of a bullet that would stand alone in its line."""
    start = max(text.rfind("\n", 0, position), 0)
    return start if _BARE_BULLET.fullmatch(text, start, position) else position


def _out_of_row(text: str, position: int, *, at_end: bool) -> int:
    """The position, moved to the beginning or the end of the table row that it would split."""
    start = text.rfind("\n", 0, position) + 1
    if start == position or not _ROW.match(text, start):
        return position
    stop = text.find("\n", position)
    return start if not at_end else len(text) if stop < 0 else stop + 1


def _back(text: str, position: int) -> int:
    if (line := text.rfind("\n", max(position - LINE_END_CHARS, 0), position)) >= 0:
        return line
    for space in range(position, max(position - SPACE_CHARS, 0), -1):
        if _BOUNDARY.match(text, space):
            return space
    return _edges(text, position)[0]


def _forward(text: str, position: int) -> int:
    if (line := text.find("\n", position, position + LINE_END_CHARS)) >= 0:
        return line + 1
    match = _BOUNDARY.search(text, position, min(position + SPACE_CHARS, len(text)))
    return match.end() if match else _edges(text, position)[1]


def _edges(text: str, position: int) -> tuple[int, int]:
    """Where the grapheme cluster begins and ends that the position would split; the position itself when it splits none."""
    if not 0 < position < len(text):
        return position, position
    earliest = max(position - CLUSTER_CHARS, 0)
    start = next((at for at in range(position - 1, earliest, -1) if text[at].isspace()), earliest)
    while start > 0 and _FLAG.match(text, start):
        start -= 1
    for cluster in _GRAPHEME.finditer(text, start):
        if cluster.end() > position:
            return (position, position) if cluster.start() == position else cluster.span()
    return position, position
