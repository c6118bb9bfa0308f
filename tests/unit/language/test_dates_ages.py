"""How long ago a day was, in the words of the bundled catalogue."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from builder.language.dates import age
from tests.factories import make_rendering

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
