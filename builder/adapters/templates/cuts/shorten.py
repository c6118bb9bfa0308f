"""Cut a rendered text to a number of tokens, with a note of what was left out.

No cut splits a grapheme cluster or a row of a table, and a code fence that a cut left open is closed.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter

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
"""Searched backwards for white space, from which the clusters of the stretch are read; as much is read beyond the position."""

_BOUNDARY = regex.compile(r"\s(?![\p{M}\u200d])")
_GRAPHEME = regex.compile(r"\X")
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Two of them make a flag, counted from the beginning of their row."""
_FENCE = re.compile(r"^(?P<indent>[ \t]*(?:- )?)(?P<marks>`{3,}|~{3,})(?P<info>.*)", re.MULTILINE)
_ROW = re.compile(r"\s*\|")
_BARE_BULLET = re.compile(r"(?:^|\n) *- *$")


def shorten(text: str, tokens: int, count: Callable[[str], int], mark: Mark) -> str:
    """The items if they have at most `tokens` (line end counted), else two thirds of that from their head, one from their tail.

    Cuts at white space where there is any near. mark: characters that are missing → what stands between the two. Gives an empty
    string when not even the mark fits.
    """
    longest = tokens * CHARACTERS_PER_TOKEN

    def fits(candidate: str) -> bool:
        return len(candidate) <= longest and count(candidate + "\n") <= tokens

    if fits(text):
        return text
    low, high, best = 0, min(len(text), longest), ""
    guesses, fences = _guesses(text, tokens, count), _fences(text)
    while low <= high:
        # Near the guess few counts are enough, none of them of a text that is much too long.
        middle = next((guess for guess in guesses if low < guess < high), (low + high) // 2)
        candidate = _cut(text, fences, middle, mark, ITEM, INSIDE)
        if fits(candidate):
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
    return text if len(text) <= characters else _cut(text, _fences(text), characters, mark, "", "")


def clip(text: str, characters: int) -> str:
    """The text if it has at most `characters`, else its beginning and an ellipsis of that length."""
    if len(text) <= characters:
        return text
    return text[: _back(text, max(characters - 2, 0))].rstrip() + " …"


def _cut(text: str, fences: "_Fences", kept_chars: int, mark: Mark, item: str, inside: str) -> str:
    """item, inside: the text in front of the mark without a head, and with one."""
    start = _out_of_bullet(text, _out_of_row(text, _back(text, 2 * kept_chars // 3), at_end=False))
    end = _out_of_row(text, _forward(text, len(text) - kept_chars // 3), at_end=True)
    line = text.rfind("\n", 0, end) + 1
    whole = line > start and not text[line:end].strip()
    head, tail = text[:start].rstrip(), (text[line:].rstrip() if whole else text[end:].strip())
    shut, again = _open_fence(text, fences, start), _open_fence(text, fences, end) if tail else NO_FENCE
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
_Fences = list[tuple[int, _Fence]]
"""End of a line that opens or closes a code fence → the fence that is open behind it, in order."""


def _fences(text: str) -> _Fences:
    """Read once a text, because each of its cuts asks for them."""
    fences = [(-1, NO_FENCE)]
    for line in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if (after := _after_line(fences[-1][1], line)) is not fences[-1][1]:
            fences.append((line.end(), after))
    return fences


def _open_fence(text: str, fences: _Fences, position: int) -> _Fence:
    """The code fence that is still open in front of a position."""
    start = text.rfind("\n", 0, position) + 1
    opened = fences[bisect_left(fences, start, key=itemgetter(0)) - 1][1]
    line = _FENCE.match(text, start, position)
    return _after_line(opened, line) if line else opened


def _after_line(opened: _Fence, line: re.Match[str]) -> _Fence:
    marks, info = line["marks"], line["info"].rstrip()
    if opened.marks and not info and marks.startswith(opened.marks):
        return NO_FENCE
    if not opened.marks and not (marks[0] == "`" and "`" in info):
        return _Fence(line["indent"].replace("-", " "), marks, info)
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
    if text[start] in _FLAG_LETTERS:
        start -= (start - len(text[:start].rstrip(_FLAG_LETTERS))) % 2
    # Only a slice: the expression looks back to the beginning of what it is given, at every character of a row of flags.
    for cluster in _GRAPHEME.finditer(text[start : position + CLUSTER_CHARS]):
        begin, end = start + cluster.start(), start + cluster.end()
        if end > position:
            return (position, position) if begin == position else (begin, end)
    return position, position
