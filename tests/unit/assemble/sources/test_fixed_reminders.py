"""The reminders of a profile: on their turns, in their sections, control text visible."""

from dataclasses import replace

from builder.assemble.sources.fixed import reminder_texts
from builder.domain.page_settings import Reminder
from builder.domain.profile import Profile
from builder.domain.recall import StoredBreadcrumb
from builder.domain.selector import Selector
from tests.conversations import chat, said
from tests.factories import make_history, make_profile, view_of

ASK = said(800, "And now?", tags=["urgent"])
PROFILE = make_profile()


def reminding(*reminders: Reminder) -> Profile:
    return replace(PROFILE, reminders=reminders)


def reminder(text: str = "Cite.", section: str = "closing", every: int = 1, when: Selector | None = None) -> Reminder:
    return Reminder(section=section, text=text, every=every, when=when)


def texts(profile: Profile, rows: list[StoredBreadcrumb] | None = None) -> dict[str, str]:
    view = view_of(make_history(rows or []), ASK.breadcrumb.place)
    return reminder_texts(profile, ASK.breadcrumb, view)


def test_a_profile_without_reminders_has_no_words() -> None:
    assert texts(PROFILE) == {}


def test_reminders_of_one_section_stand_below_each_other_in_the_order_of_the_profile() -> None:
    profile = reminding(reminder("Cite."), reminder("Be kind.", "role"), reminder("Be true."))
    assert texts(profile) == {"role": "Be kind.", "closing": "Cite.\nBe true."}


def test_a_reminder_of_every_third_turn_counts_messages_of_people_and_the_current_one() -> None:
    profile = reminding(reminder(every=3))
    shown = [bool(texts(profile, rows=chat(number))) for number in range(0, 12, 2)]
    assert shown == [False, False, True, False, False, True]


def test_a_reminder_for_some_triggers_is_shown_for_those_alone() -> None:
    urgent, quiet = (reminder(when=Selector(all_tags=(tag,))) for tag in ("urgent", "quiet"))
    assert texts(reminding(urgent)) == {"closing": "Cite."}
    assert texts(reminding(quiet)) == {}


def test_control_text_of_a_profile_is_made_visible() -> None:
    assert texts(reminding(reminder("Be \u202ebrief."))) == {"closing": "Be ⟨U+202E⟩brief."}
