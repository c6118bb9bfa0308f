"""Whether a sentence is understood by itself, and what it does: refers, answers, greets, asks, concludes."""

import re
from functools import cache

from builder.language.lists import words

_ASKS = re.compile(r"[?？؟][\"'”’»)\]*_]*$")
_ASKS_WITHIN = re.compile(r"[?？؟](?=[\s\"'”’»)\]*_]|$)|[？]")
_HAN = re.compile("[\u4e00-\u9fff]")


def refers(sentence: str) -> bool:
    """Whether it begins with a word that stands for something said before: "He said that…", "Das ist gut"."""
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


def concludes(sentence: str) -> bool:
    """Whether somebody says what was decided, found out or finished."""
    return bool(_anywhere("conclusions").search(sentence))


@cache
def _opening(name: str) -> re.Pattern[str]:
    han = [word for word in words(name) if _HAN.match(word)]
    others = [word for word in words(name) if not _HAN.match(word)]
    return re.compile(rf"\W*(?:(?:{_either(others)})(?![\w’'-])|(?:{_either(han)}))", re.IGNORECASE)


@cache
def _anywhere(name: str) -> re.Pattern[str]:
    han = [word for word in words(name) if _HAN.match(word)]
    others = [word for word in words(name) if not _HAN.match(word)]
    return re.compile(rf"(?<!\w)(?:{_either(others)})(?!\w)|{_either(han)}", re.IGNORECASE)


def _either(entries: list[str]) -> str:
    return "|".join(map(re.escape, entries))
