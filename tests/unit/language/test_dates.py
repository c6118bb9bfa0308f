"""Dates that a question names, how long ago a day was, and on which day something was said."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.language.dates import Mention, age, depends_on_day, local_time, mentioned, nearness
from tests.factories import make_breadcrumb, make_rendering


@pytest.mark.parametrize(
    ("text", "years", "months"),
    [
        ("What happened on 7 May 2023?", (2023,), ((5, 7),)),
        ("What happened on May 7, 2023?", (2023,), ((5, 7),)),
        ("What happened on the 7th of May?", (), ((5, 7),)),
        ("What happened on 2023-05-07?", (2023,), ((5, 7),)),
        ("Was geschah am 7. Mai 2023?", (2023,), ((5, 7),)),
        ("¿Qué pasó el 7 de mayo?", (), ((5, 7),)),
        ("In March or in June?", (), ((3, 0), (6, 0))),
        ("And in 2021?", (2021,), ()),
        ("You may march on.", (), ((3, 0),)),
        ("What may happen next?", (), ()),
        ("It costs 12345 coins.", (), ()),
    ],
)
def test_dates_are_read_from_questions(text: str, years: tuple[int, ...], months: tuple[tuple[int, int], ...]) -> None:
    assert mentioned(text) == Mention(years, months)


def near(text: str, *days: tuple[int, int, int]) -> list[float]:
    year, month, day = np.array(days, np.int64).T
    return [round(float(value), 2) for value in nearness(mentioned(text), year, month, day)]


def test_the_named_day_is_nearest_and_the_days_around_it_fade() -> None:
    found = near("on 7 May 2023", (2023, 5, 7), (2023, 5, 9), (2023, 5, 30), (2022, 5, 7), (2023, 8, 7))
    assert found[0] == 1 > found[1] > found[2] > found[3] == found[4] == 0


def test_what_happened_in_a_month_is_told_until_the_middle_of_the_next() -> None:
    assert near("in May", (2023, 5, 1), (2023, 5, 31), (2023, 6, 20), (2023, 6, 21), (2023, 4, 30)) == [1, 1, 0.5, 0, 0]


def test_what_happened_in_december_is_told_in_the_january_of_the_next_year() -> None:
    assert near("in December 2022", (2022, 12, 5), (2023, 1, 5), (2022, 1, 5)) == [1, 0.5, 0]


def test_a_year_alone_is_a_weak_hint() -> None:
    assert near("in 2022", (2022, 3, 1), (2023, 3, 1)) == [0.3, 0]


def test_without_a_date_nothing_is_near() -> None:
    assert not mentioned("What happened?")
    assert near("What happened?", (2022, 3, 1)) == [0]


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ("Answer in Dutch until Friday.", True),
        ("Diese Woche nur kurze Antworten.", True),
        ("Jusqu'à vendredi, réponds en anglais.", True),
        ("Никогда не звони до понедельника.", True),
        ("本周请始终用英文回答。", True),
        ("Never order before 3 June.", True),
        ("Never answer before ten.", False),
        ("Antworten bis 60 Wörter.", False),
        ("Nunca escribas hasta 60 palabras.", False),
    ],
)
def test_what_a_day_decides_is_told_from_what_holds_on_every_day(text: str, *, depends: bool) -> None:
    assert depends_on_day(text) is depends


NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def in_words(found: tuple[str, int]) -> str:
    """As the page says it."""
    phrase, number = found
    return make_rendering().phrases(phrase, number=number)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (-2, "today"), (0, "today"), (1, "yesterday"), (2, "2 days ago"), (13, "13 days ago"), (14, "2 weeks ago"),
        (60, "9 weeks ago"), (61, "2 months ago"), (365, "12 months ago"), (700, "23 months ago"), (701, "2 years ago"),
    ],
)  # fmt: skip
def test_an_age_is_told_as_people_tell_it(days: int, said: str) -> None:
    assert in_words(age(NOON - timedelta(days=days), NOON)) == said


def test_days_are_those_of_the_calendar_whatever_the_clock_s_zone() -> None:
    late, early = NOON.replace(hour=23), NOON.replace(day=11, hour=1)
    assert age(late, early) == ("yesterday", 1)
    assert age(late, early.astimezone(timezone(timedelta(hours=-8)))) == ("yesterday", 1)


LATE = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("offset", "zone", "day", "hour"),
    [
        (None, UTC, date(2026, 7, 1), 22),
        (None, BERLIN, date(2026, 7, 2), 0),
        (0, BERLIN, date(2026, 7, 1), 22),
        (-420, BERLIN, date(2026, 7, 1), 15),
        (345, UTC, date(2026, 7, 2), 4),
    ],
)
def test_the_sender_s_offset_wins_and_else_the_zone_decides(offset: int | None, zone: tzinfo, day: date, hour: int) -> None:
    crumb = make_breadcrumb(created_at=LATE, utc_offset=offset)
    local = local_time(crumb, zone)
    assert (local, local.date(), local.hour) == (LATE, day, hour)


def test_a_zone_has_its_summer_time() -> None:
    winter = make_breadcrumb(created_at=LATE.replace(month=1))
    assert local_time(winter, BERLIN).hour == 23
    assert local_time(winter, BERLIN).date() == date(2026, 1, 1)


@given(
    st.datetimes(timezones=st.just(UTC)),
    st.none() | st.integers(-1439, 1439),
    st.sampled_from([UTC, BERLIN, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("America/Los_Angeles")]),
)
def test_every_time_that_can_be_stored_has_a_day_within_one_of_its_own(time: datetime, offset: int | None, zone: tzinfo) -> None:
    crumb = make_breadcrumb(created_at=time, received_at=time, utc_offset=offset)
    assert local_time(crumb, zone) == time
    assert abs(local_time(crumb, zone).date() - time.date()) <= timedelta(days=1)
