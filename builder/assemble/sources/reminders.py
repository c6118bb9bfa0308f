"""What a profile says by itself: its system prompt and its reminders. Never stored, never embedded."""

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.profile import Profile, Reminder
from builder.recall.index.view import View


def own_texts(profile: Profile, system_prompt: str, trigger: Breadcrumb, view: View) -> dict[str, str]:
    """Section → what stands in it word for word on this turn, but for control text; without sections that have nothing to say."""
    texts = {rule.name: [system_prompt] for rule in profile.sections if rule.source == "system"}
    for reminder in profile.reminders:
        if _is_due(reminder, trigger, view):
            texts.setdefault(reminder.section, []).append(reminder.text)
    return {name: visible(text) for name, parts in texts.items() if (text := "\n".join(filter(None, parts)))}


def _is_due(reminder: Reminder, trigger: Breadcrumb, view: View) -> bool:
    """A turn is a message of a person; this one counts."""
    if reminder.when is not None and not reminder.when.matches(trigger):
        return False
    return reminder.every == 1 or view.turn % reminder.every == 0
