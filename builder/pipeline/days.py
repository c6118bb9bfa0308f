"""When something was said by the clock of whoever said it."""

from datetime import datetime, timedelta, timezone, tzinfo

from builder.domain.breadcrumb import Breadcrumb


def local_time(breadcrumb: Breadcrumb, zone: tzinfo) -> datetime:
    """The aware local time: by the sender's offset, else in the profile's zone.

    A time that the zone would move out of the years 1 to 9999 stays in UTC.
    """
    offset = breadcrumb.utc_offset
    clock = zone if offset is None else timezone(timedelta(minutes=offset))
    try:
        return breadcrumb.created_at.astimezone(clock)
    except OverflowError:
        return breadcrumb.created_at
