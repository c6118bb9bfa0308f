"""Names, and which of them look alike."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product

from builder.language.word_lists import UNSPACED, words

DEFAULT_NAMES = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
"""Role → the stored speaker of a breadcrumb without a name."""
MAX_RUN = 16
"""Words side by side that are read as one: "A s s i s t a n t"."""
MAX_NAMES = 4_096
WORD = re.compile(r"[^\W_]+")
_PLAIN = re.compile(r"[^\W_][\w .,'\u2019()&@+/-]*")
_PART = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
"""The words that capitals begin, without digits: two in "TheAssistant2"."""
_INVISIBLE = frozenset({"Mn", "Me", "Cf"})
"""Categories of marks and of characters without a width; they tell no two looks apart."""
_FILLERS = "\u115f\u1160"
"""Letters of Hangul that show nothing."""


def skeleton(text: str) -> str:
    """One text for all that look alike; the case stays. Compared, never shown."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).translate(_table()))


def look(text: str) -> str:
    """The skeleton in small letters, without marks and invisible characters. I, 1 and | look like l."""
    small = skeleton(skeleton(skeleton(unicodedata.normalize("NFKD", skeleton(text))).casefold()))
    if small.isascii():
        return small
    return "".join(sign for sign in small if unicodedata.category(sign) not in _INVISIBLE and sign not in _FILLERS)


def looks(word: str) -> frozenset[str]:
    """Every `look` of a word: each of its i may be written as a capital."""
    return frozenset(map("".join, product(*("il" if sign == "i" else sign for sign in look(word.casefold())))))


@cache
def role_looks(*lists: str) -> frozenset[str]:
    """Looks of the names of roles in all languages. lists: `roles`, `assistants`; none = both."""
    return frozenset(each for name in lists or ("roles", "assistants") for word in words(name) for each in looks(word))


@lru_cache(MAX_NAMES)
def parts(name: str) -> frozenset[str]:
    """The looks of a name's words, of adjacent words together, and of their parts."""
    plain = unicodedata.normalize("NFC", name)
    in_order = [look(word) for word in WORD.findall(plain)]
    runs = ("".join(in_order[start:end]) for start in range(len(in_order)) for end in range(start + 1, start + MAX_RUN + 1))
    return frozenset((*runs, *(look(part) for text in (plain, skeleton(plain)) for part in _PART.findall(text))))


@lru_cache(MAX_NAMES)
def whole_look(name: str) -> str:
    """The look of all words of a name as one."""
    return look("".join(WORD.findall(name)))


@lru_cache(MAX_NAMES)
def is_plain(name: str, reserved: frozenset[str] = frozenset()) -> bool:
    """Whether it reads as nothing but a name. reserved: looks that no part of it may have; none = those of roles."""
    none_of = reserved or role_looks()
    shape = look(name)
    is_held = any(word in shape for word in none_of if UNSPACED.search(word))
    return bool(_PLAIN.fullmatch(name)) and parts(name).isdisjoint(none_of) and not is_held


def quoted(name: str) -> str:
    """The name in quotation marks, in one line."""
    return f'"{" ".join(name.replace(chr(34), chr(39)).split())}"'


@cache
def _table() -> Mapping[int, str]:
    lines = (files("builder.language") / "data" / "confusables.tsv").read_text("utf-8").split("\n")
    return {
        code: "".join(chr(int(sign, 16)) for sign in target.split())
        for target, sources in (line.split("\t") for line in lines if line and not line.startswith("#"))
        for source in sources.split()
        for code in range(int(source.split("-")[0], 16), int(source.split("-")[-1], 16) + 1)
    }
