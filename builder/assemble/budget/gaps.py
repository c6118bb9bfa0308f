"""What is missing between the lines of a page: units of the conversation of which it shows nothing, and where they were said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from builder.assemble.items.list_items import ITEM
from builder.assemble.items.writer import Item
from builder.domain.phrases import Phrases
from builder.recall.index.conversation import turn_of
from builder.recall.index.prefix import Ints
from builder.recall.index.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """The gaps of a page. A unit that only a summary tells is missing too."""

    view: View
    phrases: Phrases
    missing: Ints
    """Rows that head the units of which the page shows nothing, in place order."""
    other_calls: Mapping[int, int]
    """Row of a message that is shown with a part of its calls → number of the others."""

    @property
    def earlier(self) -> str:
        """The note in front of the conversation; "" when nothing is missing."""
        number = len(self.missing)
        return self.phrases.counted("message_not_shown", "messages_not_shown", number) if number else ""

    def lines(self, items: Sequence[Item]) -> Iterator[str]:
        """In front of each item of a section the line on what is missing between it and the one before; "" = none is due."""
        origins = np.array([item.origin for item in items], np.int64)
        is_said = (origins >= 0) & (origins < self.view.size)
        is_said[is_said] = self.view.dialogue[origins[is_said]]
        places = self.view.column(self.view.history.exchanges.origin)[origins[is_said]]
        sessions = self.view.column(self.view.history.breadcrumbs.session)[places]
        numbers = np.searchsorted(self.missing, places[1:]) - np.searchsorted(self.missing, places[:-1], side="right")
        lines = chain([""], map(self._between, sessions[:-1].tolist(), sessions[1:].tolist(), numbers.tolist()))
        calls = dict(self.other_calls)
        for item, is_row in zip(items, is_said.tolist(), strict=True):
            between = next(lines) if is_row else ""
            number = calls.pop(item.origin, 0) if item.entry and item.entry.request else 0
            others = ITEM + self.phrases.counted("other_call", "other_calls", number) if number else ""
            yield "\n".join(filter(None, (between, others)))

    def _between(self, session: int, other: int, number: int) -> str:
        if session != other:
            return ITEM + self.phrases("other_session")
        is_told = number > 0 and session == self.view.session
        return ITEM + self.phrases.counted("message_between", "messages_between", number) if is_told else ""


def units_of(view: View) -> Ints:
    """Rows that head the units of the conversation, in place order. What only passes on another's call says nothing itself."""
    rows, exchanges = view.rows, view.history.exchanges
    rows = rows[view.dialogue[rows] & view.current[rows]]
    of_calls = rows[view.column(exchanges.call)[rows] >= 0].tolist()
    silent = [row for row in of_calls if row in exchanges.of_caller and not turn_of(view, row)]
    return view.heads_of(np.setdiff1d(rows, silent))


def missing_of(view: View, units: Ints, page_rows: Iterable[int]) -> Ints:
    """The units of which a page says nothing that says something of these rows."""
    return units[~np.isin(units, list(set(map(view.unit_of, page_rows))))]
