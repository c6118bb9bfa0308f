"""Display names: which are nothing but a name, and which look like a role or like somebody else.

The writer of a message chooses its name. So a name is compared by its look (`confusables`): by every word, by words that stand
side by side, and by the parts of "TheAssistant" and "User1".
"""

import re
import unicodedata
from functools import lru_cache

from builder.domain.breadcrumb import Breadcrumb
from builder.language.confusables import look, looks, skeleton
from builder.language.lists import derived, words
from builder.language.scripts import UNSPACED

DEFAULT_NAMES = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
"""Role → the stored speaker of a breadcrumb without a name."""
MAX_RUN = 16
"""Words side by side that are read as one: "A s s i s t a n t"."""
MAX_NAMES = 4_096
"""Whose parts are remembered."""
_PLAIN = re.compile(r"[^\W_][\w .,'\u2019()&@+/-]*")
_WORD = re.compile(r"[^\W_]+")
_BETWEEN = re.compile(r"[\W_]+")
_PART = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
"""Of "TheAssistant2": the words that capitals begin, without digits."""
_QUOTATION_MARK = str.maketrans({'"': "'"})


@derived
def role_looks(which: str = "roles") -> frozenset[str]:
    """How the names of roles look, in every language that is understood. which: the word list, `roles` or `assistants`."""
    lists = ("roles", "assistants") if which == "roles" else (which,)
    return frozenset(each for name in lists for word in words(name) for each in looks(word))


@lru_cache(MAX_NAMES)
def parts(name: str) -> frozenset[str]:
    """The looks of the words of a name, of those side by side, and of their parts."""
    plain = unicodedata.normalize("NFC", name)
    in_order = [look(word) for word in _WORD.findall(plain)]
    runs = ("".join(in_order[start:end]) for start in range(len(in_order)) for end in range(start + 1, start + MAX_RUN + 1))
    smaller = (look(part) for text in (plain, skeleton(plain)) for part in _PART.findall(text))
    return frozenset((*runs, *smaller))


@lru_cache(MAX_NAMES)
def whole_look(name: str) -> str:
    """The look of all words of a name as one."""
    return look(_BETWEEN.sub("", name))


def is_plain(name: str, reserved: frozenset[str] | None = None) -> bool:
    """Whether a display name reads as nothing but a name. reserved: looks that none of its parts has; default: those of roles.

    In scripts without spaces between words no part of it may.
    """
    reserved = role_looks() if reserved is None else reserved
    return bool(_PLAIN.fullmatch(name)) and parts(name).isdisjoint(reserved) and not _holds_unspaced(look(name), reserved)


@lru_cache(MAX_NAMES)
def _holds_unspaced(seen: str, reserved: frozenset[str]) -> bool:
    return bool(UNSPACED.search(seen)) and any(word in seen for word in reserved if UNSPACED.search(word))


def quoted(name: str) -> str:
    """The name in quotation marks, in one line."""
    return f'"{" ".join(name.translate(_QUOTATION_MARK).split())}"'


def stored_name(breadcrumb: Breadcrumb, *, is_somebody: bool) -> str:
    """Who speaks, in a line that is stored in English. is_somebody: a person has the name of an agent."""
    name, nameless = breadcrumb.speaker, DEFAULT_NAMES.get(breadcrumb.role, "")
    is_name = name == nameless or not nameless or (is_plain(name) and not is_somebody)
    return name if is_name else f"{nameless} {quoted(name)}"
