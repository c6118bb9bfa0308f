"""What was asked, and whether an answer says anything without it. Of texts only the sentences of prose are read."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from builder.domain.breadcrumb import Breadcrumb
from builder.language.prose import is_prose, without_blocks
from builder.language.sentence_roles import answers, asks, refers
from builder.language.sentences import sentences
from builder.language.words import is_filler, words_of
from builder.recall.index.view import View

LONGEST = 600
"""Characters of a sentence that is read."""
MOST = 64
"""Sentences of a text that are read."""
BRIEF, BRIEF_TO_AGENTS = 5, 12
"""Words up to which an answer says little without its question: among people, who mostly ask out of courtesy and answer in whole
sentences, and between a person and an agent, who ask for what is missing."""
BARE = 3
"""Words up to which it says nothing."""
LOOK_BACK = 40
"""Rows in front of an answer in which its question is looked for."""

_LISTED = re.compile(r"^(?:[-*+>#•]+\s+)+")
_LEADS_IN = re.compile(r"#+ |.*[:：][\s*_]*$|[\d.)\s]*\*\*[^*]+\*\*\W*$", re.DOTALL)
"""A heading, or what only leads to a list."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """start: character of the row's text at which it begins."""

    start: int
    text: str


def needs_question(text: str) -> bool:
    """Whether an answer says little without its question."""
    held = spoken(text)
    return bool(held) and not asks(held[0].text) and is_dependent(held[0].text)


@lru_cache(1024)
def spoken(text: str) -> tuple[Sentence, ...]:
    """The sentences of prose of a text, each in one line."""
    held = without_blocks(text)
    spans = (span for span, _ in zip(sentences(held), range(MOST), strict=False))
    found = (
        Sentence(start, _LISTED.sub("", held[start:end]).strip()) for start, end in spans if not _LEADS_IN.match(held, start, end)
    )
    return tuple(one for one in found if one.text and len(one.text) <= LONGEST and is_prose(one.text))


def leans(sentence: str) -> bool:
    """Whether it says little without the sentence in front of it."""
    return refers(sentence) or answers_briefly(sentence)


def answers_briefly(sentence: str) -> bool:
    """Whether it is a short answer."""
    return answers(sentence) and not asks(sentence) and len(words_of(sentence)) <= BRIEF


def is_bare(answer: str) -> bool:
    """Whether an answer says nothing at all without its question."""
    return answers_briefly(answer) or len(words_of(answer)) <= BARE


def is_dependent(answer: str, brief: int = BRIEF_TO_AGENTS) -> bool:
    """Whether an answer says little without its question. brief: words up to which it does."""
    return answers(answer) or refers(answer) or len(words_of(answer)) <= brief


def question_of(view: View, row: int) -> tuple[int, Sentence] | None:
    """The row of the question that this row answers, and its words with what it refers to; None when there is none.

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


def _last_question(text: str) -> Sentence | None:
    """The last question of a text with which it may end, with the sentence that it refers to."""
    held = spoken(text)
    number = next((number for number in range(len(held) - 1, max(len(held) - 3, -1), -1) if asks(held[number].text)), -1)
    if number < 0:
        return None
    brief = len(words_of(held[number].text)) <= BRIEF
    first = (
        number - 1 if number and brief and not asks(held[number - 1].text) and not is_filler(held[number - 1].text) else number
    )
    said = " ".join(one.text for one in held[first : number + 1])
    said = held[number].text if len(said) > LONGEST // 2 else said
    return Sentence(held[number].start, said) if len(said) <= LONGEST // 2 else None
