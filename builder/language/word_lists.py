"""The word lists of all languages (`data/*.toml`): a new language is a new file."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

HAN = "\u3400-\u9fff"
KANA = "\u3040-\u30ff"
"""Inside of a class of characters, as `HAN`."""
UNSPACED = re.compile(f"[{KANA}{HAN}]")
"""A character of a script that writes no spaces between words."""

SPACED_SCRIPTS = frozenset({"latin", "cyrillic"})
"""Names of scripts that write spaces between words."""
LETTERS = {
    "cyrillic": re.compile("[а-яё]", re.IGNORECASE),
    "kana": re.compile(f"[{KANA}]"),
    "han": re.compile(f"[{HAN}]"),
}
"""Name of a script → a letter of it. Japanese has Han characters, too: the first script with a letter in a text is the text's.

Latin letters are in texts of all languages and tell nothing.
"""


Pattern = re.Pattern[str]
NOTHING = r"(?!)"
WORD_START, WORD_END = r"(?<!\w)", r"(?!\w)"
_folder: Traversable = files("builder.language") / "data"


@cache
def tables(folder: str = "") -> Mapping[str, Mapping[str, Any]]:
    """Language code → its file, by code. folder: below that of word lists."""
    entries = (_folder / folder).iterdir()
    sources = sorted((entry for entry in entries if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    return {source.name.removesuffix(".toml"): tomllib.loads(source.read_text("utf-8")) for source in sources}


@cache
def words(name: str) -> tuple[str, ...]:
    """All entries of a list in all languages, the longest first. Raises KeyError for an unknown list."""
    entries = {entry for language in tables().values() for entry in language.get(name, ())}
    if not entries:
        raise KeyError(name)
    return tuple(sorted(entries, key=lambda entry: (-len(entry), entry)))


@cache
def word_set(name: str) -> frozenset[str]:
    """The entries of `words` as a set."""
    return frozenset(words(name))


def any_of(name: str, before: str = WORD_START, behind: str = WORD_END) -> str:
    """Pattern of any entry. before, behind: patterns around an entry of a script with spaces."""
    spaced = either(word for word in words(name) if not UNSPACED.match(word))
    return f"(?:{before}{spaced}{behind}|{any_unspaced(name)})"


def any_unspaced(name: str) -> str:
    """Pattern of any entry in a script without spaces."""
    return either(word for word in words(name) if UNSPACED.match(word))


def either(entries: Iterable[str]) -> str:
    """Pattern of any of these texts."""
    return f"(?:{'|'.join(map(re.escape, entries)) or NOTHING})"


def opens_with(name: str, sentence: str) -> bool:
    """Whether it begins with an entry of a list: "Yes, the red one." with one of `answers`."""
    return bool(_opening(name).match(sentence))


def has_word(name: str, text: str) -> bool:
    """Whether it contains an entry of a list: "instead" is one of `changes`."""
    return bool(_entry(name).search(text))


@cache
def _opening(name: str) -> Pattern:
    return re.compile(r"\W*" + any_of(name, before="", behind=r"(?![\w’'-])"), re.IGNORECASE)


@cache
def _entry(name: str) -> Pattern:
    return re.compile(any_of(name), re.IGNORECASE)
