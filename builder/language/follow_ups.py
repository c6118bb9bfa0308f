"""Texts that are understood only with an earlier one."""

import re
from functools import cache

from builder.language.word_lists import UNSPACED, Pattern, any_of, either, words
from builder.language.words import Terms, is_filler

MAX_WORDS = 12
"""A longer question says what it is about."""
UNSPACED_CHARS_PER_WORD = 3
"""Characters of a script without spaces that say as much as a word and its grammar."""


def is_follow_up(text: str, terms: Terms) -> bool:
    """Whether it is understood only with an earlier text."""
    if len(text.split()) > MAX_WORDS or is_filler(text):
        return False
    continuation, why, pointer = _follow_ups()
    unspaced = len(UNSPACED.findall(text))
    content = unspaced // UNSPACED_CHARS_PER_WORD if unspaced else len(set(terms(pointer.sub(" ", text)).split()))
    return content <= (2 if continuation.search(text) else 1 if why.search(text) or pointer.search(text) else -1)


@cache
def _follow_ups() -> tuple[Pattern, ...]:
    """Patterns of a continuation and a short question, at the beginning, and of a pronoun."""
    interjections = rf"(?:(?:hm+|{either(words('interjections'))})\W+)*"
    patterns = (
        r"^\W*" + any_of("continuations", before=interjections),
        r"^\W*" + any_of("follow_up_questions", before=""),
        any_of("pronouns"),
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
