"""Whether two texts say the same in the same words."""

import re
import unicodedata
from functools import cache
from hashlib import blake2b

from builder.language.word_lists import Pattern, either, word_set, words

MAX_WORDING_CHARS = 4_000
"""A longer text is compared as it is."""
_QUOTATION_MARKS = str.maketrans("‘’‚“”„«»", '\'\'\'"""""')
_BEHIND_WORD = r"(?:(?<=[^\W\d_][^\W\d_])|(?<=[^\W\d_][^\W\d_][\"')]))"
_STATEMENT_END = re.compile(rf"{_BEHIND_WORD}[.!…]+(?=\s|$)|[。！]+")
"""After a word; a full stop by itself may be a folder, and after one letter a factorial."""
_LAST = re.compile(rf"(?:{_BEHIND_WORD}|(?P<number>(?:^|[^\W\d_]:?\s)[-−#€$£]?\d(?:[\w,.:/-]*\w)?))\.$")
"""After a word, or after a number that a word is before; in `x = 5.` it belongs to the number."""
_BEGINNING = re.compile(r"(?:^|(?<=[^\W\d_A-Z]{3}[.?]\s))(?:[^\W\d_]{2,}|[AI])(?=$|[,']|\s+[\w\"'(])")
"""The first word of a sentence. After an abbreviation none begins, and in code none does."""


def fingerprint(text: str) -> bytes:
    """16 bytes, equal for two texts that say the same."""
    return blake2b(wording(text).encode("utf-8", "backslashreplace"), digest_size=16).digest()


def wording(text: str) -> str:
    """The words of a text that are compared. A long text, or one of several lines, loses only white space at line ends."""
    plain = "\n".join(line.rstrip() for line in unicodedata.normalize("NFC", text).strip().splitlines())
    if "\n" in plain or len(plain) > MAX_WORDING_CHARS:
        return plain
    core = _STATEMENT_END.sub(".", _without_asides(" ".join(plain.translate(_QUOTATION_MARKS).split())))
    core = _LAST.sub(lambda end: end["number"] or "", core).rstrip()
    capitonyms = word_set("capitonyms")
    return (
        _BEGINNING.sub(lambda word: word[0] if word[0].casefold() in capitonyms else word[0][0].lower() + word[0][1:], core)
        or plain
    )


def _without_asides(text: str) -> str:
    first, behind, anywhere = _asides()
    rest = text
    while (shorter := first.sub("", rest, count=1)) != rest:
        rest = shorter
    rest = " ".join(anywhere.sub(" ", behind.sub(lambda aside: aside["mark"] or "", rest)).split())
    return rest if re.search(r"\w", rest) else text


@cache
def _asides() -> tuple[Pattern, Pattern, Pattern]:
    asides, trailing, polite = (either(words(name)) for name in ("asides", "behind_comma", "politeness"))
    return (
        re.compile(rf"^(?:{asides}\s*[,:!.…，：！。]+\s*|{polite}(?!\w)\s+)", re.IGNORECASE),
        re.compile(rf"[,，]\s*{trailing}\s*(?:[,，]|(?P<mark>[.!?…。！？]+\s*$)|$)"),
        re.compile(rf"(?<!\bto)\s{polite}(?=\s|[.!?…]*$)"),
    )
