"""Whether a text asks."""

import re

from builder.language.word_lists import any_of, derived

_ASKS = re.compile(r"[?？؟][\"'”’»)\]*_]*$")
_ASKS_WITHIN = re.compile(r"[?？؟](?=[\s\"'”’»)\]*_]|$)|[？]")


def asks(sentence: str) -> bool:
    """Whether it ends with a question mark."""
    return bool(_ASKS.search(sentence))


def asks_within(text: str) -> bool:
    """Whether a text holds a question."""
    return bool(_ASKS_WITHIN.search(text))


@derived
def question_tag() -> re.Pattern[str]:
    """The end that makes a statement a question: "moved to eight, ok?"."""
    return re.compile(rf"[,;，、–-]\s*{any_of('tags')}\s*[?？؟]\W*$", re.IGNORECASE)
