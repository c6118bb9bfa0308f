"""Questions that say too little to be searched for: "and the second one?", "why?", "¿y el otro?"."""

import re
from collections.abc import Callable

from builder.language.lists import UNSPACED, any_of, derived, either, words
from builder.language.words import is_filler

MAX_WORDS = 12
"""A longer question says what it is about."""
UNSPACED_CHARS_PER_WORD = 3
"""Characters of a script without spaces that say as much as a word and its grammar."""


def is_follow_up(text: str, terms: Callable[[str], str]) -> bool:
    """Whether the text is understood only with an earlier one. terms: text → stemmed terms joined by spaces.

    Thanks and "okay" ask for nothing and are none.
    """
    if len(text.split()) > MAX_WORDS or is_filler(text):
        return False
    continuation, why, pointer = _patterns()
    unspaced = len(UNSPACED.findall(text))
    content = unspaced // UNSPACED_CHARS_PER_WORD if unspaced else len(set(terms(pointer.sub(" ", text)).split()))
    return content <= (2 if continuation.search(text) else 1 if why.search(text) or pointer.search(text) else -1)


@derived
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """The beginning of a continuation, the beginning of a question for a reason or a choice, and a word for an earlier one."""
    interjections = rf"(?:(?:hm+|{either(words('interjections'))})\W+)*"
    patterns = (
        r"^\W*" + any_of("continuations", before=interjections),
        r"^\W*" + any_of("follow_up_questions", before=""),
        any_of("pronouns"),
    )
    continuation, why, pointer = (re.compile(pattern, re.IGNORECASE) for pattern in patterns)
    return continuation, why, pointer
