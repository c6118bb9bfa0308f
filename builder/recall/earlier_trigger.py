"""The message that a trigger supersedes: "I meant the other one" comes before there is an answer to what it is about."""

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.recall.index.view import View

NEWEST_BREADCRUMBS = 200
"""Breadcrumbs of the session in which the earlier message is looked for."""


def earlier_trigger(view: View, trigger: Breadcrumb, profile: Profile) -> Breadcrumb | None:
    """The last message of the same speaker that asked this consumer for a context and got no answer yet; None = there is none.

    Words of this consumer that name no message may answer any. A message that `debounce` left without a context is passed over.
    """
    if trigger.role != "user":
        return None
    answers: list[Breadcrumb] = []
    later = trigger
    rows = view.session_rows[: view.session_size]
    for row in reversed(rows[-NEWEST_BREADCRUMBS:]):
        crumb = view.breadcrumb(row)
        if crumb.role == "assistant" and crumb.agent in {"", profile.agent}:
            answers.append(crumb)
        elif view.current[row] and crumb.version == 1 and is_same_speaker(crumb, trigger) and profile.is_triggered_by(crumb):
            if any(answer.answers in {"", crumb.id} for answer in answers):
                return None
            if not follows_at_once(crumb, later, profile):
                return crumb
            later = crumb
    return None


def follows_at_once(crumb: Breadcrumb, later: Breadcrumb, profile: Profile) -> bool:
    """Whether the later message came before the earlier one has had its quiet time."""
    return (later.received_at - crumb.received_at).total_seconds() < profile.debounce


def is_same_speaker(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    """Whether one person said both: by `user_id`, where it is unknown by the display name."""
    return crumb.role == other.role == "user" and (crumb.user_id, crumb.speaker) == (other.user_id, other.speaker)
