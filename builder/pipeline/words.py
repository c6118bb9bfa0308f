"""Small talk, exact repeats, and when two alike sentences say different things. All by words, in several languages."""

import re
import unicodedata
from hashlib import blake2b

MARKS = "".join(map(chr, (code for code in range(0x0300, 0xFE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})))
"""Vowel signs and tones: letters to Hindi and Thai readers, though not to Python's `\\w`."""
_UNWRITTEN = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]")


def letters(without: str = "") -> str:
    """Pattern of a run of letters and digits, leaving out the characters of the class `without`."""
    return rf"[^\W_{without}]+(?:[{MARKS}]+[^\W_{without}]*)*"


_SIGNED = r"(?:(?<!\w)[-−])?\d+(?:[.,:/-]\d+)*"
_NUMBER = re.compile(_SIGNED)
_WORD = re.compile(rf"{_SIGNED}|{letters()}(?:['’]{letters()})*")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-ÖØ-ÞА-Я][\w-]+", re.MULTILINE)

_FILLER = frozenset(
    """
    ok okay okey k kk yes yep yeah yup ya no nope nah sure fine great nice cool perfect awesome super alright right good
    thanks thank thx ty you u welcome please sorry hi hello hey bye goodbye hmm hm uh um ah oh aha haha hahaha lol wow well so
    got it i see that this there go is a all very much so many done and then now just one give me sec second moment wait
    sounds works for np problem no worries anytime glad to help happy can will do let know if
    anything else with today ja nein gut vielen dank danke schön bitte super klar alles passt genau hallo tschüss moment mal
    sí si no vale muchas gracias bien perfecto hola adiós claro genial de nada por favor
    oui non merci beaucoup d'accord bonjour salut voilà grazie prego va bene certo obrigado obrigada tudo bem
    да нет большое спасибо хорошо ладно ок окей понятно привет пока пожалуйста отлично
    好 好的 谢谢 嗯 是的 行 可以 没问题 你好 再见 はい いいえ ありがとう 了解 うん 네 감사합니다
    """.split()
)
_CARRIES_NOTHING = 6
"""Longest run of filler words that is still filler; beyond it people mean something."""

_NEGATION = frozenset(
    """
    no not never none nothing nobody without don't doesn't didn't won't wouldn't can't cannot couldn't shouldn't isn't aren't
    wasn't weren't hasn't haven't hadn't stop avoid nicht nie kein keine keinen keiner nichts ohne niemals nunca ni sin nada
    tampoco ne pas jamais rien sans non mai senza não sem не нет никогда нельзя без ни
    """.split()
)
_NEGATION_SIGNS = ("不", "没", "沒", "别", "無", "ない", "ません", "안 ", "못 ")


def folded(text: str) -> str:
    """One spelling of width, case and of the vowels that Arabic and Hebrew may leave out."""
    return _UNWRITTEN.sub("", unicodedata.normalize("NFKC", text).casefold())


def normalised(text: str) -> str:
    """Words in lower case, joined by single spaces: what two exact repeats share whatever their punctuation."""
    return " ".join(_words(text)) or unicodedata.normalize("NFKC", text).strip()


def fingerprint(text: str) -> bytes:
    """16 bytes, equal for texts that are equal once normalised (features F1)."""
    return blake2b(normalised(text).encode("utf-8", "replace"), digest_size=16).digest()


def is_filler(text: str) -> bool:
    """True for "okay", "thanks!", "you're welcome", 好的 and for texts without a single word (features F3)."""
    if len(text) > 80:  # noqa: PLR2004 - nobody says this little in that many characters
        return False
    words = _words(text)
    return len(words) <= _CARRIES_NOTHING and all(word in _FILLER for word in words) and "?" not in text


def contradict(first: str, second: str) -> bool:
    """True when numbers, dates, names or negation differ: such texts are never merged however alike (features F2)."""
    return any(mark(first) != mark(second) for mark in (_numbers, _negations, _names))


def _words(text: str) -> list[str]:
    return [word.replace("'re", "").replace("'s", "") for word in _WORD.findall(folded(text).replace("’", "'"))]


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


def _names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def _negations(text: str) -> int:
    words = sum(word in _NEGATION or word.endswith("n't") for word in _words(text))
    return (words + sum(text.count(sign) for sign in _NEGATION_SIGNS)) % 2
