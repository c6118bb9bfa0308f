"""Which summary covers what, and what waits for one, as of a view."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from uuid import UUID, uuid5

from builder.domain.page_settings import Summaries
from builder.domain.profile import Profile
from builder.domain.selector import Selector
from builder.domain.summary import KeptLine, Source, Utterance
from builder.recall.index.conversation import of_audience
from builder.recall.index.view import View
from builder.recall.summaries.lines import valid_lines

WaitingUnit = tuple[int, tuple[int, ...]]
"""A unit: the row that heads it, and its current rows, in place order."""
_NAMESPACE = UUID("0b6f6f0a-0d6c-5b1e-8f0e-8b1d2a7c4e19")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings that summaries of equal profiles share."""

    name: str
    """Hash of the settings and of the audience."""
    settings: Summaries
    audience: Selector | None


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


def recipe_of(profile: Profile) -> Recipe | None:
    """None for a profile without summaries, and for one that sees only its own task."""
    if profile.summaries is None or profile.scope_to_task:
        return None
    source = f"{profile.summaries!r}\0{profile.audience!r}"
    name = blake2b(source.encode(), digest_size=4).hexdigest()
    return Recipe(name=name, settings=profile.summaries, audience=profile.audience)


def chain_of(view: View, recipe: Recipe) -> Chain:
    """With expired and blacklisted summaries, so none is made twice."""
    chains, history = view.history.chains, view.history
    head = chains.head(view.session, recipe.name, view.prefix.latest)
    if head < 0:
        return Chain(lasting=(), free=(), previous="", last=-1)
    rows = view.history.breadcrumbs.versions.get(chains.summary(head).last, ())
    return Chain(
        lasting=chains.lasting(head, view.prefix.latest),
        free=valid_lines(view, free_lines(view, head)),
        previous=history.rows[head].breadcrumb.id,
        last=next((row for row in rows if view.history.breadcrumbs.session[row] == view.session), -1),
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
    current = (
        (head, tuple(row for row in rows if view.dialogue[row] and view.current[row])) for head, rows in (*late_units, *units)
    )
    return tuple(unit for unit in current if unit[1])


def summary_ids(workspace: str, session: str, recipe: Recipe, previous: str, sources: tuple[Source, ...]) -> Iterator[str]:
    """Ids of the summary that covers these next, in the order to try: an id that was deleted is never free again."""
    for number in count():
        parts = (workspace, session, recipe.name, previous, str(number))
        yield str(uuid5(_NAMESPACE, "\x1f".join((*parts, *(f"{name}:{version}" for name, version in sources)))))


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


def free_lines(view: View, row: int) -> tuple[KeptLine, ...]:
    """The lines of a summary that do not last: the next one has its own."""
    return tuple(line for line in view.history.chains.summary(row).lines if not line.is_lasting)


def _source(view: View, row: int) -> Source:
    crumb = view.breadcrumb(row)
    return crumb.id, crumb.version
