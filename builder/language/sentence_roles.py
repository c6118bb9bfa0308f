"""What a sentence does: refers to another one, answers, greets, asks, concludes."""

import re

from builder.language.lists import any_of, derived

_ASKS = re.compile(r"[?？؟][\"'”’»)\]*_]*$")
_ASKS_WITHIN = re.compile(r"[?？؟](?=[\s\"'”’»)\]*_]|$)|[？]")


def refers(sentence: str) -> bool:
    """Whether it begins with a word that stands for an earlier one: "He said that…", "Das ist gut"."""
    return bool(_opening("references").match(sentence))


def answers(sentence: str) -> bool:
    """Whether it begins as answers do, or is nothing else: "Yes, the red one.", "Noch nicht"."""
    return bool(_opening("answers").match(sentence))


def greets(sentence: str) -> bool:
    """Whether it begins as greetings do."""
    return bool(_opening("greetings").match(sentence))


def asks(sentence: str) -> bool:
    """Whether it ends with a question mark."""
    return bool(_ASKS.search(sentence))


def asks_within(text: str) -> bool:
    """Whether a text holds a question."""
    return bool(_ASKS_WITHIN.search(text))


def asks_when(text: str) -> bool:
    """Whether it asks for a time: "when", "how long", "wann"."""
    return bool(_words_of("when_questions").search(text))


def asks_where(text: str) -> bool:
    """Whether it asks for a place."""
    return bool(_words_of("where_questions").search(text))


def concludes(sentence: str) -> bool:
    """Whether it says what was decided, found out or finished."""
    return bool(_words_of("conclusions").search(sentence))


@derived
def _opening(name: str) -> re.Pattern[str]:
    return re.compile(r"\W*" + any_of(name, before="", behind=r"(?![\w’'-])"), re.IGNORECASE)


@derived
def _words_of(name: str) -> re.Pattern[str]:
    return re.compile(any_of(name), re.IGNORECASE)
