"""What a text shows by its words alone: asks, tells a time, a place, a number, gives a standing instruction."""

import re
from enum import IntFlag

_TIMES = frozenset(
    """
yesterday today tomorrow tonight last next ago week weeks weekend month months year years day days morning evening
night since january february march april may june july august september october november december monday tuesday
wednesday thursday
friday saturday sunday gestern heute morgen letzte letzten nächste woche monat jahr tag ayer hoy mañana semana mes año hier demain
semaine mois année jour вчера сегодня завтра неделя месяц год
""".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_NUMBERS = """
one two three four five six seven eight nine ten dozen hundred thousand once twice first second third
""".split()
_INSTRUCTION = re.compile(
    r"\b(always|never|from now on|going forward|i(?:'d| would)? prefer|make sure (?:to|you|that)|when(?:ever)? i ask|"
    r"i want you to|remember (?:to|that)|don't ever|i (?:don't|do not) like|"
    r"please (?:always|use|include|avoid|keep|provide|format|don't|do not|stop)|"
    r"immer|niemals|ab jetzt|ich bevorzuge|siempre|nunca|a partir de ahora|prefiero|toujours|jamais|désormais|je préfère|"
    r"всегда|никогда|отныне|предпочитаю)\b|总是|永远不要|从现在开始|请不要|我更喜欢",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b(?:(?:19|20)\d\d|\d{1,2}:\d\d)\b|昨天|今天|明天|星期|月\d")
_PLACE = re.compile(r"\b(?:in|at|to|from|near|nach|aus|en|à|в|из)\s+(?:the\s+)?[A-ZÄÖÜÉА-Я]\w+")
_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_QUESTION = ("?", "？", "؟")


class Trait(IntFlag):
    """Stored with each passage, because it is a fact of the text alone."""

    ASKS = 1
    TIME = 2
    PLACE = 4
    INSTRUCTION = 16
    """Holds a cue anywhere: a signal of ranking."""
    STANDING = 32
    """Holds a sentence that is a standing instruction, or takes one back."""


def counts(text: str) -> bool:
    """Whether it holds a number, in digits or words."""
    return bool(_NUMBER.search(text))


def traits(text: str, *, by_person: bool, instructs: bool = False) -> Trait:
    """All traits of a passage. by_person: a person said it. instructs: a standing instruction of the whole text begins in it."""
    found = Trait(0)
    if text.rstrip().endswith(_QUESTION):
        found |= Trait.ASKS
    if _TIME.search(text) or not _TIMES.isdisjoint(_WORD.findall(text.lower())):
        found |= Trait.TIME
    if _PLACE.search(text):
        found |= Trait.PLACE
    if by_person and _INSTRUCTION.search(text):
        found |= Trait.INSTRUCTION
    if instructs:
        found |= Trait.STANDING
    return found
