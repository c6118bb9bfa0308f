"""Which summary covers what, what waits for one, and what of a summary is shown, as of a view."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import count
from uuid import UUID, uuid5

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.page_settings import Summaries
from builder.domain.profile import Profile
from builder.domain.selector import Selector
from builder.domain.summary import KeptLine, Source, Summary, Utterance
from builder.recall.index.conversation import of_audience
from builder.recall.index.view import View
from builder.recall.summaries.lines import EMPTY_PAGE, PageContent, shown_lines, valid_lines, with_rows

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
        free=valid_lines(view, _free(view, head)),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    """The summary of a page."""

    breadcrumb: Breadcrumb
    summary: Summary
    lines: tuple[KeptLine, ...]
    """All that it may show, in place order."""

    def with_lines(self, lines: Iterable[KeptLine]) -> Breadcrumb:
        """The breadcrumb with these lines only."""
        body = replace(self.summary, lines=tuple(lines)).body()
        return replace(self.breadcrumb, body=json.dumps(body, ensure_ascii=False))


def page_summary(view: View, profile: Profile, page: PageContent, moved_at: int) -> PageSummary | None:
    """The newest summary that the consumer may see, without what the page shows; None when no line is left.

    moved_at: row with which the beginning of the conversation on the page last moved; the summary changes only then.
    """
    recipe = recipe_of(profile)
    if recipe is None:
        return None
    chains = view.history.chains
    head = chains.newest_visible(view.session, recipe.name, view.prefix.latest, view.current, moved_at)
    if head < 0:
        return None
    lines = shown_lines(view, chains.lasting(head, view.current), _free(view, head), page)
    if not lines:
        return None
    return PageSummary(breadcrumb=view.breadcrumb(head), summary=chains.summary(head), lines=lines)


def memory_summaries(view: View, profile: Profile, sessions: int, page: PageContent = EMPTY_PAGE) -> Iterator[PageSummary]:
    """The newest summary of each of the person's other sessions, the newest first.

    sessions: the most that are looked at. page: what is shown of them already.
    """
    recipe = recipe_of(profile)
    if recipe is None or view.summaries is None or not view.summaries.any():
        return
    chains, latest = view.history.chains, view.prefix.latest
    codes = view.session_of[view.summaries]
    newest_first = list(dict.fromkeys(reversed(codes.tolist())))[:sessions]
    heads = (chains.newest_visible(code, recipe.name, latest, view.summaries, view.size) for code in newest_first)
    for head in heads:
        lines = shown_lines(view, chains.lasting(head, view.summaries), _free(view, head), page) if head >= 0 else ()
        if lines:
            yield PageSummary(breadcrumb=view.breadcrumb(head), summary=chains.summary(head), lines=lines)


def tokens(view: View, rows: tuple[int, ...]) -> int:
    """Tokens of these rows, by their passages."""
    return sum(passage.tokens for row in rows for passage in view.history.rows[row].passages)


def units_to_compact(view: View, units: tuple[WaitingUnit, ...], keep: int) -> tuple[WaitingUnit, ...]:
    """All but the last `keep` units or more; the rest begins with a person's message."""
    number = max(len(units) - keep, 0)
    while 0 < number < len(units) and view.breadcrumb(units[number][0]).role != "user":
        number -= 1
    return units[:number]


def is_from_person(view: View, row: int) -> bool:
    """Whether a person said something there."""
    crumb = view.breadcrumb(row)
    return crumb.role == "user" and bool(crumb.text.strip())


def _free(view: View, row: int) -> tuple[KeptLine, ...]:
    return tuple(line for line in view.history.chains.summary(row).lines if not line.is_lasting)


def _source(view: View, row: int) -> Source:
    crumb = view.breadcrumb(row)
    return crumb.id, crumb.version


@dataclass(frozen=True, slots=True)
class Observation:
    """A line that holds as of a view."""

    summary: int
    rows: tuple[int, ...]
    line: KeptLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """All that a consumer may see as of a view, and that nothing has replaced."""

    summaries: frozenset[int] = frozenset()
    """Rows of the summaries that have them, or others that were replaced."""
    by_row: Mapping[int, tuple[Observation, ...]] = field(default_factory=dict)
    """Row of a message → those that stand for it, or for what has replaced it."""
    by_start: Mapping[tuple[int, int], Observation] = field(default_factory=dict)
    """Row of a summary, and character of its text → what begins there, or what has replaced that."""
    replaced: frozenset[str] = frozenset()


NO_OBSERVATIONS = Observations()


def observations_of(view: View, profile: Profile) -> Observations:
    """The observations of all sessions in the view, made with the profile's own settings."""
    recipe = recipe_of(profile)
    if recipe is None or recipe.settings.by != "endpoint":
        return NO_OBSERVATIONS
    visible = view.current if view.summaries is None else view.current | view.summaries
    rows = (row for row in view.history.chains.of_recipe(recipe.name, view.prefix.latest) if visible[row])
    by_start = {(row, start): line for row in rows for start, line in _observed_lines(view, row)}
    valid = {line.id: sources for sources, line in with_rows(view, by_start.values())}
    all_by_id = {line.id: Observation(row, valid[line.id], line) for (row, _), line in by_start.items() if line.id in valid}
    successors = {each.line.replaces: name for name, each in all_by_id.items() if each.line.replaces}
    newest: dict[str, Observation] = {}
    for name, each in reversed(all_by_id.items()):  # what replaces one comes later
        newest[name] = newest.get(successors.get(name, ""), each)
    return Observations(
        summaries=frozenset(row for row, _ in by_start),
        by_row=_by_row(all_by_id, newest),
        by_start={place: newest[line.id] for place, line in by_start.items() if line.id in newest},
        replaced=frozenset(successors),
    )


def _by_row(every: Mapping[str, Observation], newest: Mapping[str, Observation]) -> dict[int, tuple[Observation, ...]]:
    by_row: dict[int, dict[Observation, None]] = {}
    for name, each in every.items():
        for row in each.rows:
            by_row.setdefault(row, {})[newest[name]] = None
    return {row: tuple(each) for row, each in by_row.items()}


def _observed_lines(view: View, row: int) -> Iterator[tuple[int, KeptLine]]:
    start = 0
    for line in view.history.chains.summary(row).lines:
        if line.id:
            yield start, line
            start += len(line.text) + 1
