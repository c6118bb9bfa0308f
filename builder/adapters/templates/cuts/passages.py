"""Positions where a text may be cut, and its passages nearest to a question.

Case, accents, endings and the marks of identifiers do not matter; scripts without spaces compare pairs of letters; rare words
count most.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from math import ceil, fsum, log

import regex

from builder.language.sentences import sentences

LINE_END_CHARS = 120
"""A cut moves to a line end within this distance."""
SPACE_CHARS = 40
"""The same for white space."""
CLUSTER_CHARS = 512
_BOUNDARY = regex.compile(r"\s(?![\p{M}\u200d])")
_GRAPHEME = regex.compile(r"\X")
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def clip(text: str, characters: int) -> str:
    """The text, or its first `characters` - 1 and an ellipsis."""
    if len(text) <= characters:
        return text
    return text[: back(text, max(characters - 2, 0))].rstrip() + " …"


def back(text: str, position: int) -> int:
    """The position, or a better one shortly before it."""
    if (line := text.rfind("\n", max(position - LINE_END_CHARS, 0), position)) >= 0:
        return line
    for space in range(position, max(position - SPACE_CHARS, 0), -1):
        if _BOUNDARY.match(text, space):
            return space
    return edges(text, position)[0]


def forward(text: str, position: int) -> int:
    """The position, or a better one shortly after it."""
    if (line := text.find("\n", position, position + LINE_END_CHARS)) >= 0:
        return line + 1
    match = _BOUNDARY.search(text, position, min(position + SPACE_CHARS, len(text)))
    return match.end() if match else edges(text, position)[1]


def edges(text: str, position: int) -> tuple[int, int]:
    """Ends of the grapheme cluster that the position splits; twice the position if none."""
    around = text[position - 1 : position + 1] if 0 < position < len(text) else ""
    if around.isascii() and around != "\r\n":  # no cluster joins two other characters of ASCII
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


QUESTION_CHARS = 400
"""Read at each end."""
MIN_SHARE = 0.25
"""Share of the best score."""
STEM_CHARS, STEM_SHARE, MAX_ENDING_CHARS = 3, 0.75, 2
"""Least common beginning of two forms; most difference in length of short ones."""
WEIGHTY_CHARS = 6
"""Longer words weigh no more."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"(?V1)[{_UNSPACED}]+|\p{{Nd}}+|\p{{Lu}}?[[\p{{L}}\p{{M}}]--[\p{{Lu}}{_UNSPACED}]]+|\p{{Lu}}+(?!\p{{Ll}})")
_PAIRED = regex.compile(f"[{_UNSPACED}]")
_MARKS = regex.compile(r"\p{Mn}+")
_LINE = re.compile(r"[^\n]+")
_ROW = re.compile(r"\s*(?:- )?\|")
_CLAUSE = regex.compile(r".*[\s\p{Po}\p{Pe}](?!\d|\p{M}|\u200d)", regex.DOTALL)
_ENTRY = re.compile(r"\W*(?:\d{4}-\d\d-\d\d|\d\d?:\d\d:\d\d|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)")
_ERROR = re.compile(
    r"\b(?:error|errors|fatal|critical|panic|exception|traceback|failed|failure)\b|(?:Error|Exception)\b", re.IGNORECASE
)
ERROR = "\0error"
"""Stands for the words of errors, which every log is asked for."""

Span = tuple[int, int]


@lru_cache(maxsize=8)
def nearest(text: str, question: str, most: int) -> tuple[Span, ...]:
    """Near passages of at most `most` characters, nearest first, without repetitions; errors of a log too.

    A passage is a line, or a part of a long one; table rows stay whole.
    """
    query = _query(
        question if len(question) <= 2 * QUESTION_CHARS else f"{question[:QUESTION_CHARS]} {question[-QUESTION_CHARS:]}"
    )
    is_log = _is_log(text)
    if not query and not is_log:
        return ()
    spans = list(_passages(text, most))
    words: dict[str, dict[str, float]] = {}
    matches = []
    for start, end in spans:
        matches.append(_matches(text[start:end], query, words))
        if is_log and _ERROR.search(text, start, end):
            matches[-1][ERROR] = 1.0
    scores = _scores(matches)
    least = MIN_SHARE * max(scores, default=0)
    near = [number for number, score in enumerate(scores) if score and score >= least]
    near.sort(key=scores.__getitem__, reverse=True)
    return tuple({text[slice(*spans[number])].strip(): spans[number] for number in reversed(near)}.values())[::-1]


def _is_log(text: str) -> bool:
    lines = _LINE.findall(text)
    return 2 * sum(_ENTRY.match(line) is not None for line in lines) >= max(len(lines), 4)


def _scores(matches: list[dict[str, float]]) -> list[float]:
    numbers = Counter(key for match in matches for key in match)
    weights = {key: log(1 + len(matches) / number) for key, number in numbers.items()}
    return [fsum(likeness * weights[key] * _weight(key) for key, likeness in match.items()) for match in matches]


def _weight(key: str) -> float:
    return 1.0 if key.isdigit() else min(len(key), WEIGHTY_CHARS) / WEIGHTY_CHARS


def _keys(word: str) -> Iterable[str]:
    if _PAIRED.match(word):
        return map("".join, pairwise(word)) if len(word) > 1 else (word,)
    return (_MARKS.sub("", unicodedata.normalize("NFKD", word)).casefold(),)


def _query(question: str) -> dict[str, list[str]]:
    query: dict[str, list[str]] = defaultdict(list)
    for key in dict.fromkeys(key for word in _WORD.findall(question) for key in _keys(word)):
        query[key[:STEM_CHARS]].append(key)
    return query


def _matches(passage: str, query: dict[str, list[str]], words: dict[str, dict[str, float]]) -> dict[str, float]:
    match: dict[str, float] = {}
    for word in set(_WORD.findall(passage)):
        if word not in words:
            words[word] = {
                other: like for key in _keys(word) for other in query.get(key[:STEM_CHARS], ()) if (like := _likeness(key, other))
            }
        for other, like in words[word].items():
            match[other] = max(like, match.get(other, 0))
    return match


def _likeness(one: str, other: str) -> float:
    short, long = sorted((one, other), key=len)
    stem = max(STEM_CHARS, ceil(STEM_SHARE * len(short)))
    is_form = short[:stem] == long[:stem] and (len(short) > STEM_CHARS + 1 or len(long) - len(short) <= MAX_ENDING_CHARS)
    return 1.0 if one == other else 0.5 * (is_form and not one[0].isdigit())


def _passages(text: str, most: int) -> Iterator[Span]:
    for line in _LINE.finditer(text):
        if line.end() - line.start() <= most or _ROW.match(line[0]):
            yield line.span()
            continue
        for start, end in sentences(line[0]):
            yield from _pieces(text, line.start() + start, line.start() + end, most)


def _pieces(text: str, start: int, end: int, most: int) -> Iterator[Span]:
    while end - start > most:
        clause = _CLAUSE.match(text, start + most // 2, start + most)
        stop = clause.end() if clause else edges(text, start + most)[1]
        yield start, stop
        start = stop
    yield start, end
