"""Cut a rendered text to a number of tokens, with a mark.

No cut splits a cluster or a table row; open code fences are closed.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

from builder.adapters.templates.cuts.passages import Span, back, forward, nearest
from builder.assemble.items.list_items import INSIDE, ITEM
from builder.domain.control_text import visible
from builder.domain.phrases import Mark

CHARACTERS_PER_TOKEN = 16
"""Upper bound, in any encoding."""
SAMPLE_CHARS_PER_TOKEN = 4
"""To estimate characters per token."""
PASSES = 4
"""Times that head and tail take the room of passages that they show."""
GAP_CHARS = 40
"""About the length of a mark."""
MIN_CHARS, MAX_CHARS = 32, 512

_FENCE = re.compile(r"^(?P<indent>[ \t]*(?:- )?)(?P<marks>`{3,}|~{3,})(?P<info>.*)", re.MULTILINE)
_ROW = re.compile(r"\s*\|")
_LABEL = re.compile(r"- [^\n:]*:")
_BARE_BULLET = re.compile(r"(?:^|\n) *- *$")


def shorten(text: str, tokens: int, count: Callable[[str], int], mark: Mark, more: Mark | None = None, question: str = "") -> str:
    """The items, or their ends and passages nearest to the question, in `tokens` tokens; "" when not even the mark fits.

    What no passage takes goes two thirds to the head, one third to the tail. mark: number of missing characters → text; more:
    the same for later gaps, default `mark`.
    """
    longest = tokens * CHARACTERS_PER_TOKEN

    def fits(candidate: str) -> bool:
        return len(candidate) <= longest and count(candidate + "\n") <= tokens

    if fits(text):
        return text
    low, high, best = 0, min(len(text), longest), ""
    guess, fences = _guess(text, tokens, count), _fences(text)
    passages = nearest(text, question, min(max(guess // 2 // MIN_CHARS * MIN_CHARS, MIN_CHARS), MAX_CHARS))
    guesses = iter((guess + guess // 8, guess - guess // 8))
    while low <= high:
        # Near the guess few counts are enough, none of them of a text that is much too long.
        middle = next((guess for guess in guesses if low < guess < high), (low + high) // 2)
        candidate = _cut(text, fences, _parts(text, middle, passages), (mark, more or mark), (ITEM, INSIDE))
        if fits(candidate):
            best, low = candidate, middle + 1
        else:
            high = middle - 1
    return best


def _guess(text: str, tokens: int, count: Callable[[str], int]) -> int:
    sample = text[: tokens * SAMPLE_CHARS_PER_TOKEN]
    return tokens * len(sample) // max(count(sample), 1)


def trimmed(text: str, characters: int, mark: Mark) -> str:
    """The text, or about `characters` of head and tail with a mark; not an item yet."""
    return text if len(text) <= characters else _cut(text, _fences(text), _parts(text, characters), (mark, mark), ("", ""))


def _parts(text: str, characters: int, passages: tuple[Span, ...] = ()) -> list[Span]:
    room = characters // 2
    near = list[Span]()
    for start, end in passages:
        cost = end - start + GAP_CHARS
        if cost <= (room if near else 2 * characters // 3):
            near.append((start, end))
            room -= cost
    head, tail, inner = _ends(text, characters, near)
    for _ in range(PASSES):  # what the ends show needs no room of its own
        head, tail, inner = _ends(text, characters, inner)
    parts = [(0, head)]
    for start, end in (*((start, min(end, tail)) for start, end in inner), (tail, len(text))):
        if text[parts[-1][1] : start].strip():
            parts.append((start, end))
        else:
            parts[-1] = (parts[-1][0], end)
    return parts


def _ends(text: str, characters: int, near: list[Span]) -> tuple[int, int, list[Span]]:
    rest = characters - sum(end - start + GAP_CHARS for start, end in near)
    head = _out_of_bullet(text, _out_of_row(text, back(text, max(2 * rest // 3, 0)), at_end=False))
    head = max(head, label.end() if (label := _LABEL.match(text)) else 0)
    tail = max(_out_of_row(text, forward(text, len(text) - max(rest // 3, 0)), at_end=True), head)
    at_ends = {line.strip() for line in f"{text[:head]}\n{text[tail:]}".split("\n")}
    inner = [span for span in sorted(near) if head < span[1] and span[0] < tail and text[slice(*span)].strip() not in at_ends]
    return head, tail, inner


def _cut(text: str, fences: "_Fences", parts: list[Span], marks: tuple[Mark, Mark], margins: tuple[str, str]) -> str:
    (_, stop), *others = parts
    head = text[:stop].rstrip()
    lines, end = [head] if head else [], len(head)
    shut = _open_fence(text, fences, stop) if head else NO_FENCE
    for number, (start, stop) in enumerate(others):
        lines += [shut.indent + shut.marks] if shut.marks else []
        line = max(text.rfind("\n", 0, start) + 1, end)
        whole = (not line or text[line - 1] == "\n") and not text[line:start].strip()
        tail = text[line:stop].rstrip() if whole else text[start:stop].strip()
        begin = line + len(margins[1]) * text.startswith(margins[1], line) if whole else stop - len(text[start:stop].lstrip())
        again = _open_fence(text, fences, start) if tail else NO_FENCE
        # A whole line stays one; a part of a line goes after the mark, because at a line's start it might open something.
        opening = "\n" if whole else " "
        if again.marks:
            opening = f"\n{again.indent}{again.marks}{again.info}\n{'' if whole else again.indent}"
        left_out = begin - end - len(margins[1]) * text.count(f"\n{margins[1]}", end, begin)
        lines.append(f"{margins[bool(lines)]}{marks[number > 0](left_out)}{opening}{tail}".rstrip())
        shut, end = _open_fence(text, fences, stop), start + len(text[start:stop].rstrip())
    # A cut may leave a control token that was none in its place.
    return visible("\n".join(lines))


@dataclass(frozen=True, slots=True)
class _Fence:
    """The line that opened a code fence."""

    indent: str
    marks: str
    info: str


NO_FENCE = _Fence("", "", "")
_Fences = list[tuple[int, _Fence]]


def _fences(text: str) -> _Fences:
    fences = [(-1, NO_FENCE)]
    for line in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if (after := _after_line(fences[-1][1], line)) is not fences[-1][1]:
            fences.append((line.end(), after))
    return fences


def _open_fence(text: str, fences: _Fences, position: int) -> _Fence:
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
    start = max(text.rfind("\n", 0, position), 0)
    return start if _BARE_BULLET.fullmatch(text, start, position) else position


def _out_of_row(text: str, position: int, *, at_end: bool) -> int:
    start = text.rfind("\n", 0, position) + 1
    if start == position or text.startswith("\n", position) or not _ROW.match(text, start):
        return position
    stop = text.find("\n", position)
    return start if not at_end else len(text) if stop < 0 else stop + 1
