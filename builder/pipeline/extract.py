"""The extractive summariser: the sentences that tell most in a number of tokens, by words and stored vectors, in any language.

Weighted coverage: a sentence is worth the rare words that nothing chosen has said yet, more when it names or counts something,
less when its passage is near to a chosen one. Nothing is embedded.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from builder.domain.summary import Line
from builder.pipeline.traits import counts
from builder.pipeline.view import View
from builder.pipeline.words import is_filler, words_of

NAMED, CALLED_OUT, ATTACHED = 3.0, 0.5, 0.5
"""What a name or number multiplies a sentence's worth by, an exclamation mark, the brackets of an attachment. Chosen on the
people conversations of `bench summaries`, where each alone changes little."""
OVERHEAD = 5
"""Tokens that every line is charged on top: many tiny lines would read like a telegram."""
MOST_OF_ONE = 8
"""Sentences of one breadcrumb that are looked at closely."""
LONGEST = 600
"""Characters of a sentence that may be a line."""

_END = re.compile(r"(?<=[.!?…])[\"'”»)]*\s+|(?<=[。！？])|\n+")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LISTED = re.compile(r"(?:[-*+>#•]+\s+|\d+[.)]\s+)+")
_CLAUSE = re.compile(r"[,!.;:–—-]+\s+|[!，。！]")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z]\w+|[A-Z]\w*[A-Z]\w*")
_ASKS = ("?", "？", "؟")
_PLAIN = frozenset(".,;:!?'’\"“”%$€£+&/-–—…。，！、；：（）()")
_CODE = re.compile(r"\w\(|[{}<>=\\|_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Pure helpers. terms: text → stemmed terms joined by spaces. count: text → tokens."""

    terms: Callable[[str], str]
    count: Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """order: where it stands. passage: its number, -1 for none. cost: tokens of the line."""

    line: Line
    order: tuple[int, int]
    passage: int
    terms: frozenset[str]
    worth: float
    cost: int


def extract(view: View, lines: Sequence[Line], rows: Sequence[int], cap: int, words: Words) -> tuple[Line, ...]:
    """The best of earlier lines and of what these rows say, in place order, at most `cap` tokens as the page shows them.

    Document frequencies are those of what stands before the end of the rows, so that later breadcrumbs change nothing.
    """
    pool = [made for line in lines if (made := _again(view, line, words))]
    for row in rows:
        pool += _sentences(view, row, words)
    end = view.history.first_passage(max(rows) + 1) if rows else view.passages
    chosen = _choose(view, pool, cap, min(end, view.passages), words)
    return tuple(one.line for one in sorted(chosen, key=lambda one: one.order))


def verbatim(view: View, row: int) -> Line:
    """What this row says, word for word."""
    crumb = view.history.rows[row].breadcrumb
    return replace(_line(view, row, crumb.text.strip()), verbatim=True)


def tokens_of(lines: Sequence[Line], count: Callable[[str], int]) -> int:
    """Tokens of the lines as the page shows them, the days above them included."""
    days = [line.day for number, line in enumerate(lines) if line.day and (not number or lines[number - 1].day != line.day)]
    return sum(count(f"{line.text}\n") for line in lines) + sum(count(f"[{day}]\n") for day in days)


def _choose(view: View, pool: list[_Candidate], cap: int, end: int, words: Words) -> list[_Candidate]:
    """Greedily the most worth a token, as long as anything has room. Ties go to the earlier one."""
    if not pool:
        return []
    terms = sorted(frozenset[str]().union(*(one.terms for one in pool)))
    column = {term: number for number, term in enumerate(terms)}
    says = [np.array(sorted(column[term] for term in one.terms), np.int64) for one in pool]
    told, starts = np.concatenate(says), np.cumsum([0, *map(len, says[:-1])])  # one sentence's terms behind the other's
    untold = _weights(view, terms, end)
    days = sorted({one.line.day for one in pool})
    day = np.array([days.index(one.line.day) for one in pool], np.int64)
    price_of_day = np.array([words.count(f"[{name}]\n") if name else 0 for name in days])
    price, worth = np.array([one.cost for one in pool]), np.array([one.worth for one in pool])
    vectors, near = _vectors(view, pool), np.zeros(len(pool))
    left, room = np.ones(len(pool), np.bool_), cap
    chosen: list[_Candidate] = []
    while True:
        cost = price + price_of_day[day]
        value = np.add.reduceat(untold[told], starts) * worth * (1 - near) / (cost + OVERHEAD)
        value[~left | (cost > room)] = 0
        best = int(value.argmax())
        if value[best] <= 0:
            return chosen
        chosen.append(pool[best])
        room -= int(cost[best])
        left[best], price_of_day[day[best]] = False, 0
        untold[says[best]] = 0
        near = np.maximum(near, vectors @ vectors[best])


