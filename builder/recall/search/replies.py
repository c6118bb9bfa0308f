"""What was said in reply to a question: it often shares no word with what is asked now, its question does."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

from builder.language.lists import words
from builder.language.sentence_roles import answers, asks_within
from builder.language.words import words_of
from builder.recall.index.view import View

BEGINNING = 40
"""Characters of a text in which a word of answer is looked for."""
MOST = 5
"""Rows behind a question in which its reply is looked for, and most replies of one question."""
_SPEAKERS = frozenset({"user", "assistant"})


def named_replies(row: int, view: View) -> tuple[int, ...]:
    """Rows of the responses that name this breadcrumb, the newest of many."""
    named = view.history.answers.get(view.history.rows[row].breadcrumb.id, ())
    return tuple(other for other in named if other < view.size and view.current[other])[-MOST:]


def next_replies(row: int, text: str, view: View) -> tuple[int, ...]:
    """Rows of what the other one said next, when the text asks; of a question that was asked again, the newest first."""
    if not asks_within(text) or view.history.rows[row].breadcrumb.role not in _SPEAKERS:
        return ()
    return tuple(reply for asked in reversed(view.repeats(row)[-MOST:]) for reply in _said_next(asked, view))


def _said_next(row: int, view: View) -> tuple[int, ...]:
    """What somebody else said next that answers: who begins with yes or no comes first, then who speaks first.

    Short words answer ("later", "passt"), but for thanks, greetings and "hm"; then what the same one adds to them answers too.
    """
    history = view.history
    speaker, filler = history.speaker.head(view.size), history.filler.head(view.size)
    following = tuple(_following(row, view))
    others = [other for other in following if not (filler[other] and is_no_answer(history.rows[other].breadcrumb.text))]
    first = next(
        (other for other in others if answers(history.rows[other].breadcrumb.text[:BEGINNING])), next(iter(others), None)
    )
    if first is None:
        return ()
    behind = following.index(first) + 1
    adds = (
        filler[first]
        and behind < len(following)
        and speaker[following[behind]] == speaker[first]
        and not filler[following[behind]]
    )
    return (first, following[behind]) if adds else (first,)


def _following(row: int, view: View) -> Iterator[int]:
    """What others said next in the session, up to what the asker says next."""
    history = view.history
    speaker, filler = history.speaker.head(view.size), history.filler.head(view.size)
    rows = history.rows_of[int(history.session.head(view.size)[row])]
    start = bisect_right(rows, row)
    for other in rows[start : start + MOST]:
        if other >= view.size or (speaker[other] == speaker[row] and not filler[other]):
            return
        if speaker[other] != speaker[row] and view.current[other] and history.rows[other].breadcrumb.role in _SPEAKERS:
            yield other


def is_no_answer(text: str) -> bool:
    """Whether small talk begins with thanks, a greeting or "hm", or holds neither a word nor a picture such as 👍."""
    first = next(iter(words_of(text[:BEGINNING])), "")
    return first in words("no_answers") if first else not any(unicodedata.category(sign) == "So" for sign in text)
