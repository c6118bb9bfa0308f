"""Observations: lines of summaries that a model wrote in words of its own. They are found like the messages they stand for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from builder.domain.profile import Profile
from builder.domain.summary import Line
from builder.recall.index.view import View
from builder.recall.summaries.lines import with_rows
from builder.recall.summaries.plan import recipe_of


@dataclass(frozen=True, slots=True)
class Observation:
    """A line that holds as of a view."""

    summary: int
    """Row of its summary."""
    rows: tuple[int, ...]
    """Rows of what it stands for."""
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """All that a consumer may see as of a view, and that nothing has replaced."""

    summaries: frozenset[int] = frozenset()
    """Rows of the summaries that have them, or others that were replaced."""
    by_row: Mapping[int, tuple[Observation, ...]] = field(default_factory=dict)
    """Row of a message → those that stand for it, or for what has replaced it."""
    by_place: Mapping[tuple[int, int], Observation] = field(default_factory=dict)
    """Row of a summary, and character of its text → what begins there, or what has replaced that."""
    replaced: frozenset[str] = frozenset()
    """Ids of those that another one has replaced."""


NO_OBSERVATIONS = Observations()


def observations_of(view: View, profile: Profile) -> Observations:
    """Of the summaries of all sessions in the view that were made with the profile's own settings for its own audience.

    One of which a source was deleted or edited holds no more, and replaces nothing.
    """
    recipe = recipe_of(profile)
    if recipe is None or recipe.settings.by != "endpoint":
        return NO_OBSERVATIONS
    visible = view.current if view.summaries is None else view.current | view.summaries
    rows = (row for row in view.history.chains.of_recipe(recipe.name, view.prefix.latest) if visible[row])
    places = {(row, start): line for row in rows for start, line in _lines(view, row)}
    valid = {line.id: sources for sources, line in with_rows(view, places.values())}
    all_by_id = {line.id: Observation(row, valid[line.id], line) for (row, _), line in places.items() if line.id in valid}
    successors = {each.line.replaces: name for name, each in all_by_id.items() if each.line.replaces}
    newest: dict[str, Observation] = {}
    for name, each in reversed(all_by_id.items()):  # what replaces one comes later
        newest[name] = newest.get(successors.get(name, ""), each)
    by_row: dict[int, dict[Observation, None]] = {}
    for name, each in all_by_id.items():
        for row in each.rows:
            by_row.setdefault(row, {})[newest[name]] = None
    return Observations(
        summaries=frozenset(row for row, _ in places),
        by_row={row: tuple(each) for row, each in by_row.items()},
        by_place={place: newest[line.id] for place, line in places.items() if line.id in newest},
        replaced=frozenset(successors),
    )


def _lines(view: View, row: int) -> Iterator[tuple[int, Line]]:
    """The observations of a summary, and where each begins in its text."""
    start = 0
    for line in view.history.chains.summary(row).lines:
        if line.id:
            yield start, line
            start += len(line.text) + 1
