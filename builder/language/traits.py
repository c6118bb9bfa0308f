"""What a text shows by its words, whether it follows up an earlier one, and whether two texts say the same."""

import re
import unicodedata
from collections.abc import Callable
from enum import IntFlag
from hashlib import blake2b

from builder.language.words import UNSPACED, any_of, any_unspaced, derived, either, has_word, is_filler, word_set, words

_WORD = re.compile(r"[^\W\d_]+")
_QUESTION_MARKS = ("?", "？", "؟")


class Trait(IntFlag):
    """Facts of the text alone, stored with each passage."""

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
    """by_person: a person wrote it. instructs: a standing instruction begins in it."""
    signs = {
        Trait.ASKS: text.rstrip().endswith(_QUESTION_MARKS),
        Trait.TIME: _time().search(text) or not word_set("times").isdisjoint(_WORD.findall(text.lower())),
        Trait.PLACE: _place().search(text),
        Trait.INSTRUCTION: by_person and has_word("instruction_cues", text),
        Trait.INSTRUCTS: instructs,
    }
    return Trait(sum(trait for trait, sign in signs.items() if sign))


@derived
def _time() -> re.Pattern[str]:
    return re.compile(rf"\b(?:(?:19|20)\d\d|\d{{1,2}}:\d\d)\b|月\d|{any_unspaced('times')}")


@derived
def _place() -> re.Pattern[str]:
    prepositions, articles = (either(words(name)) for name in ("place_prepositions", "articles"))
    return re.compile(rf"\b{prepositions}\s+(?:{articles}\s+)?[A-ZÄÖÜÉА-Я]\w+")


@derived
def _number() -> re.Pattern[str]:
    return re.compile(rf"\d|{any_of('numbers')}", re.IGNORECASE)


MAX_WORDS = 12
"""A longer question says what it is about."""
UNSPACED_CHARS_PER_WORD = 3
"""Characters of a script without spaces that say as much as a word and its grammar."""


def is_follow_up(text: str, terms: Callable[[str], str]) -> bool:
    """Whether it is understood only with an earlier text. terms: text → stemmed terms joined by spaces."""
    if len(text.split()) > MAX_WORDS or is_filler(text):
        return False
    continuation, why, pointer = _follow_ups()
    unspaced = len(UNSPACED.findall(text))
    content = unspaced // UNSPACED_CHARS_PER_WORD if unspaced else len(set(terms(pointer.sub(" ", text)).split()))
    return content <= (2 if continuation.search(text) else 1 if why.search(text) or pointer.search(text) else -1)


@derived
def _follow_ups() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    interjections = rf"(?:(?:hm+|{either(words('interjections'))})\W+)*"
    patterns = (
        r"^\W*" + any_of("continuations", before=interjections),
        r"^\W*" + any_of("follow_up_questions", before=""),
        any_of("pronouns"),
    )
    continuation, why, pointer = (re.compile(pattern, re.IGNORECASE) for pattern in patterns)
    return continuation, why, pointer


MAX_WORDING_CHARS = 4_000
"""A longer text is compared as it is."""
_QUOTATION_MARKS = str.maketrans("‘’‚“”„«»", '\'\'\'"""""')
_BEHIND_WORD = r"(?:(?<=[^\W\d_][^\W\d_])|(?<=[^\W\d_][^\W\d_][\"')]))"
_END = re.compile(rf"{_BEHIND_WORD}[.!…]+(?=\s|$)|[。！]+")
"""After a word; a full stop by itself may be a folder, and after one letter a factorial."""
_LAST = re.compile(rf"(?:{_BEHIND_WORD}|(?P<number>(?:^|[^\W\d_]:?\s)[-−#€$£]?\d(?:[\w,.:/-]*\w)?))\.$")
"""After a word, or after a number that a word is before; in `x = 5.` it belongs to the number."""
_BEGINNING = re.compile(r"(?:^|(?<=[^\W\d_A-Z]{3}[.?]\s))(?:[^\W\d_]{2,}|[AI])(?=$|[,']|\s+[\w\"'(])")
"""The first word of a sentence. After an abbreviation none begins, and in code none does."""


def fingerprint(text: str) -> bytes:
    """16 bytes, equal for two texts that say the same."""
    return blake2b(wording(text).encode("utf-8", "backslashreplace"), digest_size=16).digest()


def wording(text: str) -> str:
    """What is compared of a text. Of several lines, or of a long one, only white space at line ends is left out."""
    plain = "\n".join(line.rstrip() for line in unicodedata.normalize("NFC", text).strip().splitlines())
    if "\n" in plain or len(plain) > MAX_WORDING_CHARS:
        return plain
    core = _END.sub(".", _without_asides(" ".join(plain.translate(_QUOTATION_MARKS).split())))
    core = _LAST.sub(lambda end: end["number"] or "", core).rstrip()
    return _BEGINNING.sub(lambda word: _small(word[0]), core) or plain


def _small(word: str) -> str:
    return word if word.casefold() in word_set("capitonyms") else word[0].lower() + word[1:]


def _without_asides(text: str) -> str:
    first, behind, anywhere = _asides()
    rest = text
    while (shorter := first.sub("", rest, count=1)) != rest:
        rest = shorter
    rest = " ".join(anywhere.sub(" ", behind.sub(lambda aside: aside["mark"] or "", rest)).split())
    return rest if re.search(r"\w", rest) else text


@derived
def _asides() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    asides, trailing, polite = ("|".join(map(re.escape, words(name))) for name in ("asides", "behind_comma", "politeness"))
    return (
        re.compile(rf"^(?:(?:{asides})\s*[,:!.…，：！。]+\s*|(?:{polite})(?!\w)\s+)", re.IGNORECASE),
        re.compile(rf"[,，]\s*(?:{trailing})\s*(?:[,，]|(?P<mark>[.!?…。！？]+\s*$)|$)"),
        re.compile(rf"(?<!\bto)\s(?:{polite})(?=\s|[.!?…]*$)"),
    )
