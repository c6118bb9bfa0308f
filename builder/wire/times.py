"""Times of senders: one reader for every door, and RFC 3339 as it is written."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz
from typing import Any

from builder.domain.errors import Rejected
from builder.domain.json_text import shape

MAX_OFFSET_MINUTES = 24 * 60 - 1
"""An offset is less than a day."""
MAX_SECONDS = 20_000_000_000
"""Since 1970, in the year 2603. A larger number is milliseconds, one that is a thousand times larger microseconds."""
UNITS = (1, 1_000, 1_000_000)
"""Units of a number in a second."""
FORMS = "2026-11-21T10:00:00+01:00, 2026-11-21, seconds, milliseconds or microseconds since 1970, or a date as mail has it"
MAX_VALUE_CHARS = 60
"""A value in a message is cut to so much."""

_ISO = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)(?:(?:[Tt_]|[ ]+)(?P<clock>\d\d:\d\d(?::\d\d)?)(?:[.,](?P<part>\d+))?[ ]*(?P<zone>[Zz]|UTC|GMT)?"
    r"(?:(?P<sign>[+\-\u2212])(?P<hours>\d\d)(?::?(?P<minutes>\d\d)(?::?(?P<seconds>\d\d))?)?)?)?"
)
_MAIL = re.compile(
    r"(?:[A-Za-z]{3},\s*)?\d{1,2}\s+[A-Za-z]{3}\s+\d{4}\s+\d\d:\d\d(?::\d\d)?(?:\s+(?P<zone>[+-]\d{4}|[A-Za-z]{1,5}))?"
)
_NUMBER = re.compile(r"[+-]?\d{1,25}(?:\.\d{1,25})?")
_OFFSET = re.compile(r"(?<=\d)[ ]*([+\-\u2212])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SentTime:
    """A time as its sender wrote it."""

    time: datetime
    """With the sender's offset."""
    has_zone: bool = True
    """False = it was read as UTC."""


def read_time(value: Any, name: str = "created_at") -> SentTime | None:
    """The time that a JSON value or a datetime says; None for null and an empty text.

    Without a zone it is UTC. A number, or a text of digits, is seconds, milliseconds or microseconds by its size. Raises
    `Rejected` with name and value.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        sent = _read(value)
    except ValueError:
        sent = None
    except OverflowError as error:
        raise Rejected(
            f"{name} is {_brief(value)}: in UTC it lies outside the years 1 to 9999; send the time of the event"
        ) from error
    if sent is None:
        raise Rejected(f"{name} is {_brief(value)}, which is no time; write {FORMS}")
    return sent


def _brief(value: Any) -> str:
    return repr(value)[:MAX_VALUE_CHARS] if isinstance(value, str | int | float | datetime) else shape(value)


def sent_offset(value: Any) -> int | None:
    """Minutes east of UTC of a valid time; None = unknown, as for `Z` (JavaScript writes it always) and `-00:00` (RFC 3339)."""
    match = _OFFSET.search(value.strip()) if isinstance(value, str) and ":" in value else None
    if match is None:
        return None
    sign, hours, minutes, seconds = match.groups(default="0")
    offset = _rounded(int(hours) * 3600 + int(minutes) * 60 + int(seconds))
    if sign == "+":
        return offset
    return -offset if offset else None


def clock_offset(time: datetime) -> int | None:
    """The same of a datetime; None if naive or in `datetime.UTC`."""
    offset = time.utcoffset()
    if offset is None or time.tzinfo == UTC:
        return None
    seconds = int(offset.total_seconds())
    return _rounded(seconds) if seconds >= 0 else -_rounded(-seconds)


def aware(time: datetime) -> datetime:
    """A naive time is UTC."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def moment(time: datetime, utc_offset: int | None = None) -> str:
    """RFC 3339, UTC as `Z`; a naive time is UTC."""
    time = aware(time)
    if utc_offset is None:
        return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return time.astimezone(timezone(timedelta(minutes=utc_offset))).isoformat()


def _rounded(seconds: int) -> int:
    return min((seconds + 30) // 60, MAX_OFFSET_MINUTES)


def _read(value: Any) -> SentTime | None:
    if isinstance(value, datetime):
        return _in_range(aware(value), has_zone=value.tzinfo is not None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_number(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _of_number(float(text) if "." in text else int(text))
    match = _ISO.fullmatch(text)
    if match:
        return _of_iso(match)
    match = _MAIL.fullmatch(text)
    return _of_mail(text, match["zone"]) if match else None


def _of_number(number: float) -> SentTime | None:
    for units in UNITS:
        if math.isfinite(number) and abs(number) <= MAX_SECONDS * units:
            whole, part = divmod(number, units)
            seconds = timedelta(seconds=whole) + timedelta(microseconds=round(part * 1_000_000 / units))
            return SentTime(_EPOCH + seconds)
    return None


def _of_iso(match: re.Match[str]) -> SentTime | None:
    clock = match["clock"] or "00:00"
    fraction = (match["part"] or "0")[:6].ljust(6, "0")
    is_leap = clock.endswith(":60") and len(clock) > len("23:59")  # RFC 3339 has them; the second before is as near as it gets
    time = datetime.fromisoformat(f"{match['date']}T{clock[:-2] + '59' if is_leap else clock}").replace(
        microsecond=int(fraction), tzinfo=UTC
    )
    if match["zone"] and match["sign"]:
        return None
    if match["sign"] is None:
        return _in_range(time, has_zone=match["zone"] is not None)
    hours, minutes, seconds = (int(match[name] or 0) for name in ("hours", "minutes", "seconds"))
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    zone = timezone(offset if match["sign"] == "+" else -offset)
    return _in_range(time.replace(tzinfo=zone))


def _of_mail(text: str, zone: str | None) -> SentTime | None:
    fields = parsedate_tz(text)
    if fields is None:
        return None
    offset = timedelta(seconds=fields[9] or 0)
    return _in_range(datetime(*fields[:6], tzinfo=timezone(offset) if offset else UTC), has_zone=zone is not None)


def _in_range(time: datetime, *, has_zone: bool = True) -> SentTime:
    time.astimezone(UTC)  # raises OverflowError
    return SentTime(time, has_zone)
