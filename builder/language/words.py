"""The word lists of all languages (`data/*.toml`, a new language is a new file), what words alone tell, and names."""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any, ParamSpec, TypeVar, cast

HAN = "\u3400-\u9fff"
KANA = "\u3040-\u30ff"
"""Inside of a class of characters, as `HAN`."""
UNSPACED = re.compile(f"[{KANA}{HAN}]")
"""A character of a script that writes no spaces between words."""
HAN_WORD = re.compile(f"[{HAN}]+")

SPACED_SCRIPTS = frozenset({"latin", "cyrillic"})
"""Names of scripts that write spaces between words."""
LETTERS = {
    "cyrillic": re.compile("[а-яё]", re.IGNORECASE),
    "han": re.compile(f"[{HAN}]"),
    "kana": re.compile(f"[{KANA}]"),
}
"""Name of a script → a letter of it; Latin letters are in texts of all languages and tell nothing."""


NOTHING = r"(?!)"
WORD_START, WORD_END = r"(?<!\w)", r"(?!\w)"

Terms = Callable[[str], str]
"""Text → stemmed terms joined by spaces."""
Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")
_folder: Traversable = files("builder.language") / "data"
_clear_caches: list[Callable[[], None]] = []


def derived(function: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """Cache a function of the word lists for as long as the lists are the same."""
    cached = cache(function)
    _clear_caches.append(cached.cache_clear)
    return cast("Callable[Parameters, Value]", cached)


@derived
def tables(folder: str = "") -> Mapping[str, Mapping[str, Any]]:
    """Language code → its file, by code. folder: below that of word lists."""
    entries = (_folder / folder if folder else _folder).iterdir()
    sources = sorted((entry for entry in entries if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    return {source.name.removesuffix(".toml"): tomllib.loads(source.read_text("utf-8")) for source in sources}


@derived
def words(name: str) -> tuple[str, ...]:
    """All entries of a list in all languages, the longest first. Raises KeyError for an unknown list."""
    entries = {entry for language in tables().values() for entry in language.get(name, ())}
    if not entries:
        raise KeyError(name)
    return tuple(sorted(entries, key=lambda entry: (-len(entry), entry)))


@derived
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


MARKS = "".join(map(chr, (code for code in range(0x0300, 0xFE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})))
"""Vowel signs and tones: letters to Hindi and Thai readers, though not to Python's `\\w`."""
SIGNED = r"(?:(?<!\w)[-−])?\d+(?:[.,:/-]\d+)*"
"""Pattern of a number with its sign, decimals, and of dates and times in digits."""
MAX_FILLER_CHARS, MAX_FILLER_WORDS = 80, 6
"""A longer text means something."""
_UNWRITTEN = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]")
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?=\S*\d\S|\S\d|\w+[._]\w{2}|(?:\w*/\w+){2}|\w*[a-z][A-Z])[\w#@%€$£+-][\w./:@#%+-]*(?<![.:/])"
)
_ASKS = re.compile(r"[?？؟][\"'”’»)\]*_]*$")
_ASKS_WITHIN = re.compile(r"[?？؟](?=[\s\"'”’»)\]*_]|$)|[？]")


def letters(without: str = "") -> str:
    """Pattern of letters and digits, but for the characters of the class `without`."""
    return rf"[^\W_{without}]+(?:[{MARKS}]+[^\W_{without}]*)*"


_WORD = re.compile(rf"{SIGNED}|{letters()}(?:['’]{letters()})*")


def folded(text: str) -> str:
    """One spelling of width, case and optional vowels of Arabic and Hebrew."""
    return _UNWRITTEN.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_filler(text: str) -> bool:
    """True for "okay", "thanks!", "how are you?", 好的 and texts without a word."""
    if len(text) > MAX_FILLER_CHARS:
        return False
    rest = _greetings().sub(" ", folded(text).replace("’", "'"))
    rest_words = words_of(rest)
    return len(rest_words) <= MAX_FILLER_WORDS and all(map(_carries_nothing, rest_words)) and "?" not in rest


def words_of(text: str) -> list[str]:
    """Words and numbers in one spelling; decimals, dates and times stay whole."""
    return [word.replace("'re", "").replace("'s", "") for word in _WORD.findall(folded(text).replace("’", "'"))]


def opens_with(name: str, sentence: str) -> bool:
    """Whether it begins with an entry of a list: "Yes, the red one." with one of `answers`."""
    return bool(_opening(name).match(sentence))


def has_word(name: str, text: str) -> bool:
    """Whether it contains an entry of a list: "instead" is one of `changes`."""
    return bool(_entry(name).search(text))


def asks(sentence: str) -> bool:
    """Whether it ends with a question mark."""
    return bool(_ASKS.search(sentence))


def asks_within(text: str) -> bool:
    """Whether a text holds a question."""
    return bool(_ASKS_WITHIN.search(text))


def identifiers(text: str) -> tuple[str, ...]:
    """Its numbers of two characters or more, ids, dates, file names and paths, as written."""
    return tuple(dict.fromkeys(name for name in _IDENTIFIER.findall(text) if len(name) > 1))


@derived
def _greetings() -> re.Pattern[str]:
    phrases = sorted((*words("small_talk"), *words("greetings")), key=len, reverse=True)
    asking = "|".join(re.escape(folded(entry.removesuffix("?"))) for entry in phrases if entry.endswith("?"))
    others = "|".join(re.escape(folded(entry)) for entry in phrases if not entry.endswith("?"))
    return re.compile(rf"(?<!\w)(?:(?:{asking})(?!\w)\s*[?？]?|(?:{others})(?!\w))")


def _carries_nothing(word: str) -> bool:
    stem = word.rstrip("".join(words("particles"))) if HAN_WORD.fullmatch(word) else word
    return not stem or not word_set("filler").isdisjoint((word, stem))


@derived
def question_tag() -> re.Pattern[str]:
    """The end that makes a statement a question: "moved to eight, ok?"."""
    return re.compile(rf"[,;，、–-]\s*{any_of('tags')}\s*[?？؟]\W*$", re.IGNORECASE)


@derived
def _opening(name: str) -> re.Pattern[str]:
    return re.compile(r"\W*" + any_of(name, before="", behind=r"(?![\w’'-])"), re.IGNORECASE)


@derived
def _entry(name: str) -> re.Pattern[str]:
    return re.compile(any_of(name), re.IGNORECASE)


DEFAULT_NAMES = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
"""Role → the stored speaker of a breadcrumb without a name."""
MAX_RUN = 16
"""Words side by side that are read as one: "A s s i s t a n t"."""
MAX_NAMES = 4_096
WORD = re.compile(r"[^\W_]+")
_PLAIN = re.compile(r"[^\W_][\w .,'\u2019()&@+/-]*")
_PART = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
"""Of "TheAssistant2": the words that capitals begin, without digits."""
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
    return "".join(sign for sign in small if unicodedata.category(sign) not in _INVISIBLE and sign not in _FILLERS)


def looks(word: str) -> frozenset[str]:
    """Every `look` of a word: each of its i may be written as a capital."""
    return frozenset(map("".join, product(*("il" if sign == "i" else sign for sign in look(word.casefold())))))


@derived
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
    is_held = UNSPACED.search(look(name)) and any(word in look(name) for word in none_of if UNSPACED.search(word))
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
