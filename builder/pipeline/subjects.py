"""What a standing instruction is about, and whether a later one repeats it or takes its place.

Whoever supersedes wrongly hides a wish, whoever fails to shows both in time order: so only what clearly excludes the other
counts, such as two languages, two numbers, a thing and its negation.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from builder.pipeline.cues import REPLACES
from builder.pipeline.words import folded, letters

ALIKE = 0.5
"""Least share of common words (Jaccard) for one subject."""

_ONE_OF = {
    "language": (
        "english englisch inglés inglesa anglais английский английском по-английски 英文 英语",
        "german deutsch alemán allemand немецкий немецком по-немецки 德文 德语",
        "french französisch francés français французском по-французски 法文 法语",
        "spanish spanisch español espagnol испанском по-испански 西班牙语",
        "russian russisch ruso russe русском по-русски 俄语",
        "chinese chinesisch chino chinois китайском по-китайски 中文 汉语",
        "italian italienisch italiano italien итальянском",
        "dutch niederländisch holländisch neerlandés",
        "portuguese portugiesisch portugués",
        "japanese japanisch japonés 日语 日文",
    ),
    "length": (
        (
            "short shorter brief briefly concise terse kurz kurze kürzer knapp corto corta cortas cortos breve breves "
            "короче кратко короткие краткие 简短 简洁"
        ),
        (
            "long longer detailed verbose lengthy lang lange ausführlich ausführliche largo largas detallado detalladas подробно "
            "подробные 详细"
        ),
    ),
    "tone": (
        "formal formally polite förmlich sieze siezen usted formales формально",
        "informal informally casual duze duzen tutea tutéame неформально",
    ),
    "units": ("metric metrisch metrische métrico métricas celsius kilometres", "imperial imperiale fahrenheit miles ounces"),
    "indentation": ("tab tabs", "space spaces"),
    "layout": ("bullet bullets list lists table tables", "prose paragraph paragraphs"),
}
_SLOTS = {
    word: (group, number) for group, members in _ONE_OF.items() for number, words in enumerate(members) for word in words.split()
}
_HAN_SLOTS = tuple(word for word in _SLOTS if ord(word[0]) > 0x3000)  # noqa: PLR2004 - scripts without spaces

_SAYS_NOTHING = frozenset(
    """
    always never ever from now on here going forward in the future please don't do not no nor stop avoid skip only just must
    should shall you can could may would will again any anymore more longer use using used answer answers answering reply
    replies respond responses response write writing speak talk say said keep make give send be i i'd i'm me my prefer rather
    want like love hate need expect your when whenever every each time ask about for to of a an and or but so also it is are
    fine ok have forget ignore rule what that than with as by include add show provide remember sure under at oh well immer
    stets nie niemals nur noch bitte ab jetzt sofort künftig kein keine keinen nicht mehr wieder du darfst kannst musst
    brauchst antworte antworten antwort benutze benutzen benutz verwende verwenden nutze nutzen schreib schreibe schreiben
    sprich auf mir mich ich bevorzuge möchte dass wenn nach frage und die der das den ein eine mit zu siempre nunca jamás por
    favor a partir de ahora adelante responde responder respuestas contesta usa uses usar utiliza escribe habla puedes otra
    vez nuevo volver prefiero quiero que no ya hace falta en el la los las me te con y un una cuando всегда никогда не больше
    только пожалуйста этого момента с отныне впредь используй использовать отвечай пиши говори можешь снова опять нужно надо я
    предпочитаю мне меня и в на по ответы toujours jamais désormais je préfère réponds utilise
    """.split()
)
_HAN_SAYS_NOTHING = re.compile(
    "从现在(?:开始|起)|从今以后|以后|今后|请|总是|始终|一直|永远|务必|不要|不用|不必|别|再|重新|可以|能|使用|用|回答|回复|我|你|"
    "更?喜欢|希望|了|吧|每次|的"
)
_NEGATED = re.compile(
    r"\b(?:never|don't|do not|not|no|stop|avoid|skip|without|hate|nie|niemals|nicht|kein|keine|keinen|ohne|nunca|jamás|sin|"
    r"deja de|не|никогда|нельзя|без|перестань|jamais|sans)\b|n't\b|不|别|勿",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:instead of|rather than|an?statt|statt|en (?:lugar|vez) de|вместо|au lieu de)\b|而不是", re.IGNORECASE
)
_REPLACES = re.compile(REPLACES, re.IGNORECASE)
_NAMED = re.compile(
    r"\b(?:(?:call|address|refer to) me(?: as| by)?|nenne? mich|llámame|(?:называй|зови)(?:те)? меня)\b|叫我|称呼我",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_AMOUNT = re.compile(
    r"(?:\b(?:under|below|over|above|most|least|than|to|at|within|max|maximum|minimum|exactly|about|after|use|show|write|give|with|in|every|"
    r"unter|über|höchstens|mindestens|maximal|nach|mit|auf|de|hasta|máximo|con|до|больше|меньше|с)\s+|[\u3400-\u9fff])"
    r"(\d+(?:[.,:]\d+)*)\s*(%|€|\$|[^\W\d_]+)"
)
_WORD = re.compile(rf"{letters()}(?:['’-]{letters()})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """words: stemmed terms of what it is about. slots: (group, member) of which only one can hold. numbers: as written.

    amounts: unit → numbers: "under 90 words" is one, "batch 90" is a name.
    negated: it forbids. replaces: it says that something held before. dropped: what it names as replaced.
    """

    words: frozenset[str]
    slots: Mapping[str, frozenset[object]]
    numbers: frozenset[str]
    amounts: Mapping[str, frozenset[str]]
    negated: bool
    replaces: bool
    dropped: frozenset[object]

    @property
    def about(self) -> frozenset[object]:
        """Everything it names but numbers."""
        return self.words | {(group, member) for group, members in self.slots.items() for member in members}


def subject(sentence: str, terms: Callable[[str], str]) -> Subject:
    """What the sentence is about, without the words that make it an instruction. terms: text → stemmed terms."""
    kept, *replaced = _REPLACED.split(sentence, maxsplit=1)
    words, slots = _read(kept, terms)
    named = _NAMED.search(kept)
    if named:
        words, slots = frozenset(), {"name": frozenset(_read(kept[named.end() :], terms)[0])}
    others, other_slots = _read(" ".join(replaced), terms)
    return Subject(
        words=words,
        slots=slots,
        numbers=frozenset(_NUMBER.findall(kept)),
        amounts=_amounts(kept),
        negated=bool(_NEGATED.search(kept.replace("’", "'"))),
        replaces=bool(replaced) or bool(_REPLACES.search(sentence)),
        dropped=others | {(group, member) for group, members in other_slots.items() for member in members},
    )


def repeats(older: Subject, newer: Subject) -> bool:
    """Whether both ask for the same."""
    same = older.about == newer.about and older.numbers == newer.numbers and older.negated == newer.negated
    return same and bool(older.about)


def supersedes(newer: Subject, older: Subject) -> bool:
    """Whether both cannot hold at once: same subject, but another language, name, number, or the opposite."""
    alike = _jaccard(older.words, newer.words) >= ALIKE
    if older.about and older.about <= newer.dropped:
        return True
    if alike and any(not members & newer.slots.get(group, members) for group, members in older.slots.items()):
        return True
    if older.negated != newer.negated:
        return bool(older.about) and _jaccard(older.about, newer.about) > ALIKE
    if alike and any(not numbers & newer.amounts.get(unit, numbers) for unit, numbers in older.amounts.items()):
        return True
    one_each = len(older.about - newer.about) == len(newer.about - older.about) == 1
    return newer.replaces and one_each and bool(older.words & newer.words)


def withdraws(newer: Subject, older: Subject) -> bool:
    """Whether "you can … again" means that one."""
    shared = older.about & newer.about
    return bool(shared) and len(shared) >= ALIKE * min(len(older.about), len(newer.about))


def _read(text: str, terms: Callable[[str], str]) -> tuple[frozenset[str], dict[str, frozenset[object]]]:
    slots: dict[str, frozenset[object]] = {}
    rest = []
    plain = folded(text).replace("’", "'")
    for word in (*(word for word in _HAN_SLOTS if word in plain), *_WORD.findall(_HAN_SAYS_NOTHING.sub(" ", plain))):
        if word in _SLOTS:
            group, member = _SLOTS[word]
            slots[group] = slots.get(group, frozenset()) | {member}
        elif word not in _SAYS_NOTHING and not word.isdigit() and not any(held in word for held in _HAN_SLOTS):
            rest.append(word)
    return frozenset(terms(" ".join(rest)).split()), slots


def _amounts(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for number, unit in _AMOUNT.findall(folded(text)):
        if unit not in _SAYS_NOTHING:
            found[unit] = found.get(unit, frozenset()) | {number}
    return found


def _jaccard(first: frozenset[object] | frozenset[str], second: frozenset[object] | frozenset[str]) -> float:
    together = len(first | second)
    return len(first & second) / together if together else 1.0
