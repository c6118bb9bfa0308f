"""Where the rows of a history stand: live ones as they came, imports at the time at which they were said.

An import stands behind what it answers, removes or replaces, whatever its clock says. Of equal times the place decides.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.stored import StoredBreadcrumb

MAX_LINKS = 25
"""The longest chain whose clocks run backwards; ids may also name each other in a circle."""
EARLIEST = datetime.min.replace(tzinfo=UTC)


class _Moment(NamedTuple):
    """Sort key."""

    time: datetime
    order: tuple[Place, int]
    """Its own order, or that of the row that it must follow."""
    links: int = 0
    """How many it must follow there."""


def moment_of(crumb: Breadcrumb, latest: datetime) -> datetime:
    """When it was said, for an import; else when it came. latest: arrival of anything before it, aware UTC."""
    arrival = max(latest, crumb.received_at)
    return min(crumb.created_at, arrival) if crumb.replay else arrival


def in_order_of_time(rows: Iterable[StoredBreadcrumb]) -> list[StoredBreadcrumb]:
    """The rows in the order of a history. rows: in place order."""
    rows = list(rows)
    moments = _moments(rows)
    links = _links(rows, moments)
    for _ in range(MAX_LINKS):
        is_settled = True
        for number, others in links.items():
            last = max(moments[other] for other in others)
            if last > moments[number]:
                moments[number], is_settled = _Moment(last.time, last.order, last.links + 1), False
        if is_settled:
            break
    return [rows[number] for number in sorted(range(len(rows)), key=lambda number: (moments[number], number))]


def _moments(rows: list[StoredBreadcrumb]) -> list[_Moment]:
    moments: list[_Moment] = []
    latest, openings = EARLIEST, 0
    for row in rows:
        time = moment_of(row.breadcrumb, latest)
        latest = max(latest, row.breadcrumb.received_at)
        moments.append(_Moment(time, row.order))
        if row.entry is not None:
            openings += 1
        elif openings:  # what came with a person's first words stands before them
            opened = range(len(moments) - 1 - openings, len(moments) - 1)
            for number in opened:
                moments[number] = _Moment(time, rows[number].order)
            openings = 0
    return moments


def _links(rows: list[StoredBreadcrumb], moments: list[_Moment]) -> dict[int, list[int]]:
    """Number of an import → numbers of the rows that it must follow."""
    in_time = sorted(range(len(rows)), key=moments.__getitem__)
    firsts: dict[str, int] = {}
    callers: dict[tuple[str, str], int] = {}
    versions: dict[tuple[str, int], int] = {}
    for number in in_time:
        crumb = rows[number].breadcrumb
        firsts.setdefault(crumb.id, number)
        versions[crumb.id, crumb.version] = number
        for call in crumb.asks_for:
            callers.setdefault((crumb.session, call), number)
    links: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        crumb = row.breadcrumb
        if crumb.replay:
            calls = () if crumb.call_signatures else crumb.calls
            others = [firsts.get(crumb.answers), firsts.get(crumb.removes), versions.get((crumb.id, crumb.version - 1))]
            others += [callers.get((crumb.session, call)) for call in calls]
            links[number] = [other for other in others if other not in {None, number}]
    return {number: others for number, others in links.items() if others}
