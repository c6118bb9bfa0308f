"""Limits of the conversation by number: units, tool turns, results in a line; and how far back it can have room."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builder.domain.profile import Profile, Window
from builder.recall.index.conversation import Entry, Turn, turns
from builder.recall.index.view import View

MAX_STORED_SHARE = 1.25
"""Tokens of a text as stored over its tokens on a page, at most: JSON is written otherwise there."""
MAX_TURNS_TO_ANSWER = 50
"""Turns in which the last answer is looked for, though what is newer fills the page."""
STUB_TOKENS = 30
"""Of a result that is one line, about."""
MIN_LABEL_TOKENS = 3
"""Of a bullet, who speaks, and the line end."""
MIN_CALL_TOKENS = 5
"""Of the line of a call."""


@dataclass(frozen=True, slots=True)
class LimitedConversation:
    """The conversation as the profile's limits leave it, as far back as it may be shown."""

    entries: tuple[Entry, ...]
    """The newest first."""
    placeholders: frozenset[Entry]
    """Those whose results a limit reduces to a line."""
    old_calls: frozenset[Entry]
    """Those that the limit of tool turns takes."""
    left_out: tuple[tuple[Entry, str], ...]
    """What a limit takes, and why."""
    is_part: bool
    """Older entries may be shown too, but need more than the room."""
    moved_at: int
    """Row with which a limit last moved its beginning."""


def cannot_fit(view: View, profile: Profile, allowance: int) -> bool:
    """Whether the conversation is surely too long, by the counts of when it was stored; limits may leave little of it.

    allowance: tokens that there are for it.
    """
    window, own = profile.window, view.rows
    if window.max_units is not None or window.max_tool_turns is not None or profile.tool_output.placeholder_after is not None:
        return False
    rows_shown = own[view.dialogue[own] & view.current[own]]
    marks = view.history.breadcrumbs
    texts = rows_shown[~marks.by_tool.head(view.size)[rows_shown]]
    return float((marks.tokens.head(view.size)[texts] + MIN_LABEL_TOKENS).sum()) > MAX_STORED_SHARE * allowance


def limit_conversation(view: View, profile: Profile, room: float, current: Turn, *, folded: bool) -> LimitedConversation:
    """The entries that may be shown, back to where they need more than `room` tokens, by the counts of when they were stored.

    current: entries that stand elsewhere. folded: results need one line each, and the last answer is among the entries.
    """
    window, after = profile.window, profile.tool_output.placeholder_after
    units = view.units if window.max_units is not None else 0
    most = window.max_units
    if most is not None and units > most:
        most = window_size(units, window)
    entries: list[Entry] = []
    left_out: list[tuple[Entry, str]] = []
    placeholders: set[Entry] = set()
    old_calls: set[Entry] = set()
    tool_turns = 0
    tokens, has_answer = 0.0, False
    stored = view.history.breadcrumbs.tokens.head(view.size)
    for number, turn in enumerate(turns(view)):
        calls = any(entry.request for entry in turn)
        tool_turns += calls
        for entry in reversed(turn):
            if tokens > MAX_STORED_SHARE * room and (not folded or has_answer or number >= MAX_TURNS_TO_ANSWER):
                return LimitedConversation(
                    tuple(entries), frozenset(placeholders), frozenset(old_calls), tuple(left_out), is_part=True, moved_at=0
                )
            if entry in current:
                continue
            if most is not None and number >= most:
                left_out.append((entry, f"older than the newest {most} units"))
            elif entry.request and window.max_tool_turns is not None and tool_turns > window.max_tool_turns:
                left_out.append((entry, f"older than the last {window.max_tool_turns} tool turns"))
                old_calls.add(entry)
            else:
                entries.append(entry)
                has_answer |= not entry.request and view.breadcrumb(entry.row).role == "assistant"
                placeholders.update({entry} if after is not None and tool_turns > after else ())
                tokens += _stored_tokens(entry, stored, folded=folded)
    moved_at = last_trim_row(view, window) if most is not None else 0
    return LimitedConversation(
        tuple(entries), frozenset(placeholders), frozenset(old_calls), tuple(left_out), is_part=False, moved_at=moved_at
    )


def window_size(units: int, window: Window) -> int:
    """Units that the limit leaves of a conversation of `units`: trims only above `max_units`, then to `trim_to`.

    A pure function of the number, so every worker at every time finds the same beginning.
    """
    most, keep = window.max_units, window.trim_to
    if most is None or units <= most:
        return units
    return keep + (units - most - 1) % (most - keep + 1)


def last_trim_row(view: View, window: Window) -> int:
    """The row with which the window was last trimmed; 0 when it never was."""
    units, most = view.units, window.max_units
    if most is None or units <= most:
        return 0
    since = (units - most - 1) % (most - window.trim_to + 1)
    heads: set[int] = set()
    for number in range(view.session_size - 1, -1, -1):
        row = view.session_rows[number]
        if view.in_conversation(row):
            heads.add(view.unit_of(row))
            if len(heads) > since:
                return row
    return 0


def _stored_tokens(entry: Entry, tokens: NDArray[np.float32], *, folded: bool) -> float:
    results = STUB_TOKENS * len(entry.results) if folded else float(tokens[list(entry.results)].sum())
    return results + (MIN_CALL_TOKENS if entry.request else float(tokens[entry.row]) + MIN_LABEL_TOKENS)
