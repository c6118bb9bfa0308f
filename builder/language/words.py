"""Words as they are compared, and small talk, in several languages."""

import re
import unicodedata

from builder.language.lists import derived, word_set, words
from builder.language.scripts import HAN_WORD

MARKS = "".join(map(chr, (code for code in range(0x0300, 0xFE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})))
"""Vowel signs and tones: letters to Hindi and Thai readers, though not to Python's `\\w`."""
_UNWRITTEN = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]")


def letters(without: str = "") -> str:
    """Pattern of a run of letters and digits, leaving out the characters of the class `without`."""
    return rf"[^\W_{without}]+(?:[{MARKS}]+[^\W_{without}]*)*"


SIGNED = r"(?:(?<!\w)[-−])?\d+(?:[.,:/-]\d+)*"
"""Pattern of a number with its sign, decimals, and of dates and times in digits."""
_WORD = re.compile(rf"{SIGNED}|{letters()}(?:['’]{letters()})*")
MAX_FILLER_CHARS, MAX_FILLER_WORDS = 80, 6
"""A longer text means something."""


def folded(text: str) -> str:
    """One spelling of width, case and of the vowels that Arabic and Hebrew may leave out."""
    return _UNWRITTEN.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_filler(text: str) -> bool:
    """True for "okay", "thanks!", "how are you?", "you're welcome", 好的 and for texts without a single word."""
    if len(text) > MAX_FILLER_CHARS:
        return False
    rest = _greetings().sub(" ", folded(text).replace("’", "'"))
    rest_words = words_of(rest)
    return len(rest_words) <= MAX_FILLER_WORDS and all(map(_carries_nothing, rest_words)) and "?" not in rest


@derived
def _greetings() -> re.Pattern[str]:
    """Greetings and farewells, longest first; those that are questions may have a question mark."""
    phrases = sorted((*words("small_talk"), *words("greetings")), key=len, reverse=True)
    asking = "|".join(re.escape(folded(entry.removesuffix("?"))) for entry in phrases if entry.endswith("?"))
    others = "|".join(re.escape(folded(entry)) for entry in phrases if not entry.endswith("?"))
    return re.compile(rf"(?<!\w)(?:(?:{asking})(?!\w)\s*[?？]?|(?:{others})(?!\w))")


def words_of(text: str) -> list[str]:
    """Words and numbers in one spelling, in order; signs, decimals, dates and times stay whole."""
    return [word.replace("'re", "").replace("'s", "") for word in _WORD.findall(folded(text).replace("’", "'"))]


def _carries_nothing(word: str) -> bool:
    """Han words are written together with their particles: 知道了, 嗯嗯."""
    stem = word.rstrip("".join(words("particles"))) if HAN_WORD.fullmatch(word) else word
    return not stem or not word_set("filler").isdisjoint((word, stem))
