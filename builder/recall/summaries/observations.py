"""Observations, as of a view: lines of summaries that a model wrote."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from builder.domain.profile import Profile
from builder.domain.summary import KeptLine
from builder.recall.index.view import View
from builder.recall.summaries.lines import with_rows
from builder.recall.summaries.recipes import recipe_of


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
