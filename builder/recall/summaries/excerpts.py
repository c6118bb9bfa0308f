"""What a summary may copy of a row: sentences that are understood where they stand, and answers with their questions."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from builder.domain.summary import Line
from builder.language.sentence_roles import asks, concludes, greets, refers
from builder.language.traits import counts
from builder.language.words import is_filler, words_of
from builder.recall.index.view import View
from builder.recall.summaries.questions import (
    BRIEF,
    LONGEST,
    Sentence,
    answers_briefly,
    is_bare,
    is_dependent,
    leans,
    question_of,
    spoken,
)

NAMED, CONCLUDED, CALLED_OUT, ATTACHED, UNRESOLVED = 4.0, 1.5, 0.5, 0.5, 0.25
"""What multiplies a sentence's worth: a name or number, a conclusion, an exclamation mark, the brackets of an attachment, a first
word that points at something which is not there. The first was chosen on the people conversations of `bench summaries`."""
MOST_OF_ONE = 8
"""Excerpts of one breadcrumb that are looked at closely."""
LEAST = 3
"""Terms beside people's names that a line has at least, one less with a name or number."""
FRONT = 2
"""Sentences in front of one that are taken along at most."""

_CLAUSE = re.compile(r"[,!.;:–—-]+\s+|[!，。！]")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z]\w+|[A-Z]\w*[A-Z]\w*")

