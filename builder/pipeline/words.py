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

_FILLER = frozenset(
    """
    ok okay okey k kk yes yep yeah yup ya no nope nah sure fine great nice cool perfect awesome super alright right good
    thanks thank thx ty you u welcome please sorry hi hello hey bye goodbye hmm hm uh um ah oh aha haha hahaha lol wow well so
    got it i see that this there go is a all very much so many done and then now just one give me sec second moment wait
    sounds works for np problem no worries anytime glad to help happy can will do let know if
    anything else with today ja nein gut vielen dank danke schön bitte super klar alles passt genau hallo tschüss moment mal
    kein problem gern gerne na jo ach
    sí si no vale muchas gracias bien perfecto hola adiós claro genial de nada por favor muy bueno exacto
    oui non merci beaucoup d'accord bonjour salut voilà grazie prego va bene certo bien sûr ouais obrigado obrigada tudo bem
    да нет большое спасибо хорошо ладно ок окей понятно привет пока пожалуйста отлично
    ага угу понял поняла конечно договорились супер не за что
    好 谢谢 多谢 是 对 行 可以 知道 明白 收到 太好 不客气 没事 没问题 你好 再见 はい いいえ ありがとう 了解 うん 네 감사합니다
    """.split()
)
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
    asking = "|".join(re.escape(folded(entry.removesuffix("?"))) for entry in listed("small_talk") if entry.endswith("?"))
    others = "|".join(re.escape(folded(entry)) for entry in listed("small_talk") if not entry.endswith("?"))
    return re.compile(rf"(?<!\w)(?:(?:{asking})(?!\w)\s*[?？]?|(?:{others})(?!\w))")


def words_of(text: str) -> list[str]:
    """Words and numbers in one spelling, in order; signs, decimals, dates and times stay whole."""
    return [word.replace("'re", "").replace("'s", "") for word in _WORD.findall(folded(text).replace("’", "'"))]


def _carries_nothing(word: str) -> bool:
    """Han words are written together with their particles: 知道了, 嗯嗯."""
    return word in _FILLER or (bool(_HAN.fullmatch(word)) and word.rstrip(_PARTICLES) in _FILLER | {""})
