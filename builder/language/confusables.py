"""Texts that look alike have one skeleton: Unicode Technical Standard #39, with Unicode's own table (`data/confusables.tsv`)."""

import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_INVISIBLE = frozenset({"Mn", "Me", "Cf"})
"""Categories of marks and of characters without a width; they tell no two looks apart."""
_FILLERS = str.maketrans(dict.fromkeys("\u115f\u1160\u3164\uffa0"))
"""Letters of Hangul that show nothing."""


def skeleton(text: str) -> str:
    """One text for all that look alike; the case stays. It is compared and never shown."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).translate(_table()))


def look(text: str) -> str:
    """The skeleton of every width and style in small letters, without marks and without what is invisible.

    A capital I is an l there, as are the digit 1 and a bar: see `looks`.
    """
    plain = unicodedata.normalize("NFKD", skeleton(text.translate(_FILLERS)))
    small = skeleton(skeleton(plain).casefold())
    return "".join(sign for sign in skeleton(small) if unicodedata.category(sign) not in _INVISIBLE)


def looks(word: str) -> frozenset[str]:
    """Every `look` that a spelling of the word may have: each of its i may be written as a capital."""
    found = {""}
    for sign in look(word.casefold()):
        found = {begun + each for begun in found for each in ("il" if sign == "i" else sign)}
    return frozenset(found)


@cache
def _table() -> Mapping[int, str]:
    """Code point → its skeleton."""
    lines = (files("builder.language") / "data" / "confusables.tsv").read_text("utf-8").split("\n")
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {
        code: "".join(chr(int(sign, 16)) for sign in target.split())
        for target, sources in rows
        for source in sources.split()
        for code in range(int(source.split("-")[0], 16), int(source.split("-")[-1], 16) + 1)
    }
