"""How much of a conversation the profile's limits leave, and whether that may fit into a page."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from builder.domain.page_settings import Window
from builder.domain.profile import Profile
from builder.recall.index.conversation import Entry, Turn, turns
from builder.recall.index.view import View

COUNT_TOLERANCE_TOKENS = 40
"""Tokens by which parts counted one by one may differ from the page counted whole."""
MIN_ROOM = 16
"""Tokens of a short message: what is free below it fills nothing."""
MAX_STORED_SHARE = 1.25
"""Tokens of a text as stored over its tokens on a page, at most: JSON is written otherwise there."""
MAX_TURNS_TO_ANSWER = 50
"""Turns in which the last answer is looked for, though what is newer fills the page."""
STUB_TOKENS = 30
"""A result that is one line, about."""
MIN_LABEL_TOKENS = 3
"""A bullet, the speaker, and the line end."""
OLD_TURNS = "older than the last"
"""Beginning of the reason of calls that the limit of tool turns takes."""
MIN_CALL_TOKENS = 5


@dataclass(frozen=True, slots=True)
class LimitedConversation:
    """The conversation within the profile's limits, as far back as it may be shown."""

    entries: tuple[Entry, ...]
    """The newest first."""
    placeholders: frozenset[Entry]
    """Those whose results a limit reduces to a line."""
    left_out: tuple[tuple[Entry, str], ...]
    is_part: bool
    """Older entries may be shown too, but need more than the room."""
    moved_at: int
    """Row with which a limit last moved its beginning."""


def cannot_fit(view: View, profile: Profile, allowance: int) -> bool:
    """Whether the conversation is surely longer than `allowance` tokens, by stored counts."""
    window, rows_shown = profile.window, view.conversation
    if window.max_units is not None or window.max_tool_turns is not None or profile.tool_output.placeholder_after is not None:
        return False
    texts = rows_shown[~view.history.breadcrumbs.by_tool[rows_shown]]
    return float((view.tokens[texts] + MIN_LABEL_TOKENS).sum()) > MAX_STORED_SHARE * allowance


def limit_conversation(view: View, profile: Profile, room: float, current: Turn, *, folded: bool) -> LimitedConversation:
    """The entries that may be shown, back to where they need more than `room` tokens by stored counts.

    current: entries that are elsewhere. folded: results need one line each, and the last answer is included.
    """
    entries: list[Entry] = []
    left_out: list[tuple[Entry, str]] = []
    placeholders: set[Entry] = set()
    tokens, most_of_result = 0.0, STUB_TOKENS if folded else math.inf
    has_answer = is_part = False
    for number, entry, reason, is_reduced in _limits(view, profile):
        is_part = tokens > MAX_STORED_SHARE * room and (not folded or has_answer or number >= MAX_TURNS_TO_ANSWER)
        if is_part:
            break
        if entry in current:
            continue
        if reason:
            left_out.append((entry, reason))
            continue
        entries.append(entry)
        has_answer |= not entry.request and view.breadcrumb(entry.row).role == "assistant"
        if is_reduced:
            placeholders.add(entry)
        tokens += _stored_tokens(view, entry, most_of_result)
    moved_at = 0 if is_part else last_trim_row(view, profile.window)
    return LimitedConversation(tuple(entries), frozenset(placeholders), tuple(left_out), is_part, moved_at)


def _stored_tokens(view: View, entry: Entry, most: float) -> float:
    """Least tokens of an entry. most: of each result."""
    is_result = not entry.request and view.breadcrumb(entry.row).role == "tool"  # its call is not known
    if not entry.request and not is_result:
        return MIN_LABEL_TOKENS + float(view.tokens[entry.row])
    results = (entry.row,) if is_result else entry.results
    return sum(min(float(view.tokens[row]), most) for row in results) + (MIN_LABEL_TOKENS if is_result else MIN_CALL_TOKENS)


def _limits(view: View, profile: Profile) -> Iterator[tuple[int, Entry, str, bool]]:
    """Each entry, the newest first: the number of its turn, the limit that takes it, whether one reduces its results."""
    window, after = profile.window, profile.tool_output.placeholder_after
    most, max_calls, tool_turns = window.max_units, window.max_tool_turns, 0
    if most is not None and view.units > most:
        most = window_size(view.units, window)
    for number, turn in enumerate(turns(view)):
        tool_turns += any(entry.request for entry in turn)
        for entry in reversed(turn):
            reason = f"older than the newest {most} units" if most is not None and number >= most else ""
            if not reason and entry.request and max_calls is not None and tool_turns > max_calls:
                reason = f"{OLD_TURNS} {max_calls} tool turns"
            yield number, entry, reason, after is not None and tool_turns > after


def window_size(units: int, window: Window) -> int:
    """Units left of `units`: trimmed above `max_units` to `trim_to`; equal for every worker."""
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
    row: int
    for row in reversed(view.conversation.tolist()):
        heads.add(view.unit_of(row))
        if len(heads) > since:
            return row
    return 0
