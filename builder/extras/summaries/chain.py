"""Which summary covers what, what waits for one, and when it is due, as of a view."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from uuid import UUID, uuid5

from builder.domain.page_settings import Summaries
from builder.domain.summary import KeptLine, Source, Utterance
from builder.recall.index.conversation import of_audience
from builder.recall.index.view import View
from builder.recall.summaries.lines import with_rows
from builder.recall.summaries.recipes import Recipe

WaitingUnit = tuple[int, tuple[int, ...]]
"""A unit: the row that heads it, and its current rows, in place order."""
_NAMESPACE = UUID("0b6f6f0a-0d6c-5b1e-8f0e-8b1d2a7c4e19")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """How far a recipe's summaries have come."""

    lasting: tuple[KeptLine, ...]
    """All lasting lines, also those whose sources were edited since."""
    free: tuple[KeptLine, ...]
    previous: str
    """Id of the newest summary; "" = none."""
    last: int
    """Row that heads the last unit covered; -1 = none."""


def chain_of(view: View, recipe: Recipe) -> Chain:
    """With expired and blacklisted summaries, so none is made twice."""
    history, chains = view.history, view.history.chains
    summaries = chains.rows(view.session, recipe.name, view.prefix.latest)
    if not summaries:
        return Chain(lasting=(), free=(), previous="", last=-1)
    head = summaries[-1]
    rows = history.breadcrumbs.versions.get(chains.summary(head).last, ())
    return Chain(
        lasting=chains.lasting(head, view.prefix.latest),
        free=tuple(line for _, line in with_rows(view, chains.free(head))),
        previous=history.rows[head].breadcrumb.id,
        last=next((row for row in rows if history.breadcrumbs.session[row] == view.session), -1),
    )


def covered_sources(view: View, recipe: Recipe) -> tuple[Source, ...]:
    """All that the chain stands for, in order."""
    chains = view.history.chains
    rows = chains.rows(view.session, recipe.name, view.prefix.latest)
    return tuple(source for row in rows for source in chains.summary(row).sources)


def waiting_units(view: View, recipe: Recipe, last: int) -> tuple[WaitingUnit, ...]:
    """After the last one covered, oldest first; before them what joined a covered unit since."""
    view = of_audience(view, recipe.audience, None)
    late: set[int] = set()
    units: list[WaitingUnit] = []
    rows_in_view = view.rows.tolist()
    for row in rows_in_view[bisect_right(rows_in_view, last) :]:
        head = view.unit_of(row)
        if head <= last:
            late.add(head)
        elif head == row:
            units.append((head, view.members(head)))
    sources = frozenset(covered_sources(view, recipe)) if late else frozenset()
    late_units = [(head, tuple(row for row in view.members(head) if _source(view, row) not in sources)) for head in sorted(late)]
    current = ((head, tuple(row for row in rows if view.shows(row))) for head, rows in (*late_units, *units))
    return tuple(unit for unit in current if unit[1])


def is_due(view: View, settings: Summaries, units: Sequence[WaitingUnit]) -> bool:
    """Whether more units wait than the profile allows."""
    if len(units) <= settings.keep:
        return False
    if settings.max_pending is not None and len(units) > settings.max_pending:
        return True
    return settings.tokens is not None and sum(tokens(view, rows) for _, rows in units) > settings.tokens


def units_until_due(settings: Summaries, units: int) -> int:
    """Messages that must come before `is_due` has to be asked again."""
    if settings.max_pending is None or settings.tokens is not None:
        return max(min((settings.max_pending or settings.batch) - units + 1, settings.batch), 1)
    return max(settings.max_pending - units + 1, settings.keep - units + 1, 1)


def tokens(view: View, rows: tuple[int, ...]) -> int:
    """Tokens of these rows, by their passages."""
    return sum(passage.tokens for row in rows for passage in view.history.rows[row].passages)


def units_to_compact(view: View, units: tuple[WaitingUnit, ...], keep: int) -> tuple[WaitingUnit, ...]:
    """All but the last `keep` units or more; the rest begins with a person's message."""
    number = max(len(units) - keep, 0)
    while 0 < number < len(units) and view.breadcrumb(units[number][0]).role != "user":
        number -= 1
    return units[:number]


def summary_ids(workspace: str, session: str, recipe: Recipe, previous: str, sources: tuple[Source, ...]) -> Iterator[str]:
    """Ids of the summary that covers these next, in the order to try: an id that was deleted is never free again."""
    covered = [f"{name}:{version}" for name, version in sources]
    for number in count():
        yield str(uuid5(_NAMESPACE, "\x1f".join((workspace, session, recipe.name, previous, str(number), *covered))))


def sources_of(view: View, units: Iterable[WaitingUnit]) -> tuple[Source, ...]:
    """All breadcrumbs of the units, unit by unit."""
    return tuple(_source(view, row) for _, rows in units for row in rows)


def utterance(view: View, row: int) -> Utterance:
    """A row for a summariser."""
    crumb = view.breadcrumb(row)
    return Utterance(
        id=crumb.id, version=crumb.version, speaker=view.stored_name(row), role=crumb.role, text=crumb.text, day=view.day(row)
    )


def is_from_person(view: View, row: int) -> bool:
    """Whether a person said something there."""
    crumb = view.breadcrumb(row)
    return crumb.role == "user" and bool(crumb.text.strip())


def _source(view: View, row: int) -> Source:
    crumb = view.breadcrumb(row)
    return crumb.id, crumb.version
