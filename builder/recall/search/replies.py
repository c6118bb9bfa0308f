"""What was said in reply to a question: it often shares no word with a later query, its question does."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

from builder.language.lists import words
from builder.language.words import answers, asks, asks_within, words_of
from builder.recall.index.conversation import results_of
from builder.recall.index.view import View

FIRST_CHARS = 40
"""Characters of a text in which a word of answer is looked for."""
MAX_REPLIES = 5
"""Rows behind a question in which its reply is looked for, and most replies of one question."""
_SPEAKERS = frozenset({"user", "assistant"})


def named_replies(row: int, view: View) -> tuple[int, ...]:
    """Rows of the responses that name this breadcrumb, the newest of many."""
    responses = view.history.breadcrumbs.answers.get(view.breadcrumb(row).id, ())
    return tuple(other for other in responses if other < view.size and view.current[other])[-MAX_REPLIES:]


def next_replies(row: int, text: str, view: View) -> tuple[int, ...]:
    """Rows of what another speaker said next, when the text asks; of a question that was asked again, the newest first."""
    if not asks_within(text) or view.breadcrumb(row).role not in _SPEAKERS:
        return ()
    questions = reversed(view.repeats(row)[-MAX_REPLIES:])
    return tuple(reply for question in questions for reply in _next_reply(question, view))


def question_before(row: int, view: View) -> int:
    """Row of the question that a message answers: what another speaker said last, when it ends with one; else -1."""
    table = view.history.breadcrumbs
    rows = table.rows_of[int(view.column(table.session)[row])]
    place = bisect_right(rows, row) - 1
    before = (other for other in reversed(rows[max(place - MAX_REPLIES, 0) : place]) if view.current[other])
    last = next((other for other in before if view.breadcrumb(other).role in _SPEAKERS), -1)
    speaker = view.column(table.speaker)
    is_question = last >= 0 and speaker[last] != speaker[row] and asks(view.breadcrumb(last).text.rstrip())
    return last if is_question and view.breadcrumb(row).role in _SPEAKERS else -1


def results_of_turn(row: int, view: View) -> tuple[int, ...]:
    """Rows of what tools answered to the calls of an agent's message."""
    exchanges = view.history.exchanges.of_caller.get(row, ()) if view.breadcrumb(row).role in _SPEAKERS else ()
    return tuple(dict.fromkeys(result for exchange in exchanges for result in results_of(view, exchange)))[:MAX_REPLIES]


def _next_reply(row: int, view: View) -> tuple[int, ...]:
    """The next message of another speaker that answers: one that begins with yes or no comes first, then the first one.

    Short words answer ("later", "passt"), but for thanks, greetings and "hm"; what the same speaker adds to them answers too.
    """
    table = view.history.breadcrumbs
    speaker, filler = view.column(table.speaker), view.column(table.filler)
    following = tuple(_following(row, view))
    others = [other for other in following if not (filler[other] and is_no_answer(view.breadcrumb(other).text))]
    answering = (other for other in others if answers(view.breadcrumb(other).text[:FIRST_CHARS]))
    first = next(answering, next(iter(others), None))
    if first is None:
        return ()
    behind = next(iter(following[following.index(first) + 1 :]), None)
    adds = filler[first] and behind is not None and speaker[behind] == speaker[first] and not filler[behind]
    return (first, behind) if adds and behind is not None else (first,)


def _following(row: int, view: View) -> Iterator[int]:
    """What others said next in the session, up to what the asker says next."""
    table = view.history.breadcrumbs
    speaker, filler = view.column(table.speaker), view.column(table.filler)
    rows = table.rows_of[int(view.column(table.session)[row])]
    start = bisect_right(rows, row)
    for other in rows[start : start + MAX_REPLIES]:
        if other >= view.size or (speaker[other] == speaker[row] and not filler[other]):
            return
        if speaker[other] != speaker[row] and view.current[other] and view.breadcrumb(other).role in _SPEAKERS:
            yield other


def is_no_answer(text: str) -> bool:
    """Whether small talk begins with thanks, a greeting or "hm", or has neither a word nor a picture such as 👍."""
    first = next(iter(words_of(text[:FIRST_CHARS])), "")
    return first in words("no_answers") if first else not any(unicodedata.category(sign) == "So" for sign in text)
