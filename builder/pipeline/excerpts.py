"""What a summary may copy of a row: sentences that are understood where they stand, and answers with their questions."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.summary import Line
from builder.language.prose import is_prose, without_blocks
from builder.language.sentences import sentences
from builder.language.standing import answers, asks, concludes, greets, refers
from builder.pipeline.traits import counts
from builder.pipeline.view import View
from builder.pipeline.words import is_filler, words_of

NAMED, CONCLUDED, CALLED_OUT, ATTACHED, UNRESOLVED = 4.0, 1.5, 0.5, 0.5, 0.25
"""What multiplies a sentence's worth: a name or number, a conclusion, an exclamation mark, the brackets of an attachment, a first
word that points at something which is not there. The first was chosen on the people conversations of `bench summaries`."""
MOST_OF_ONE = 8
"""Excerpts of one breadcrumb that are looked at closely."""
LONGEST = 600
"""Characters of an excerpt that may be a line."""
BRIEF = 5
"""Words up to which an answer says little without its question."""
BARE = 3
"""Words up to which it says nothing."""
LEAST = 3
"""Terms beside people's names that a line has at least, one less with a name or number."""
FRONT = 2
"""Sentences in front of one that are taken along at most."""
LOOK_BACK = 40
"""Rows in front of an answer in which its question is looked for."""

_LISTED = re.compile(r"^(?:[-*+>#•]+\s+)+")
_LEADS_IN = re.compile(r"#+ |.*[:：][\s*_]*$|[\d.)\s]*\*\*[^*]+\*\*\W*$", re.DOTALL)  # noqa: RUF001 - full width
"""A heading, or what only leads to a list."""
_CLAUSE = re.compile(r"[,!.;:–—-]+\s+|[!，。！]")  # noqa: RUF001 - full width
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


@dataclass(frozen=True, slots=True)
class _Sentence:
    """start: character of the row's text at which it begins."""

    start: int
    text: str


def excerpts(view: View, row: int, words: Words, kept: frozenset[int] = frozenset()) -> list[Excerpt]:
    """The best excerpts of a row; none of small talk that answers nothing. kept: rows that are kept word for word."""
    held = _sentences(view.history.rows[row].breadcrumb.text)
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


def question_of(view: View, row: int) -> tuple[int, str] | None:
    """The row that asked what this row answers, and the question as it was put, with what it refers to; None when nobody did."""
    found = _question(view, row)
    return None if found is None else (found[0], found[1].text)


def is_named(text: str) -> bool:
    """Whether it names or counts anything."""
    return bool(_NAME.search(text)) or counts(text)


def needs_question(text: str) -> bool:
    """Whether an answer says little without its question."""
    held = _sentences(text)
    return bool(held) and not asks(held[0].text) and _is_dependent(held[0].text)


def _alone(
    view: View, row: int, held: tuple[_Sentence, ...], number: int, words: Words, taken: frozenset[Spot]
) -> Excerpt | None:
    """A sentence with those in front of it that it refers to, and its answer behind it when it has one.

    None for questions, small talk, what is too long, and what would say something twice. taken: what an answer has of this row.
    """
    names = _names(view)
    sentence = held[number].text
    if asks(sentence) or not (said := _trimmed(sentence, names)):
        return None
    first, last = number, number + 1
    while _leans(held[first].text) and first and number - first < FRONT:
        first -= 1
    unresolved = _leans(held[first].text) or not (asks(held[first].text) or _trimmed(held[first].text, names))
    first = number if unresolved else first
    while last < len(held) and _answers_briefly(held[last].text) and last - number < FRONT:
        last += 1
    spoken = " ".join((said if first == number else held[first].text, *(one.text for one in held[first + 1 : last])))
    parts = frozenset((row, one.start) for one in held[first:last])
    if len(spoken) > LONGEST or (row, held[number].start) in taken or (_is_bare(held[0].text) and not parts.isdisjoint(taken)):
        return None
    return _excerpt(view, line_of(view, row, spoken), parts, said, spoken, words, unresolved=unresolved)


