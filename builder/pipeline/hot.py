"""The hot window as a page shows it: what was just said, each thing once, tool output of the newest turns only."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from builder.domain.context import Omission
from builder.domain.profile import Profile
from builder.pipeline.reach import reach
from builder.pipeline.units import Candidate, Unit, hot_units
from builder.pipeline.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Hot:
    """units: newest first. omissions: what of the window is left out. turns: tool turns of the session that are not shown.

    moved: the row with which the window came to begin where it does, 0 when it never moved.
    """

    units: tuple[Unit, ...]
    omissions: tuple[Omission, ...]
    turns: int
    moved: int

    @property
    def rows(self) -> frozenset[int]:
        """All rows in it."""
        return frozenset(candidate.row for unit in self.units for candidate in unit)

    @property
    def note(self) -> str:
        """How many turns are left out, for the page (features A7)."""
        return f"({self.turns:,} earlier tool {'turn' if self.turns == 1 else 'turns'} left out)" if self.turns else ""


def hot_window(view: View, profile: Profile, standing: Mapping[int, Candidate]) -> Hot:
    """The newest units that the section has room for; what is older may be found like anything else.

    standing: rows that stand in a section of their own: an anchor is not said twice, and takes its place with its results.
    """
    far, most = reach(view, profile), profile.window.max_tool_turns
    sections = {rule.source: rule.name for rule in profile.sections}
    windows = hot_units(view, far.units)
    said = Counter(_saying(view, row) for rows in windows for row in rows)
    shown: set[tuple[str, bytes, int]] = set()
    turns = 0
    units: list[Unit] = []
    omissions: list[Omission] = []
    for rows in reversed(windows):
        turns += any(_is_tool(view, row) for row in rows)
        old = most is not None and turns > most
        kept: list[Candidate] = []
        for row in rows:
            if row in standing:
                continue
            remembered, tool, saying = view.history.rows[row], _is_tool(view, row), _saying(view, row)
            if old and (tool or _only_calls(view, row)):
                omissions.append(Omission(id=remembered.breadcrumb.id, reason=f"older than the last {most} tool turns"))
            elif saying in shown:
                omissions.append(Omission(id=remembered.breadcrumb.id, reason="repeat"))
            else:
                section = sections.get("tools" if tool else "hot", "")
                kept.append(Candidate(section=section, row=row, remembered=remembered, said=said[saying]))
                shown.update(() if tool else {saying})
        anchors = [standing[row] for row in rows if row in standing]
        units += [(*kept, *(anchors if any(candidate.remembered.breadcrumb.calls for candidate in kept) else ()))] if kept else []
    least = profile.window.min_recent
    near = tuple(unit for number, unit in enumerate(units) if number < least or unit[0].row >= far.first)
    near_turns = sum(any(each.remembered.breadcrumb.role == "tool" for each in unit) for unit in near)
    left_out = 0 if most is None else _tool_turns(view) - near_turns
    return Hot(units=near, omissions=tuple(omissions), turns=left_out, moved=far.moved)


def _tool_turns(view: View) -> int:
    """Tool turns of the whole session, as far as they may be shown."""
    rows = view.rows
    tools = rows[view.history.marks.by_tool.head(view.size)[rows] & view.current[rows] & view.spoken[rows]]
    return len(np.unique(view.heads[tools])) if len(tools) else 0


def _only_calls(view: View, row: int) -> bool:
    """Whether it says nothing but its calls."""
    crumb = view.history.rows[row].breadcrumb
    return bool(crumb.calls) and not crumb.text.strip()


def _is_tool(view: View, row: int) -> bool:
    return view.history.rows[row].breadcrumb.role == "tool"


def _saying(view: View, row: int) -> tuple[str, bytes, int]:
    """Who said what: the same word of two people is two things, and a call belongs to its result whatever was said with it."""
    remembered = view.history.rows[row]
    return remembered.breadcrumb.speaker, remembered.fingerprint, row if remembered.breadcrumb.calls else -1
