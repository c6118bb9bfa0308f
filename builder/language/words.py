"""Words as they are compared, and small talk, in several languages."""

import re
import unicodedata
from functools import cache

from builder.language.lists import words as listed

MARKS = "".join(map(chr, (code for code in range(0x0300, 0xFE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})))
"""Vowel signs and tones: letters to Hindi and Thai readers, though not to Python's `\\w`."""
_UNWRITTEN = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]")


def letters(without: str = "") -> str:
    """Pattern of a run of letters and digits, leaving out the characters of the class `without`."""
    return rf"[^\W_{without}]+(?:[{MARKS}]+[^\W_{without}]*)*"


SIGNED = r"(?:(?<!\w)[-−])?\d+(?:[.,:/-]\d+)*"
"""Pattern of a number with its sign, decimals, and of dates and times in digits."""
_WORD = re.compile(rf"{SIGNED}|{letters()}(?:['’]{letters()})*")
_HAN = re.compile("[\u4e00-\u9fff]+")
_PARTICLES = "了啊哦呢吧呀嘛啦的哈嗯"

_CARRIES_NOTHING = 6
"""Longest run of filler words that is still filler; beyond it people mean something."""


def folded(text: str) -> str:
    """One spelling of width, case and of the vowels that Arabic and Hebrew may leave out."""
    return _UNWRITTEN.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_filler(text: str) -> bool:
    """True for "okay", "thanks!", "how are you?", "you're welcome", 好的 and for texts without a single word."""
    if len(text) > 80:  # noqa: PLR2004 - nobody says this little in that many characters
        return False
    greeted = _greetings().sub(" ", folded(text).replace("’", "'"))
    words = words_of(greeted)
    return len(words) <= _CARRIES_NOTHING and all(map(_carries_nothing, words)) and "?" not in greeted


@cache
def _greetings() -> re.Pattern[str]:
    """Greetings and farewells, longest first; those that are questions may have a question mark."""
    phrases = sorted((*listed("small_talk"), *listed("greetings")), key=len, reverse=True)
    asking = "|".join(re.escape(folded(entry.removesuffix("?"))) for entry in phrases if entry.endswith("?"))
    others = "|".join(re.escape(folded(entry)) for entry in phrases if not entry.endswith("?"))
    return re.compile(rf"(?<!\w)(?:(?:{asking})(?!\w)\s*[?？]?|(?:{others})(?!\w))")


def words_of(text: str) -> list[str]:
    """Words and numbers in one spelling, in order; signs, decimals, dates and times stay whole."""
    return [word.replace("'re", "").replace("'s", "") for word in _WORD.findall(folded(text).replace("’", "'"))]


def _carries_nothing(word: str) -> bool:
    """Han words are written together with their particles: 知道了, 嗯嗯."""
    filler = _filler()
    return word in filler or (bool(_HAN.fullmatch(word)) and word.rstrip(_PARTICLES) in filler | {""})


@cache
def _filler() -> frozenset[str]:
    return frozenset(listed("filler"))
