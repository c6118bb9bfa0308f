"""When a breadcrumb ends."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from fnmatch import filter as filter_tags
from fnmatch import fnmatchcase

Lifetimes = Mapping[str, float]
"""Kind → hours. A kind is a schema, or a schema, a space and a tag; both may hold the wildcard `*`."""
LIFETIMES: dict[str, float] = {
    "tool.request.v1 health:check": 1 / 12,
    "system.ping.v1": 1 / 6,
    "*agent.temp*": 1,
    "agent.thinking.v1": 6,
    "agent.analysis.v1": 6,
    "tool.response.v1 log:*": 168,
    "tool.error.v1 log:*": 168,
    "*metrics.v1": 720,
}
"""The defaults, as in RCRT."""


def end_of(created_at: datetime, sent: Iterable[float | datetime | None], hours: float | None) -> datetime | None:
    """The earliest end in the record, else `hours` after its creation; None = never."""
    ends = [_moment(created_at, end) for end in sent if end is not None]
    if not ends and hours is not None:
        ends = [_moment(created_at, 3600 * hours)]
    return min((end for end in ends if end is not None), default=None)


def lifetime(schema: str, tags: tuple[str, ...], lifetimes: Lifetimes) -> float | None:
    """Hours; the shortest of the kinds that fit, None = no limit."""
    kinds = ((*kind.partition(" "), hours) for kind, hours in lifetimes.items())
    fitting = (hours for pattern, _, tag, hours in kinds if fnmatchcase(schema, pattern) and (not tag or filter_tags(tags, tag)))
    return min(fitting, default=None)


def _moment(created_at: datetime, end: float | datetime) -> datetime | None:
    if isinstance(end, datetime):
        return end
    try:
        return created_at + timedelta(seconds=end)
    except OverflowError:
        return None
