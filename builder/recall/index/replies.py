"""Replies: what a message answers or quotes, and whether an answer still stands."""

import json
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.recall.index.view import View

FIELDS = ("reply_to", "in_reply_to", "quoted")
"""Fields of a body: an id, words, or an object with one of them."""
MOST_CHARS = 80
"""The words are cut to so many."""


def quoted_words(view: View, crumb: Breadcrumb) -> str:
    """The first words of what it points at, in one line; "" where that is the message before it, or nothing that is there."""
    if crumb.role != "user":
        return ""
    row = view.row_of(crumb.id)
    target = _target(crumb)
    pointed = view.row_of(target)
    if pointed < 0:
        return _brief(target) if " " in target.strip() else ""  # an id has no blank
    first = view.history.breadcrumbs.versions[target][0]
    is_there = view.shows(pointed) and view.breadcrumb(pointed).session == crumb.session
    end = view.size if row < 0 else view.history.breadcrumbs.versions[crumb.id][0]
    return _brief(view.breadcrumb(pointed).text) if is_there and first < _row_before(view, crumb, end) else ""


def _target(crumb: Breadcrumb) -> str:
    """Id or words."""
    body: dict[str, Any] = json.loads(crumb.body) if any(f'"{name}"' in crumb.body for name in FIELDS) else {}
    for name in FIELDS:
        value = body.get(name)
        if isinstance(value, dict):
            value = next((value[key] for key in ("id", "message_id", "text", "content") if isinstance(value.get(key), str)), None)
        if isinstance(value, str) and value.strip():
            return value
    return crumb.answers


def _row_before(view: View, crumb: Breadcrumb, end: int) -> int:
    """Row of the last message of its session before `end`."""
    for row in range(end - 1, -1, -1):
        if view.shows(row) and view.breadcrumb(row).session == crumb.session:
            return int(view.history.breadcrumbs.versions[view.breadcrumb(row).id][0])
    return -1


def _brief(text: str) -> str:
    words = " ".join(text.replace('"', "'").split())
    return words if len(words) <= MOST_CHARS else words[:MOST_CHARS].rsplit(" ", 1)[0] + " …"


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
    who = (crumb.answers, crumb.agent, crumb.speaker)
    for other in range(row + 1, min(row + 1 + MOST_ROWS, view.size)):
        later = view.breadcrumb(other)
        if later.session != crumb.session or not view.dialogue[other]:
            continue
        if later.role != "assistant" or later.calls:
            return False
        is_same = (later.answers, later.agent, later.speaker) == who
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
