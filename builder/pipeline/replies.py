"""What was said in reply to a question: it often shares no word with what is asked now, its question does."""

import re
from bisect import bisect_right

from builder.language.lists import words
from builder.pipeline.view import View
from builder.pipeline.words import words_of

MOST = 5
"""Rows behind a question in which its reply is looked for, and most replies of one question."""
_QUESTION = re.compile("[?？؟]")


def named_replies(row: int, view: View) -> tuple[int, ...]:
    """Rows of the responses that name this breadcrumb, the newest of many."""
    named = view.history.answers.get(view.history.rows[row].breadcrumb.id, ())
    return tuple(other for other in named if other < view.size and view.current[other])[-MOST:]


def next_replies(row: int, text: str, view: View) -> tuple[int, ...]:
    """Rows of what the other one said next, when the text asks; of a question that was asked again, the newest first."""
    if not _QUESTION.search(text):
        return ()
    return tuple(reply for asked in reversed(view.repeats(row)[-MOST:]) for reply in _said_next(asked, view))


def _said_next(row: int, view: View) -> tuple[int, ...]:
    """What somebody else said first that answers: "yes" does, and what the same one adds to it; "hm" and thanks do not."""
    history = view.history
    speaker, filler = history.speaker.head(view.size), history.filler.head(view.size)
    rows = history.rows_of[int(history.session.head(view.size)[row])]
    start, replies = bisect_right(rows, row), list[int]()
    for reply in rows[start : start + MOST]:
        by_asker = reply < view.size and speaker[reply] == speaker[row]
        if reply >= view.size or (by_asker and (replies or not filler[reply])):
            break
        if by_asker or not view.current[reply]:
            continue
        if replies and speaker[reply] != speaker[replies[0]]:
            break
        if not filler[reply]:
            return (*replies, reply)
        if not replies and says_yes_or_no(history.rows[reply].breadcrumb.text):
            replies.append(reply)
    return tuple(replies)


def says_yes_or_no(text: str) -> bool:
    """Whether a short text is, or holds, a word that answers a question: yes, no, of course, perhaps."""
    said = f" {' '.join(words_of(text))} "
    return any(f" {answer} " in said for answer in words("answers"))
