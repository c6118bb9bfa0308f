"""Limits of the conversation by units: a message, or an agent's message with all its tool calls."""

from builder.domain.profile import Window
from builder.recall.index.view import View


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