Spot = tuple[int, int]
"""A row, and the character of its text at which a sentence begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Pure helpers. terms: text → stemmed terms joined by spaces. count: text → tokens."""

    terms: Callable[[str], str]
    count: Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One line that a summary may have.

    parts: where its sentences stand; two excerpts that share one say the same thing twice. passage: its number, -1 for none.
    cost: tokens of the line. by_tool: a tool said it.
    """

    line: Line
    parts: frozenset[Spot]
    order: Spot
    passage: int
    terms: frozenset[str]
    worth: float
    cost: int
    by_tool: bool


def excerpts(view: View, row: int, words: Words, kept: frozenset[int] = frozenset()) -> list[Excerpt]:
    """The best excerpts of a row; none of small talk that answers nothing. kept: rows that are kept word for word."""
    held = spoken(view.history.rows[row].breadcrumb.text)
    answer = _answer(view, row, held, words, kept)
    if view.first_passage(row) is None:
        return [answer] if answer else []
    taken = answer.parts if answer else frozenset()
    found = [made for number in range(len(held)) if (made := _alone(view, row, held, number, words, taken))]
    return sorted([*([answer] if answer else []), *found], key=lambda one: -one.worth * len(one.terms))[:MOST_OF_ONE]


def again(view: View, line: Line, words: Words) -> Excerpt | None:
    """An earlier line as an excerpt; None when one of its sources is not in this view."""
    rows = [view.row_of(name) for name in line.ids]
    if min(rows) < 0:
        return None
    spoken = [_unlabelled(view, row, text) for row, text in zip(rows, line.text.split("\n"), strict=False)]
    spots = [
        (row, max(view.history.rows[row].breadcrumb.text.find(text[1:20]) - 1, 0))
        for row, text in zip(rows, spoken, strict=False)
    ]
    return _excerpt(view, line, frozenset(spots), spoken[-1], " ".join(spoken), words, unresolved=refers(spoken[0]))


def line_of(view: View, row: int, sentence: str) -> Line:
    """A line of one row."""
    crumb = view.history.rows[row].breadcrumb
    return Line(text=f"{crumb.speaker}: {sentence}", day=view.day(row), ids=(crumb.id,), versions=(crumb.version,))


def is_named(text: str) -> bool:
    """Whether it names or counts anything."""
    return bool(_NAME.search(text)) or counts(text)


def _alone(view: View, row: int, held: tuple[Sentence, ...], number: int, words: Words, taken: frozenset[Spot]) -> Excerpt | None:
    """A sentence with those in front of it that it refers to, and its answer behind it when it has one.

    None for questions, small talk, what is too long, and what would say something twice. taken: what an answer has of this row.
    """
    names = _names(view)
    sentence = held[number].text
    if asks(sentence) or not (said := _trimmed(sentence, names)):
        return None
    first, last = number, number + 1
    while leans(held[first].text) and first and number - first < FRONT:
        first -= 1
    unresolved = leans(held[first].text) or not (asks(held[first].text) or _trimmed(held[first].text, names))
    first = number if unresolved else first
    while last < len(held) and answers_briefly(held[last].text) and last - number < FRONT:
        last += 1
    spoken = " ".join((said if first == number else held[first].text, *(one.text for one in held[first + 1 : last])))
    parts = frozenset((row, one.start) for one in held[first:last])
    if len(spoken) > LONGEST or (row, held[number].start) in taken or (is_bare(held[0].text) and not parts.isdisjoint(taken)):
        return None
    return _excerpt(view, line_of(view, row, spoken), parts, said, spoken, words, unresolved=unresolved)


def _answer(view: View, row: int, held: tuple[Sentence, ...], words: Words, kept: frozenset[int]) -> Excerpt | None:
    """The beginning of a row with the question that it answers; None when it needs none."""
    crumb = view.history.rows[row].breadcrumb
    if crumb.role == "tool" or _announces(view, row) or not held or asks(held[0].text) or not is_dependent(held[0].text):
        return None
    if (found := question_of(view, row)) is None:
        return None
    asking, question = found
    if view.history.rows[asking].breadcrumb.role == crumb.role and not is_dependent(held[0].text, BRIEF):
        return None
    number = 2 if is_filler(held[0].text) and len(held) > 1 and not asks(held[1].text) else 1
    while is_bare(held[0].text) and number < min(len(held), FRONT) and refers(held[number].text) and not asks(held[number].text):
        number += 1
    said = " ".join(one.text for one in held[:number])
    parts = frozenset((row, one.start) for one in held[:number])
    line = line_of(view, row, said)
    if asking not in kept:
        asked = line_of(view, asking, question.text)
        parts |= {(asking, question.start)}
        line = Line(
            text=f"{asked.text}\n{line.text}",
            day=asked.day,
            ids=(*asked.ids, *line.ids),
            versions=(*asked.versions, *line.versions),
        )
    own = frozenset(words.terms(said).split()) - _names(view)
    return _excerpt(view, line, parts, said, said if len(own) >= LEAST else f"{question.text} {said}", words)


def _trimmed(sentence: str, names: frozenset[str]) -> str:
    """A statement without the greeting in front of it; nothing for small talk."""
    while (clause := _CLAUSE.search(sentence)) and _says_nothing(sentence[: clause.start()], names):
        sentence = sentence[clause.end() :]
    if is_filler(sentence) or (greets(sentence) and len(words_of(sentence)) <= BRIEF):
        return ""
    return sentence[:1].upper() + sentence[1:]


def _says_nothing(clause: str, names: frozenset[str]) -> bool:
    return is_filler(" ".join(word for word in words_of(clause) if word not in names))


def _excerpt(
    view: View, line: Line, parts: frozenset[Spot], said: str, spoken: str, words: Words, *, unresolved: bool = False
) -> Excerpt | None:
    """None when it says next to nothing. said: the statement. spoken: the words that count."""
    terms = frozenset(words.terms(spoken).split()) - _names(view)
    named = is_named(said)
    if len(terms) < LEAST - named:
        return None
    row, start = max(parts)
    remembered = view.history.rows[row]
    first = view.first_passage(row)
    ordinal = next((n for n, held in enumerate(remembered.passages) if held.start <= start < held.end), 0)
    worth = (NAMED if named else 1.0) / max(len(remembered.passages), 1)
    worth *= CONCLUDED if concludes(said) else 1.0
    worth *= CALLED_OUT if said.endswith(("!", "！")) else 1.0
    worth *= ATTACHED if said.startswith("[") else 1.0
    worth *= UNRESOLVED if unresolved or _announces(view, row) else 1.0
    return Excerpt(
        line=line,
        parts=parts,
        order=min(parts),
        passage=-1 if first is None else first + ordinal,
        terms=terms,
        worth=worth,
        cost=words.count(f"{line.text}\n"),
        by_tool=remembered.breadcrumb.role == "tool",
    )


def _announces(view: View, row: int) -> bool:
    """Whether an agent says what it is about to do: its words stand in front of the calls that it makes."""
    return view.history.rows[row].breadcrumb.role == "assistant" and len(view.members(row)) > 1


def _unlabelled(view: View, row: int, text: str) -> str:
    """A line's words without the speaker."""
    return text.removeprefix(f"{view.history.rows[row].breadcrumb.speaker}: ")


def _names(view: View) -> frozenset[str]:
    return view.once("names", lambda: frozenset(word for speaker in view.speakers for word in words_of(speaker)))
