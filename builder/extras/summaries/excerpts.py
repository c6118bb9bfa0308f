"""Excerpts of a row for a summary: sentences that can be understood alone, and answers with their questions."""

import re
from dataclasses import dataclass, replace
from functools import cache

from builder.domain.summary import KeptLine
from builder.extras.summaries.questions import (
    MAX_BRIEF_WORDS,
    MAX_SENTENCE_CHARS,
    Sentence,
    answers_briefly,
    depends_on_previous,
    is_bare,
    is_dependent,
    prose_sentences,
    question_of,
)
from builder.language.questions import asks
from builder.language.word_lists import any_of, has_word, opens_with
from builder.language.words import is_filler, words_of
from builder.recall.index.view import View
from builder.recall.summaries.lines import line_of
from builder.service import Functions

NAME_WEIGHT, CONCLUSION_WEIGHT, EXCLAMATION_WEIGHT, ATTACHMENT_WEIGHT, UNRESOLVED_WEIGHT = 4.0, 1.5, 0.5, 0.5, 0.25
"""Factors of a sentence's worth: a name or number, a conclusion or what an agent says once its tools have answered, an
exclamation mark, the brackets of an attachment, a first word that points at something which is not there. The first was chosen on
the people conversations."""
MAX_EXCERPTS = 8
MIN_TERMS = 3
"""Terms beside people's names that a line has at least, one less with a name or number."""
MAX_SENTENCES_IN_FRONT = 2
"""Sentences before one that are taken along at most."""

_CLAUSE = re.compile(r"[,!.;:–—-]+\s+|[!，。！]")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z]\w+|[A-Z]\w*[A-Z]\w*")

