"""Stemmed terms, the same for every store."""

import re
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from itertools import chain, pairwise
from typing import Any

import Stemmer

from builder.language.words import folded, letters

_UNSPACED = r"\u0e00-\u0e3e\u0e40-\u0eff\u1000-\u109f\u3040-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff"
_PART = re.compile(letters(without=_UNSPACED))
_ANY_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_JOINT = re.compile("[.@:/_-]")
_JOINED = re.compile(rf"{_PART.pattern}(?:{_JOINT.pattern}{_PART.pattern})+")
_WORD = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|{_PART.pattern}(?:[.@:/_-]{_PART.pattern})*")

_CYRILLIC = re.compile("[\u0430-\u0451]")

UNDETERMINED = "und"
"""ISO 639."""
Terms = Callable[[str], str]


def load_terms() -> Terms:
    """Make a function text → terms, joined by spaces: lower case, stemmed, no function words.

    Irregular forms get their base, some verbs their infinitive (`words.toml`). Scripts without spaces (Han, Kana, Thai, …) give
    overlapping pairs of characters. The language is that of most function words; else Russian for Cyrillic, English otherwise.
    """
    tables = _tables()
    stop, languages = _stop_words(tables)
    pairs = {language: words.split() for language, words in tables["irregular"].items()}
    irregular = {language: dict(zip(each[::2], each[1::2], strict=True)) for language, each in pairs.items()}
    endings = {
        language: [(tuple(tails.split()), re.compile(ending), into) for tails, ending, into in rows]
        for language, rows in tables["endings"].items()
    }
    threads = threading.local()

    def stemmer(language: str) -> Stemmer.Stemmer:
        """One per thread: stemmers are not thread-safe."""
        if not hasattr(threads, "stemmers"):
            threads.stemmers = {name: Stemmer.Stemmer(algorithm) for name, algorithm in tables["stemmer"].items()}
        return threads.stemmers[language]

    def terms(text: str) -> str:
        words = list(_words(text))
        language = _language(words, languages)
        forms = irregular.get(language, {})
        stems = [word for word in words if word not in stop[language]]
        for tails, ending, into in endings.get(language, ()):
            stems = [ending.sub(into, word) if word.endswith(tails) and word not in forms else word for word in stems]
        return " ".join(stemmer(language).stemWords([forms.get(word, word) for word in stems]))

    return terms


def load_language() -> Callable[[str], str]:
    """Text → ISO 639-1 code by function words; "und" = unknown."""
    stop, languages = _stop_words(_tables())

    def language(text: str) -> str:
        words = list(_words(text))
        code = _language(words, languages)
        return code if any(word in stop[code] for word in words) else UNDETERMINED

    return language


def _words(text: str) -> Iterable[str]:
    """In order; joined words last."""
    plain = folded(text)
    if _ANY_UNSPACED.search(plain):
        return _unspaced_words(plain)
    # "10.0.0.7", "v1.2", "2024-05-01": the whole means more than its parts. Few words may be such, and looking is slow.
    candidates = (token for token in plain.split() if not token.isalpha() and _JOINT.search(token) and _has_digit(token))
    return (*_PART.findall(plain), *(word for token in candidates for word in _JOINED.findall(token) if _has_digit(word)))


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _unspaced_words(plain: str) -> Iterator[str]:
    for match in _WORD.finditer(plain):
        word = match.group()
        if match["unspaced"]:
            yield from _pairs(word)
            continue
        parts = _PART.findall(word)
        yield from parts
        if len(parts) > 1 and _has_digit(word):
            yield word


def _tables() -> dict[str, Any]:
    return tomllib.loads(folded((files(__package__) / "words.toml").read_text("utf-8")))


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for first, second in pairwise(run):
        yield first + second


def _stop_words(tables: dict[str, Any]) -> tuple[dict[str, frozenset[str]], dict[str, tuple[str, ...]]]:
    """Language → its function words, and word → its languages."""
    stop = {language: frozenset(words.split()) for language, words in tables["stop"].items()}
    words = frozenset[str]().union(*stop.values())
    return stop, {word: tuple(language for language, table in stop.items() if word in table) for word in words}


def _language(words: list[str], languages: dict[str, tuple[str, ...]]) -> str:
    """Among equals English, then the first in the alphabet."""
    counts = Counter(chain.from_iterable(languages[word] for word in words if word in languages))
    if not counts and any(_CYRILLIC.search(word) for word in words):
        return "ru"  # the English stemmer leaves such words as they are
    best = min(counts, key=lambda language: (-counts[language], language), default="en")
    return best if counts[best] > counts["en"] else "en"
