"""The question that an answer belongs to, and whether the answer says anything without it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from builder.domain.breadcrumb import Breadcrumb
from builder.extras.summaries.prose import is_prose, without_blocks
from builder.language.questions import asks
from builder.language.sentences import sentences
from builder.language.word_lists import opens_with
from builder.language.words import is_filler, words_of
from builder.recall.index.view import View

MAX_SENTENCE_CHARS = 600
MAX_SENTENCES = 64
MAX_BRIEF_WORDS, MAX_BRIEF_WORDS_TO_AGENTS = 5, 12
"""Words up to which an answer says little without its question: among people, who mostly ask out of courtesy and answer in whole
sentences, and between a person and an agent, who ask for what is missing."""
MAX_BARE_WORDS = 3
"""Words up to which an answer says nothing without its question."""
LOOK_BACK_ROWS = 40
"""Rows before an answer in which its question is looked for."""

_LISTED = re.compile(r"^(?:[-*+>#•]+\s+)+")
_LEADS_IN = re.compile(r"#+ |.*[:：][\s*_]*$|[\d.)\s]*\*\*[^*]+\*\*\W*$", re.DOTALL)
"""A heading, or what only leads to a list."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in one line."""

    start: int
    """Character of the row's text at which it begins."""
    text: str


def needs_question(text: str) -> bool:
    """Whether an answer says little without its question."""
    parts = prose_sentences(text)
    return bool(parts) and not asks(parts[0].text) and is_dependent(parts[0].text)


@lru_cache(1024)
def prose_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of prose of a text, without code, tables and headings."""
    prose = without_blocks(text)
    spans = (span for span, _ in zip(sentences(prose), range(MAX_SENTENCES), strict=False))
    spans = (span for span in spans if not _LEADS_IN.match(prose, *span))
    parts = (Sentence(start, _LISTED.sub("", prose[start:end]).strip()) for start, end in spans)
    return tuple(part for part in parts if part.text and len(part.text) <= MAX_SENTENCE_CHARS and is_prose(part.text))


def depends_on_previous(sentence: str) -> bool:
    """Whether it says little without the sentence before it."""
    return opens_with("references", sentence) or answers_briefly(sentence)


def answers_briefly(sentence: str) -> bool:
    """Whether it is a short answer."""
    return opens_with("answers", sentence) and not asks(sentence) and len(words_of(sentence)) <= MAX_BRIEF_WORDS


def is_bare(answer: str) -> bool:
    """Whether an answer says nothing without its question."""
    return answers_briefly(answer) or len(words_of(answer)) <= MAX_BARE_WORDS


def is_dependent(answer: str, brief_words: int = MAX_BRIEF_WORDS_TO_AGENTS) -> bool:
    """Whether an answer says little without its question."""
    return opens_with("answers", answer) or opens_with("references", answer) or len(words_of(answer)) <= brief_words


def question_of(view: View, row: int) -> tuple[int, Sentence] | None:
    """The row of the question that this row answers, and its words; None = none."""
    speaker, asker, tools_between = view.breadcrumb(row).speaker, "", False
    for other, crumb in _rows_before(view, row):
        if crumb.role == "tool":
            tools_between = True
        elif crumb.speaker == speaker:
            if asker or not (tools_between or view.first_passage(other) is None):
                return None
        elif asker and crumb.speaker != asker:
            return None
        else:
            if question := _last_question(crumb.text):
                return other, question
            if asker or (view.first_passage(other) is not None and len(words_of(crumb.text)) > 2 * MAX_BRIEF_WORDS):
                return None
            asker = crumb.speaker
    return None


def _rows_before(view: View, row: int) -> Iterator[tuple[int, Breadcrumb]]:
    for other in reversed(view.rows[view.rows < row][-LOOK_BACK_ROWS:].tolist()):
        crumb = view.breadcrumb(other)
        if view.shows(other) and (crumb.text.strip() or crumb.role == "tool"):
            yield other, crumb


def _last_question(text: str) -> Sentence | None:
    parts = prose_sentences(text)
    number = next((number for number in range(len(parts) - 1, max(len(parts) - 3, -1), -1) if asks(parts[number].text)), -1)
    if number < 0:
        return None
    question, before = parts[number], parts[number - 1] if number else None
    words = question.text
    if before and len(words_of(words)) <= MAX_BRIEF_WORDS and not asks(before.text) and not is_filler(before.text):
        both = f"{before.text} {words}"
        words = both if len(both) <= MAX_SENTENCE_CHARS // 2 else words
    return Sentence(question.start, words) if len(words) <= MAX_SENTENCE_CHARS // 2 else None
