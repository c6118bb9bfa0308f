"""When two alike sentences say the same, and when they do not.

By words alone: a vector hardly hears a number, a negation or one name put for another, and nothing at all of what its
model cannot read.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from builder.pipeline.words import SIGNED, folded, words_of

SAME_WORDS = 0.8
"""Cosine below which nobody looks whether two texts hold the same words: it would cost more than it finds."""

_GLUE = frozenset(
    """
    a an the is are am be been being have has do does can could would will shall should to of that and so very just really
    also well oh ok okay please thanks actually anyway basically honestly btw fyi again right yeah yep hey hm hmm um uh ah aha
    haha hahaha lol wow seriously clearly obviously literally
    der die das den dem des ein eine einen einem einer eines ist sind bin hat habe haben und dass also auch denn doch mal ja
    eben halt übrigens nun bitte danke ach
    el la los las un una unos unas es está están ha han y que de del lo pues bueno entonces por favor gracias
    le les une est sont ai ont et du donc alors il gli uno è che di della allora o os as um uma é são então
    het een zijn heeft heb en dat это и а ну вот же ли что пожалуйста кстати итак ага эй ой
    """.split()
)
"""Words that may come, go or change without changing what is said."""
_ASIDES = re.compile(
    r"\b(?:(?:like|as) i (?:just |already )?(?:said|mentioned|told you)|by the way|to be (?:clear|honest|fair|precise)|"
    r"just to (?:repeat|remind|say|note)(?: you| it| that)?|(?:a )?(?:quick |small )?reminder|in fact|of course|in short|"
    r"you know|you see|i mean|i guess|i repeat|once more|one more time|let me repeat(?: that)?|"
    r"wie gesagt|wie ich schon sagte|ehrlich gesagt|im ernst|weißt du|noch(?: ein)?mal|zur erinnerung|jedenfalls|"
    r"como (?:ya )?(?:te )?(?:dije|decía)|por cierto|la verdad|o sea|ya sabes|de nuevo|otra vez|"
    r"comme je (?:l'ai|le) dis?|au fait|en fait|tu sais|encore une fois|"
    r"как я (?:уже )?(?:говорил|сказал)а?|в общем|честно говоря|между прочим|ещё раз)\b|"
    r"顺便说一下|说实话|总之|对了|我说过|再说一遍",
)
"""Turns of phrase that say nothing of the matter."""
_GLUE_SIGNS = frozenset("的了啊哦呢吧呀嘛啦嗯吗请谢")
_TURNS = frozenset(
    """
    not never none nothing nobody without cannot stop avoid nicht nie kein keine keinen keiner keinem nichts ohne niemals
    """.split()
)
"""Negations that undo each other."""
_DENIES = frozenset(
    """
    no nunca ni sin nada tampoco nadie ne pas jamais rien sans aucun non mai senza niente não sem nada nunca nem niet geen
    zonder nooit не нет нельзя без ни никогда никто ничего нигде невозможно
    """.split()
)
"""Negations that do not, in languages that say them twice."""
_DENYING_SIGNS = re.compile("[不没沒别無无未勿]|ない|ません|안 |못 ")

_NUMBERS = {
    word: str(number)
    for number, words in enumerate(
        """
        two zwei dos deux due dois duas twee два две двух|three drei tres trois tre três drie три трёх|
        four vier cuatro quatre quattro quatro четыре|five fünf cinco cinq cinque vijf пять|six sechs seis zes шесть|
        seven sieben siete sept sette sete zeven семь|
        eight acht ocho huit otto oito восемь|nine neun nueve neuf nove negen девять|
        ten zehn diez dix dieci dez tien десять|eleven elf onze одиннадцать|twelve zwölf doce douze dodici doze twaalf двенадцать
        """.split("|"),
        2,
    )
    for word in words.split()
}
"""Without one, which is an article in most languages."""
_HAN_DIGITS = {sign: value for value, signs in enumerate("零〇 一 二两 三 四 五 六 七 八 九".split()) for sign in signs}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_NUMBER = re.compile("[零〇一二两三四五六七八九十百千]+")
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff"
_PIECE = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+")
_NUMBER = re.compile(SIGNED)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-ÖØ-ÞА-ЯЁ][\w-]+", re.MULTILINE)
_ENDING = re.compile(r"'(?:ve|m|ll|d)$")
READ = 2_048
"""Passages kept as they were read: near repeats are compared again with every question that finds them."""
_SHORTEST_STEM, _SAME_BEGINNING = 4, 0.6
"""A word of so many letters, and of this share of the longer one that begins with it, is a form of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """content: words that count, with how often. names: written with a capital inside a sentence. words: all of them."""

    content: Counter[str]
    numbers: frozenset[str]
    negated: bool
    names: frozenset[str]
    words: frozenset[str]