def _answer(view: View, row: int, held: tuple[_Sentence, ...], words: Words, kept: frozenset[int]) -> Excerpt | None:
    """The beginning of a row with the question that it answers; None when it needs none."""
    crumb = view.history.rows[row].breadcrumb
    if crumb.role == "tool" or not held or asks(held[0].text) or not _is_dependent(held[0].text):
        return None
    if (found := _question(view, row)) is None:
        return None
    asking, question = found
    number = 2 if is_filler(held[0].text) and len(held) > 1 and not asks(held[1].text) else 1
    while _is_bare(held[0].text) and number < min(len(held), FRONT) and refers(held[number].text) and not asks(held[number].text):
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


def _question(view: View, row: int) -> tuple[int, _Sentence] | None:
    """The row of the question that this row answers, and its words.

    Small talk and calls of tools may stand between the two, nothing else that was said.
    """
    speaker, by_tool = view.history.rows[row].breadcrumb.speaker, False
    asker = ""
    for other, crumb in _before(view, row):
        if crumb.role == "tool":
            by_tool = True
        elif crumb.speaker == speaker:
            if asker or not (by_tool or view.first_passage(other) is None):
                return None
        elif asker and crumb.speaker != asker:
            return None
        else:
            if found := _last_question(crumb.text):
                return other, found
            if asker or (view.first_passage(other) is not None and len(words_of(crumb.text)) > 2 * BRIEF):
                return None
            asker = crumb.speaker
    return None


def _before(view: View, row: int) -> Iterator[tuple[int, Breadcrumb]]:
    """What was said in front of a row, the newest first."""
    own = view.own
    number = bisect_left(own, row)
    for other in reversed(own[max(number - LOOK_BACK, 0) : number]):
        crumb = view.history.rows[other].breadcrumb
        if view.in_conversation(other) and view.current[other] and (crumb.text.strip() or crumb.role == "tool"):
            yield other, crumb


def _last_question(text: str) -> _Sentence | None:
    """The last question of a text with which it may end, with the sentence that it refers to."""
    held = _sentences(text)
    number = next((number for number in range(len(held) - 1, max(len(held) - 3, -1), -1) if asks(held[number].text)), -1)
    if number < 0:
        return None
    brief = len(words_of(held[number].text)) <= BRIEF
    first = (
        number - 1 if number and brief and not asks(held[number - 1].text) and not is_filler(held[number - 1].text) else number
    )
    said = " ".join(one.text for one in held[first : number + 1])
    said = held[number].text if len(said) > LONGEST // 2 else said
    return _Sentence(held[number].start, said) if len(said) <= LONGEST // 2 else None


def _leans(sentence: str) -> bool:
    """Whether it says little without the sentence in front of it."""
    return refers(sentence) or _answers_briefly(sentence)


def _answers_briefly(sentence: str) -> bool:
    return answers(sentence) and not asks(sentence) and len(words_of(sentence)) <= BRIEF


def _is_bare(answer: str) -> bool:
    """Whether an answer says nothing at all without its question."""
    return _answers_briefly(answer) or len(words_of(answer)) <= BARE


def _is_dependent(answer: str) -> bool:
    return answers(answer) or refers(answer) or len(words_of(answer)) <= BRIEF


@lru_cache(1024)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    """The sentences of prose of a text, each in one line."""
    held = without_blocks(text)
    spans = (span for span, _ in zip(sentences(held), range(MOST_OF_ONE * 8), strict=False))
    found = (
        _Sentence(start, _LISTED.sub("", held[start:end]).strip())
        for start, end in spans
        if not _LEADS_IN.match(held, start, end)
    )
    return tuple(one for one in found if one.text and len(one.text) <= LONGEST and is_prose(one.text))


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
    worth *= CALLED_OUT if said.endswith(("!", "！")) else 1.0  # noqa: RUF001 - full width
    worth *= ATTACHED if said.startswith("[") else 1.0
    worth *= UNRESOLVED if unresolved else 1.0
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


def _unlabelled(view: View, row: int, text: str) -> str:
    """A line's words without the speaker."""
    return text.removeprefix(f"{view.history.rows[row].breadcrumb.speaker}: ")


def _names(view: View) -> frozenset[str]:
    return view.once("names", lambda: frozenset(word for speaker in view.speakers for word in words_of(speaker)))
