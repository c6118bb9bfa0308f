"""The day on which something was said: by the sender's clock, else in the profile's zone."""

from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.language.dates import local_time
from tests.factories import make_breadcrumb

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
