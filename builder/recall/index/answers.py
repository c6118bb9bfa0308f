"""Answers that do not stand any more: another one followed, or the words that they answer were edited."""

from builder.domain.breadcrumb import Breadcrumb
from builder.recall.index.view import View

MOST_ROWS = 20
"""Behind an answer in which another one to its question is looked for."""
STEP = '"step"'
"""In the body of a response that is one of several to its trigger."""


def has_later_answer(view: View, crumb: Breadcrumb) -> bool:
    """Whether the same agent answered the same message again, before anybody else spoke or a tool was called.

    What an agent says before it calls a tool, and a step of several, are no answers of their own.
    """
    row = view.row_of(crumb.id)
    if row < 0 or not _is_whole_answer(crumb):
        return False
    who = (crumb.session, crumb.answers, crumb.agent, crumb.speaker)
    for other in range(row + 1, min(row + 1 + MOST_ROWS, view.size)):
        later = view.breadcrumb(other)
        if later.session != crumb.session or not view.dialogue[other]:
            continue
        if later.role != "assistant" or later.calls:
            return False
        is_same = (later.session, later.answers, later.agent, later.speaker) == who
        if is_same and view.current[other] and later.id != crumb.id and _is_whole_answer(later):
            return True
    return False


def answers_former_words(view: View, crumb: Breadcrumb) -> bool:
    """Whether the message that it answers got other words since."""
    versions = view.history.breadcrumbs.versions
    own, rows = versions.get(crumb.id, ()), versions.get(crumb.answers, ()) if crumb.answers else ()
    if crumb.role != "assistant" or not own or not rows:
        return False
    before = [row for row in rows if row < own[0]]
    after = [row for row in rows if own[0] < row < view.size]
    return bool(before and after) and view.history.rows[before[-1]].fingerprint != view.history.rows[after[-1]].fingerprint


def _is_whole_answer(crumb: Breadcrumb) -> bool:
    return crumb.role == "assistant" and bool(crumb.answers) and not crumb.calls and STEP not in crumb.body
