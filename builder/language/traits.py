"""Facts of a text alone, which searches compare."""

import re
from enum import IntFlag
from functools import cache

from builder.language.word_lists import Pattern, any_unspaced, either, word_set, words

_WORD = re.compile(r"[^\W\d_]+")
_QUESTION_MARKS = ("?", "？", "؟")


class Trait(IntFlag):
    """Facts of the text alone, stored with each passage."""

    ASKS = 1
    TIME = 2
    PLACE = 4
    INSTRUCTS = 32
    """Holds a sentence of a person that is a standing instruction, or takes one back."""


def traits(text: str, *, instructs: bool = False) -> Trait:
    """instructs: a standing instruction of a person begins in it."""
    signs = {
        Trait.ASKS: text.rstrip().endswith(_QUESTION_MARKS),
        Trait.TIME: _time().search(text) or not word_set("times").isdisjoint(_WORD.findall(text.lower())),
        Trait.PLACE: _place().search(text),
        Trait.INSTRUCTS: instructs,
    }
    return Trait(sum(trait for trait, sign in signs.items() if sign))


@cache
def _time() -> Pattern:
    return re.compile(rf"\b(?:(?:19|20)\d\d|\d{{1,2}}:\d\d)\b|月\d|{any_unspaced('times')}")


@cache
def _place() -> Pattern:
    prepositions, articles = (either(words(name)) for name in ("place_prepositions", "articles"))
    return re.compile(rf"\b{prepositions}\s+(?:{articles}\s+)?[A-ZÄÖÜÉА-Я]\w+")