def says_the_same(first: str, second: str, cosine: float, threshold: float) -> bool:
    """Whether two texts of one speaker are shown as one: alike without a difference that counts, or the same words.

    cosine: of their vectors. threshold: of the profile.
    """
    if cosine < min(threshold, SAME_WORDS):
        return False
    return restates(first, second) or (cosine >= threshold and not contradict(first, second))


def contradict(first: str, second: str) -> bool:
    """True when numbers, dates, names or negation differ, or one word stands where the other text has another.

    Such texts are never merged however alike (features F2). Nobody can tell by words alone whether the other word means the
    same, so a synonym counts as a difference: a restatement shown twice costs a line, a contradiction merged costs the truth.
    """
    ours, theirs = _said(first), _said(second)
    return (
        _differ(ours, theirs)
        or bool(_only(ours.names, theirs) or _only(theirs.names, ours))
        or _exchanged(ours.content, theirs.content)
    )


def restates(first: str, second: str) -> bool:
    """True when both hold the same words, glue and order aside: then they say the same whatever their vectors."""
    ours, theirs = _said(first), _said(second)
    same = not _differ(ours, theirs) and bool(ours.content) and ours.content == theirs.content
    return same and not contradict(first, second)


def _differ(ours: _Said, theirs: _Said) -> bool:
    """At the first glance: most pairs end here."""
    return ours.numbers != theirs.numbers or ours.negated != theirs.negated


@lru_cache(maxsize=READ)
def _said(text: str) -> _Said:
    words = [_ENDING.sub("", word) if "'" in word else word for word in words_of(_ASIDES.sub(" ", folded(text)))]
    pieces = [piece for word in words if not _denies(word) for piece in _PIECE.findall(_HAN_NUMBER.sub("", word))]
    left = (piece for piece in pieces if not (piece in _GLUE or piece in _GLUE_SIGNS or piece in _NUMBERS))
    return _Said(
        content=Counter(piece for piece in left if not _DENYING_SIGNS.match(piece)),
        numbers=frozenset(_numbers(folded(text), words)),
        negated=_negated(text, words),
        names=frozenset(name.casefold() for name in _NAME.findall(text)) - _GLUE - _NUMBERS.keys(),
        words=frozenset(words),
    )


def _numbers(text: str, words: list[str]) -> Iterator[str]:
    """In digits and in words."""
    yield from _NUMBER.findall(text)
    yield from (_NUMBERS[word] for word in words if word in _NUMBERS)
    yield from (str(_han_number(run)) for run in _HAN_NUMBER.findall(text) if run != "一")


def _han_number(run: str) -> int:
    """十一 → 11, 三百 → 300; a run of digits as it is read: 二〇二六 → 2026."""
    total, digits = 0, 0
    for sign in run:
        if sign in _HAN_UNITS:
            total, digits = total + max(digits, 1) * _HAN_UNITS[sign], 0
        else:
            digits = 10 * digits + _HAN_DIGITS[sign]
    return total + digits


def _denies(word: str) -> bool:
    return word in _TURNS or word in _DENIES or word.endswith("n't")


def _negated(text: str, words: list[str]) -> bool:
    turns = sum(word in _TURNS or word.endswith("n't") for word in words) + len(_DENYING_SIGNS.findall(text))
    return bool(turns % 2) != any(word in _DENIES for word in words)


def _only(names: frozenset[str], other: _Said) -> frozenset[str]:
    return names - other.words - other.names


def _exchanged(ours: Counter[str], theirs: Counter[str]) -> bool:
    """Whether each side has a word that the other has no form of."""
    mine, others = ours - theirs, theirs - ours
    return any(not any(_forms(word, other) for other in others) for word in mine) and any(
        not any(_forms(word, other) for other in mine) for word in others
    )


def _forms(first: str, second: str) -> bool:
    """Whether one word goes on where the other ends: workshop, workshops. Other endings may be other words: hermano, hermana."""
    short, long = sorted((first, second), key=len)
    return long.startswith(short) and len(short) >= max(_SHORTEST_STEM, _SAME_BEGINNING * len(long))
