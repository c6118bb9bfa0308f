"""What a text shows by its words alone: asks, names a time, a place or a number, gives a standing instruction."""

import re
from enum import IntFlag

from builder.language.lists import any_of, any_unspaced, derived, either, word_set, words

_WORD = re.compile(r"[^\W\d_]+")
_QUESTION_MARKS = ("?", "？", "؟")


class Trait(IntFlag):
    """Stored with each passage, because it is a fact of the text alone."""

    ASKS = 1
    TIME = 2
    PLACE = 4
    INSTRUCTION = 16
    """Holds a cue anywhere: a signal of ranking."""
    INSTRUCTS = 32
    """Holds a sentence that is a standing instruction, or takes one back."""


def counts(text: str) -> bool:
    """Whether it holds a number, in digits or words."""
    return bool(_number().search(text))


def traits(text: str, *, by_person: bool, instructs: bool = False) -> Trait:
    """All traits of a passage. by_person: a person wrote it. instructs: a standing instruction of the whole text begins in it."""
    signs = {
        Trait.ASKS: text.rstrip().endswith(_QUESTION_MARKS),
        Trait.TIME: _time().search(text) or not word_set("times").isdisjoint(_WORD.findall(text.lower())),
        Trait.PLACE: _place().search(text),
        Trait.INSTRUCTION: by_person and _instruction_cue().search(text),
        Trait.INSTRUCTS: instructs,
    }
    return Trait(sum(trait for trait, sign in signs.items() if sign))


@derived
def _time() -> re.Pattern[str]:
    return re.compile(rf"\b(?:(?:19|20)\d\d|\d{{1,2}}:\d\d)\b|月\d|{any_unspaced('times')}")


@derived
def _place() -> re.Pattern[str]:
    """A preposition and a word with a capital."""
    prepositions, articles = (either(words(name)) for name in ("place_prepositions", "articles"))
    return re.compile(rf"\b{prepositions}\s+(?:{articles}\s+)?[A-ZÄÖÜÉА-Я]\w+")


@derived
def _number() -> re.Pattern[str]:
    return re.compile(rf"\d|{any_of('numbers')}", re.IGNORECASE)


@derived
def _instruction_cue() -> re.Pattern[str]:
    return re.compile(any_of("instruction_cues"), re.IGNORECASE)
