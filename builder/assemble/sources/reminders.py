"""The reminders of a profile, which are never stored and never embedded."""

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.profile import Profile, Reminder
from builder.recall.index.view import View


def reminder_texts(profile: Profile, trigger: Breadcrumb, view: View) -> dict[str, str]:
    """Section → the reminders in it that are due on this turn, word for word but for control text."""
    texts: dict[str, list[str]] = {}
    for reminder in profile.reminders:
        if _is_due(reminder, trigger, view):
            texts.setdefault(reminder.section, []).append(reminder.text)
    return {name: visible("\n".join(parts)) for name, parts in texts.items()}


def _is_due(reminder: Reminder, trigger: Breadcrumb, view: View) -> bool:
    """A turn is a message of a person; this one counts."""
    if reminder.when is not None and not reminder.when.matches(trigger):
        return False
    return reminder.every == 1 or view.turn % reminder.every == 0
