"""Whether a text asks."""

import re
from functools import cache

from builder.language.word_lists import Pattern, any_of

_ASKS = re.compile(r"[?？؟][\"'”’»)\]*_]*$")
_ASKS_WITHIN = re.compile(r"[?？؟](?=[\s\"'”’»)\]*_]|$)|[？]")


def asks(sentence: str) -> bool:
    """Whether it ends with a question mark."""
    return bool(_ASKS.search(sentence))


def asks_within(text: str) -> bool:
    """Whether a text holds a question."""
    return bool(_ASKS_WITHIN.search(text))


@cache
def question_tag() -> Pattern:
    """The end that makes a statement a question: "moved to eight, ok?"."""
    return re.compile(rf"[,;，、–-]\s*{any_of('tags')}\s*[?？؟]\W*$", re.IGNORECASE)