Spot = tuple[int, int]
"""A row, and the character of its text at which a sentence begins."""
Sentences = tuple[Sentence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One line that a summary may have."""

    line: KeptLine
    parts: frozenset[Spot]
    """Where its sentences stand; two excerpts that share one say the same thing twice."""
    order: Spot
    passage: int
    """Its number; -1 = none."""
    terms: frozenset[str]
    worth: float
    cost: int
    by_tool: bool


def excerpts(view: View, row: int, words: Functions, verbatim_rows: frozenset[int] = frozenset()) -> list[Excerpt]:
    """The best excerpts of a row. verbatim_rows: rows that stay word for word."""
    parts = prose_sentences(view.breadcrumb(row).text)
    answer = _answer(view, row, parts, words, verbatim_rows)
    answers = [answer] if answer else []
    if view.first_passage(row) is None:
        return answers
    in_answer = answer.parts if answer else frozenset()
    statements = (_statement(view, row, parts, number, words, in_answer) for number in range(len(parts)))
    everything = [*answers, *(each for each in statements if each)]
    return sorted(everything, key=lambda each: -each.worth * len(each.terms))[:MAX_EXCERPTS]


def excerpt_of(view: View, line: KeptLine, words: Functions) -> Excerpt | None:
    """An earlier line as an excerpt; None when a source is not in this view."""
    rows = [view.row_of(name) for name in line.ids]
    if min(rows) < 0:
        return None
    texts = [text.removeprefix(f"{view.stored_name(row)}: ") for row, text in zip(rows, line.text.split("\n"), strict=False)]
    starts = (max(view.breadcrumb(row).text.find(text[1:20]) - 1, 0) for row, text in zip(rows, texts, strict=False))
    spots = frozenset(zip(rows, starts, strict=False))
    return _excerpt(view, line, spots, texts[-1], " ".join(texts), words, unresolved=opens_with("references", texts[0]))


def has_name(text: str) -> bool:
    """Whether it has a name, or a number in digits or words."""
    return bool(_NAME.search(text) or _number().search(text))


@cache
def _number() -> re.Pattern[str]:
    return re.compile(rf"\d|{any_of('numbers')}", re.IGNORECASE)


def _statement(
    view: View, row: int, parts: Sentences, number: int, words: Functions, in_answer: frozenset[Spot]
) -> Excerpt | None:
    """A sentence with what it refers to and its short answer; None for what says nothing, asks, or repeats."""
    names = view.prefix.speaker_words
    sentence = parts[number].text
    if asks(sentence) or not (statement := _without_greeting(sentence, names)) or _only_announces(view, row, statement):
        return None
    first, last = _stretch(parts, number, names)
    text = " ".join((statement if first == number else parts[first].text, *(part.text for part in parts[first + 1 : last])))
    spots = frozenset((row, part.start) for part in parts[first:last])
    repeats = (row, parts[number].start) in in_answer or (is_bare(parts[0].text) and not spots.isdisjoint(in_answer))
    if repeats or len(text) > MAX_SENTENCE_CHARS:
        return None
    unresolved = first == number and depends_on_previous(sentence)
    return _excerpt(view, line_of(view, row, text), spots, statement, text, words, unresolved=unresolved)


def _stretch(parts: Sentences, number: int, names: frozenset[str]) -> tuple[int, int]:
    """From the sentence that it refers to, if one says that by itself, to the last of the short answers behind it."""
    first, last = number, number + 1
    while depends_on_previous(parts[first].text) and first and number - first < MAX_SENTENCES_IN_FRONT:
        first -= 1
    front = parts[first].text
    if depends_on_previous(front) or not (asks(front) or _without_greeting(front, names)):
        first = number
    while last < len(parts) and answers_briefly(parts[last].text) and last - number < MAX_SENTENCES_IN_FRONT:
        last += 1
    return first, last


def _answer(view: View, row: int, parts: Sentences, words: Functions, verbatim_rows: frozenset[int]) -> Excerpt | None:
    """The beginning of a row with the question that it answers; None = none needed."""
    crumb = view.breadcrumb(row)
    if crumb.role == "tool" or _announces(view, row) or not parts or asks(parts[0].text) or not is_dependent(parts[0].text):
        return None
    if (pair := question_of(view, row)) is None:
        return None
    asking, question = pair
    if view.breadcrumb(asking).role == crumb.role and not is_dependent(parts[0].text, MAX_BRIEF_WORDS):
        return None
    length = _answer_length(parts)
    answer = " ".join(part.text for part in parts[:length])
    spots = frozenset((row, part.start) for part in parts[:length])
    line = line_of(view, row, answer)
    if asking not in verbatim_rows:
        spots |= {(asking, question.start)}
        line = _below(line_of(view, asking, question.text), line)
    terms = frozenset(words.terms(answer).split()) - view.prefix.speaker_words
    return _excerpt(view, line, spots, answer, answer if len(terms) >= MIN_TERMS else f"{question.text} {answer}", words)


def _answer_length(parts: Sentences) -> int:
    number = 2 if is_filler(parts[0].text) and len(parts) > 1 and not asks(parts[1].text) else 1
    while (
        is_bare(parts[0].text)
        and number < min(len(parts), MAX_SENTENCES_IN_FRONT)
        and opens_with("references", parts[number].text)
        and not asks(parts[number].text)
    ):
        number += 1
    return number


def _below(question: KeptLine, answer: KeptLine) -> KeptLine:
    text, versions = f"{question.text}\n{answer.text}", question.versions + answer.versions
    return replace(question, text=text, ids=question.ids + answer.ids, versions=versions)


def _without_greeting(sentence: str, names: frozenset[str]) -> str:
    while (clause := _CLAUSE.search(sentence)) and _says_nothing(sentence[: clause.start()], names):
        sentence = sentence[clause.end() :]
    if is_filler(sentence) or (opens_with("greetings", sentence) and len(words_of(sentence)) <= MAX_BRIEF_WORDS):
        return ""
    return sentence


def _says_nothing(clause: str, names: frozenset[str]) -> bool:
    return is_filler(" ".join(word for word in words_of(clause) if word not in names))


def _excerpt(
    view: View,
    line: KeptLine,
    spots: frozenset[Spot],
    statement: str,
    text: str,
    words: Functions,
    *,
    unresolved: bool = False,
) -> Excerpt | None:
    """None when it says next to nothing. text: the words whose terms count."""
    terms = frozenset(words.terms(text).split()) - view.prefix.speaker_words
    is_named = has_name(statement)
    if len(terms) < MIN_TERMS - is_named:
        return None
    row, start = max(spots)
    stored = view.history.rows[row]
    first = view.first_passage(row)
    ordinal = next((number for number, passage in enumerate(stored.passages) if passage.start <= start < passage.end), 0)
    worth = (NAME_WEIGHT if is_named else 1.0) / max(len(stored.passages), 1)
    worth *= CONCLUSION_WEIGHT if has_word("conclusions", statement) or _reports(view, row) else 1.0
    worth *= EXCLAMATION_WEIGHT if statement.endswith(("!", "！")) else 1.0
    worth *= ATTACHMENT_WEIGHT if statement.startswith("[") else 1.0
    worth *= UNRESOLVED_WEIGHT if unresolved or (_announces(view, row) and not _reports(view, row)) else 1.0
    return Excerpt(
        line=line,
        parts=spots,
        order=min(spots),
        passage=-1 if first is None else first + ordinal,
        terms=terms,
        worth=worth,
        cost=words.count(f"{line.text}\n"),
        by_tool=stored.breadcrumb.role == "tool",
    )


def _announces(view: View, row: int) -> bool:
    crumb = view.breadcrumb(row)
    return crumb.role == "assistant" and (bool(crumb.call_signatures) or len(view.members(row)) > 1)


def _only_announces(view: View, row: int, statement: str) -> bool:
    if view.breadcrumb(row).role != "assistant" or has_word("conclusions", statement):
        return False
    return opens_with("announcements", statement) or (_announces(view, row) and len(words_of(statement)) <= MAX_BRIEF_WORDS)


def _reports(view: View, row: int) -> bool:
    before = view.rows[view.rows < row][-1:].tolist()
    return view.breadcrumb(row).role == "assistant" and any(view.breadcrumb(other).role == "tool" for other in before)