def _vectors(view: View, pool: list[_Candidate]) -> NDArray[np.float32]:
    """Of each candidate's passage, shape (candidates, width); zeros where there is none."""
    if view.vectors is None or not len(view.vectors):
        return np.zeros((len(pool), 1), np.float32)
    rows = np.array([one.passage for one in pool], np.int64)
    found = view.vectors[rows]
    found[rows < 0] = 0
    return found


def _weights(view: View, terms: list[str], end: int) -> NDArray[np.float64]:
    """Rarity of each term among the passages below `end`, shape (terms,)."""
    holding = (view.history.postings.holding(term, end) for term in terms)
    return np.array([math.log(1 + end / max(rows, 1)) for rows in holding])


def _sentences(view: View, row: int, words: Words) -> list[_Candidate]:
    """The sentences of a row that may be lines; none of small talk."""
    if view.first_passage(row) is None:
        return []
    text = view.history.rows[row].breadcrumb.text
    held = _FENCED.sub(lambda match: "\n" * len(match.group()), text)
    names = _names(view)
    found: list[tuple[int, str]] = []
    start = 0
    for stop, following in [*((match.start(), match.end()) for match in _END.finditer(held)), (len(held), len(held))]:
        sentence = _trimmed(held[start:stop], names)
        if sentence and len(found) < MOST_OF_ONE * 8:
            found.append((start, sentence))
        start = following
    made = [_candidate(view, row, start, _line(view, row, sentence), sentence, words, names) for start, sentence in found]
    useful = sorted((one for one in made if one), key=lambda one: -one.worth * len(one.terms))
    return useful[:MOST_OF_ONE]


def _trimmed(sentence: str, names: frozenset[str]) -> str:
    """A statement without the greeting in front of it; nothing for questions, code, small talk and what is too long."""
    sentence = _LISTED.sub("", sentence.strip(), count=1) if sentence.strip()[:1] in "-*+>#•" else sentence.strip()
    if not sentence or len(sentence) > LONGEST or sentence.endswith(_ASKS) or not _is_prose(sentence):
        return ""
    while (clause := _CLAUSE.search(sentence)) and _says_nothing(sentence[: clause.start()], names):
        sentence = sentence[clause.end() :]
    return "" if is_filler(sentence) else sentence[:1].upper() + sentence[1:]


def _says_nothing(clause: str, names: frozenset[str]) -> bool:
    return is_filler(" ".join(word for word in words_of(clause) if word not in names))


def _is_prose(sentence: str) -> bool:
    """Few signs that prose has no use for: an attachment's brackets yes, a line of code no."""
    inner = sentence.strip("[]")
    odd = sum(not (sign.isalnum() or sign.isspace() or sign in _PLAIN) for sign in inner)
    return 25 * odd <= len(inner) and not _CODE.search(inner)


def _again(view: View, line: Line, words: Words) -> _Candidate | None:
    """An earlier line as a candidate; None when its first source is not in this view."""
    row = view.row_of(line.ids[0])
    if row < 0:
        return None
    sentence = line.text.removeprefix(f"{view.history.rows[row].breadcrumb.speaker}: ")
    start = max(view.history.rows[row].breadcrumb.text.find(sentence[1:]), 0)
    return _candidate(view, row, start, line, sentence, words, _names(view))


def _candidate(
    view: View, row: int, start: int, line: Line, sentence: str, words: Words, names: frozenset[str]
) -> _Candidate | None:
    """None when it has fewer than two terms beside people's names."""
    terms = frozenset(words.terms(sentence).split()) - names
    if len(terms) < 2:  # noqa: PLR2004 - one word says nothing
        return None
    remembered = view.history.rows[row]
    first = view.first_passage(row)
    ordinal = next((n for n, held in enumerate(remembered.passages) if held.start <= start < held.end), 0)
    names_or_counts = bool(_NAME.search(sentence)) or counts(sentence)
    worth = (NAMED if names_or_counts else 1.0) / max(len(remembered.passages), 1)
    worth *= CALLED_OUT if sentence.endswith(("!", "！")) else 1.0
    worth *= ATTACHED if sentence.startswith("[") else 1.0
    return _Candidate(
        line=line,
        order=(row, start),
        passage=-1 if first is None else first + ordinal,
        terms=terms,
        worth=worth,
        cost=words.count(f"{line.text}\n"),
    )


def _line(view: View, row: int, sentence: str) -> Line:
    crumb = view.history.rows[row].breadcrumb
    return Line(text=f"{crumb.speaker}: {sentence}", day=view.day(row), ids=(crumb.id,), versions=(crumb.version,))


def _names(view: View) -> frozenset[str]:
    return frozenset(word for speaker in view.speakers for word in words_of(speaker))
