"""Words of a text in one spelling, small talk, and identifiers."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from builder.language.word_lists import HAN, Pattern, either, word_set, words

HAN_WORD = re.compile(f"[{HAN}]+")

Terms = Callable[[str], str]
"""Text → stemmed terms joined by spaces."""


MARKS = "".join(map(chr, (code for code in range(0x0300, 0xFE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})))
"""Vowel signs and tones: letters to Hindi and Thai readers, though not to Python's `\\w`."""
SIGNED = r"(?:(?<!\w)[-−])?\d+(?:[.,:/-]\d+)*"
"""Pattern of a number with its sign, decimals, and of dates and times in digits."""
MAX_FILLER_CHARS, MAX_FILLER_WORDS = 80, 6
"""A longer text means something."""
_UNWRITTEN = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]")
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?=\S*\d\S|\S\d|\w+[._]\w{2}|(?:\w*/\w+){2}|\w*[a-z][A-Z])[\w#@%€$£+-][\w./:@#%+-]*(?<![.:/])"
)


def letters(without: str = "") -> str:
    """Pattern of letters and digits, but for the characters of the class `without`."""
    return rf"[^\W_{without}]+(?:[{MARKS}]+[^\W_{without}]*)*"


_WORD = re.compile(rf"{SIGNED}|{letters()}(?:['’]{letters()})*")


def folded(text: str) -> str:
    """One spelling of width, case and optional vowels of Arabic and Hebrew."""
    return _UNWRITTEN.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_filler(text: str) -> bool:
    """True for "okay", "thanks!", "how are you?", 好的 and texts without a word."""
    if len(text) > MAX_FILLER_CHARS:
        return False
    rest = _greetings().sub(" ", folded(text).replace("’", "'"))
    rest_words = words_of(rest)
    return len(rest_words) <= MAX_FILLER_WORDS and all(map(_carries_nothing, rest_words)) and "?" not in rest


def words_of(text: str) -> list[str]:
    """Words and numbers in one spelling; decimals, dates and times stay whole."""
    return [word.replace("'re", "").replace("'s", "") for word in _WORD.findall(folded(text).replace("’", "'"))]


def identifiers(text: str) -> tuple[str, ...]:
    """Its numbers of two characters or more, ids, dates, file names and paths, as written."""
    return tuple(dict.fromkeys(name for name in _IDENTIFIER.findall(text) if len(name) > 1))


@cache
def _greetings() -> Pattern:
    phrases = sorted((*words("small_talk"), *words("greetings")), key=len, reverse=True)
    asking = either(folded(entry.removesuffix("?")) for entry in phrases if entry.endswith("?"))
    others = either(folded(entry) for entry in phrases if not entry.endswith("?"))
    return re.compile(rf"(?<!\w)(?:{asking}(?!\w)\s*[?？]?|{others}(?!\w))")


def _carries_nothing(word: str) -> bool:
    stem = word.rstrip("".join(words("particles"))) if HAN_WORD.fullmatch(word) else word
    return not stem or not word_set("filler").isdisjoint((word, stem))
