"""Units: what is never split. A message, or a tool call with all its results (features A8)."""

from dataclasses import dataclass
from typing import Literal

from builder.domain.facts import Remembered
from builder.domain.profile import Cut, Window
from builder.pipeline.view import View

Spans = tuple[tuple[int, int], ...]

RESULT = "tool.response.v1"
"""What a tool answered; the only schema that is rendered in another form than whole."""


Line = Literal["", "placeholder", "folded", "superseded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How much of what a tool answered is rendered (features B1 to B8).

    line: why it is one line only; "" = it is more. cut: what is kept of its result list.
    characters: most of the whole; None = all.
    """

    line: Line = ""
    cut: Cut = Cut(results=None, characters=None)  # noqa: RUF009 - a frozen value
    characters: int | None = None


WHOLE = Form()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A recalled breadcrumb before any choice.

    section: where it would stand. spans: the passages that were found, () for the whole text.
    row: its number in the history (order on the page), -1 for pinned breadcrumbs and the trigger.
    said: how often the same was said. form: how much of it is rendered.
    """

    section: str
    row: int
    remembered: Remembered
    spans: Spans = ()
    said: int = 1
    form: Form = WHOLE


Unit = tuple[Candidate, ...]


def window_size(units: int, window: Window) -> int:
    """Units in the hot window of a session that has `units`: trims only above `max_units`, then to `trim_to`.

    A pure function of the number, so every worker at every time finds the same window.
    """
    if units <= window.max_units:
        return units
    return window.trim_to + (units - window.max_units - 1) % (window.max_units - window.trim_to + 1)


def hot_units(view: View, wanted: int) -> tuple[tuple[int, ...], ...]:
    """The newest `wanted` units, oldest first: each as the rows of its breadcrumbs in place order."""
    heads: set[int] = set()
    members: dict[int, list[int]] = {}
    current, own = view.current, view.told
    for number in range(len(own) - 1, -1, -1):
        row = int(own[number])
        if len(heads) == wanted:
            break
        head = view.unit_of(row)
        if view.in_conversation(row) and current[row]:
            members.setdefault(head, []).insert(0, row)
        if head == row and view.in_conversation(row):
            heads.add(head)
    return tuple(tuple(members[head]) for head in sorted(heads) if head in members)
