"""The local time of a breadcrumb, by its sender's clock."""

from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.phrases import Phrases


def local_time(breadcrumb: Breadcrumb, zone: tzinfo) -> datetime:
    """The aware local time: by the sender's offset, else in the profile's zone.

    A time that the zone would move out of the years 1 to 9999 stays in UTC.
    """
    return _local(breadcrumb.created_at, breadcrumb.utc_offset, zone)


@lru_cache(4096)
def day_line(moment: datetime, offset: int | None, zone: tzinfo, phrases: Phrases) -> str:
    """The day of an aware moment as "8 May 2023". offset: minutes east of UTC of the sender's clock; None = in the zone."""
    return phrases.day(_local(moment, offset, zone))


def _local(moment: datetime, offset: int | None, zone: tzinfo) -> datetime:
    clock = zone if offset is None else timezone(timedelta(minutes=offset))
    try:
        return moment.astimezone(clock)
    except OverflowError:
        return moment
