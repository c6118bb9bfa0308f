"""Times as senders write them: the moment, and the offset of the clock."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator

MAX_OFFSET_MINUTES = 24 * 60 - 1
"""An offset is less than a day."""

_OFFSET = re.compile(r"([+\-\u2212])(\d\d):?(\d\d)(?::(\d\d))?$")


def _readable(value: Any) -> Any:
    """Pydantic refuses seconds in an offset, which Python writes for local mean times; they are parsed here."""
    match = _OFFSET.search(value) if isinstance(value, str) else None
    if match is None or match[4] is None:
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return value


SentTime = Annotated[AwareDatetime, BeforeValidator(_readable)]
"""RFC 3339; seconds in the offset are taken too."""


def sent_offset(value: Any) -> int | None:
    """Minutes east of UTC of the clock that a valid time was read from; None when the time does not say.

    `Z` says nothing, because JavaScript writes it for every clock, and by RFC 3339 `-00:00` says nothing either.
    """
    match = _OFFSET.search(value) if isinstance(value, str) else None
    if match is None:
        return None
    sign, hours, minutes, seconds = match.groups(default="0")
    offset = _rounded(int(hours) * 3600 + int(minutes) * 60 + int(seconds))
    if sign == "+":
        return offset
    return -offset if offset else None


def clock_offset(time: datetime) -> int | None:
    """The same of a time in Python; None for a naive one and for one in `datetime.UTC`."""
    offset = time.utcoffset()
    if offset is None or time.tzinfo == UTC:
        return None
    seconds = int(offset.total_seconds())
    return _rounded(seconds) if seconds >= 0 else -_rounded(-seconds)


def moment(time: datetime, utc_offset: int | None = None) -> str:
    """RFC 3339: in UTC as `Z`, or by a clock so many minutes east of UTC. A naive time is one of this machine's clock."""
    if utc_offset is None:
        return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return time.astimezone(timezone(timedelta(minutes=utc_offset))).isoformat()


def _rounded(seconds: int) -> int:
    """Whole minutes, half of one upwards."""
    return min((seconds + 30) // 60, MAX_OFFSET_MINUTES)
