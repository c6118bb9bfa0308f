"""Dates are true: one line for each day on which something shown was said."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from builder.domain.context import Context
from builder.domain.page_settings import Dates
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import chat, conversation, said, section
from tests.factories import make_context, make_profile


def at(sequence: int, moment: str, text: str = "") -> StoredBreadcrumb:
    return said(sequence, text or f"Entry {sequence}.", created_at=moment)


def dates(context: Context) -> list[str]:
    return [line for line in context.markdown.split("\n") if line.startswith("[")]


ASK = at(800, "2024-05-08T09:10:00Z", "What was entry one?")


def test_over_several_days_every_day_has_its_line_the_current_message_too() -> None:
    rows = [at(n, f"2024-05-0{day}T23:59:00Z") for n, day in enumerate((1, 1, 3, 7), 1)]
    context = make_context(ASK, rows)
    assert conversation(context) == (
        "[1 May 2024]\n- User: Entry 1.\n- Entry 2.\n\n[3 May 2024]\n- User: Entry 3.\n\n[7 May 2024]\n- User: Entry 4."
    )
    assert section(context, "Current User Message") == "[8 May 2024]\n- User: What was entry one?"


def test_a_conversation_of_one_day_has_the_day_too() -> None:
    context = make_context(ASK, [at(1, "2024-05-08T08:00:00Z")])
    assert context.markdown == (
        "## Conversation\n[8 May 2024]\n- User: Entry 1.\n\n## Current User Message\n[8 May 2024]\n- User: What was entry one?\n"
    )


def test_a_message_before_and_after_midnight_by_the_sender_s_own_clock() -> None:
    rows = [at(1, "2024-05-07T23:30:00-05:00"), at(2, "2024-05-08T01:00:00+09:00"), at(3, "2024-05-08T04:40:00Z")]
    assert dates(make_context(ASK, rows))[0] == "[7 May 2024]"
    assert conversation(make_context(ASK, rows)) == (
        "[7 May 2024]\n- User: Entry 1.\n\n[8 May 2024]\n- User: Entry 2.\n- Entry 3."
    )


@pytest.mark.parametrize(("zone", "day"), [("UTC", 7), ("Asia/Tokyo", 8), ("America/New_York", 7)])
def test_a_sender_who_says_no_offset_is_dated_in_the_profile_s_zone(zone: str, day: int) -> None:
    profile = replace(make_profile(), time_zone=ZoneInfo(zone))
    rows = [at(1, "2024-05-07T20:30:00Z"), at(2, "2024-05-03T12:00:00Z")]
    assert f"[{day} May 2024]\n- User: Entry 1." in make_context(ASK, rows, profile).markdown


def test_what_is_out_of_order_by_the_senders_clocks_keeps_its_place_and_has_its_own_line() -> None:
    rows = [at(1, "2024-05-05T12:00:00Z"), at(2, "2024-05-03T12:00:00Z"), at(3, "2024-05-05T12:00:00Z")]
    assert conversation(make_context(ASK, rows)) == (
        "[5 May 2024]\n- User: Entry 1.\n\n[3 May 2024]\n- User: Entry 2.\n\n[5 May 2024]\n- User: Entry 3."
    )


def found(dates_of: Dates = "day") -> Profile:
    profile = make_profile(window={"max_units": 1, "trim_to": 1}, worth=None)
    rules = (replace(rule, dates=dates_of) if rule.source == "conversation" else rule for rule in profile.sections)
    return replace(profile, sections=tuple(rules))


def test_a_profile_may_ask_for_ages_or_for_none() -> None:
    rows = [at(1, "2024-05-01T08:00:00Z"), *chat(1, 4)]
    assert "ago]\n- User: Entry 1." in make_context(ASK, rows, found("age")).markdown
    assert conversation(make_context(ASK, rows, found("none"))).startswith("- User: Entry 1.\n")


def test_a_profile_may_ask_for_times_which_stand_in_a_conversation_of_one_day_too() -> None:
    profile = make_profile()
    timed = replace(profile, sections=tuple(replace(rule, dates="time") for rule in profile.sections))
    rows = [at(1, "2024-05-08T08:05:10+02:00"), at(2, "2024-05-08T08:05:50+02:00"), at(3, "2024-05-08T08:50:00Z")]
    context = make_context(ASK, rows, timed)
    assert conversation(context) == ("[8 May 2024, 08:05]\n- User: Entry 1.\n- Entry 2.\n\n[8 May 2024, 08:50]\n- User: Entry 3.")
    assert section(context, "Current User Message") == "[8 May 2024, 09:10]\n- User: What was entry one?"


def test_under_pressure_two_local_days_have_their_lines_though_the_conversation_began_on_the_trigger_s_day() -> None:
    """The first message is of the trigger's day by its own clock, those that have room are of two."""
    long = " ".join(f"word{n}" for n in range(400))
    rows = [at(1, "2024-05-08T01:00:00Z", long), at(2, "2024-05-07T23:00:00-05:00"), at(3, "2024-05-08T05:00:00Z")]
    context = make_context(ASK, rows, replace(make_profile(), budget=500))
    assert conversation(context).endswith("[7 May 2024]\n- User: Entry 2.\n\n[8 May 2024]\n- User: Entry 3.")


def dated(setting: Dates, *rows: StoredBreadcrumb) -> list[str]:
    """The lines of a conversation whose section has this setting."""
    profile = make_profile()
    sections = tuple(replace(rule, dates=setting) if rule.source == "conversation" else rule for rule in profile.sections)
    return dates(make_context(ASK, rows, replace(profile, sections=sections)))


def test_after_a_pause_of_more_than_half_an_hour_a_line_has_the_time() -> None:
    rows = [at(n, f"2024-05-08T{time}:00Z") for n, time in enumerate(("07:00", "07:20", "07:50", "08:21", "09:00"), 1)]
    assert dated("pause", *rows)[:-1] == [f"[8 May 2024, {time}]" for time in ("07:00", "08:21", "09:00")]


def test_a_day_that_begins_without_a_pause_has_a_line_without_a_time() -> None:
    rows = [at(n, moment) for n, moment in enumerate(("2024-05-07T23:50:00Z", "2024-05-08T00:10:00Z"), 1)]
    assert dated("pause", *rows)[:2] == ["[7 May 2024, 23:50]", "[8 May 2024]"]
