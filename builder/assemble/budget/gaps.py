"""What is missing between the lines of a page: units of the conversation of which it shows nothing, and where they were said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from builder.assemble.items.draft import Item
from builder.assemble.items.list_items import ITEM
from builder.domain.phrases import Phrases
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
        last = -1
        for item in items:
            between = self._between(last, item.origin) if last >= 0 and self._is_said(item.origin) else ""
            calls = self.other_calls.get(item.origin, 0) if item.entry and item.entry.request and item.origin != last else 0
            others = ITEM + self.phrases.counted("other_call", "other_calls", calls) if calls else ""
            yield "\n".join(filter(None, (between, others)))
            last = item.origin if self._is_said(item.origin) else last

    def _is_said(self, row: int) -> bool:
        return 0 <= row < self.view.size and self.view.in_conversation(row)

    def _between(self, row: int, other: int) -> str:
        sessions = self.view.column(self.view.history.breadcrumbs.session)
        if sessions[row] != sessions[other]:
            return ITEM + self.phrases("other_session")
        if sessions[row] != self.view.session:
            return ""
        number = int(np.searchsorted(self.missing, other) - np.searchsorted(self.missing, row, side="right"))
        return ITEM + self.phrases.counted("message_between", "messages_between", number) if number > 0 else ""


def gaps_of(view: View, phrases: Phrases, page_rows: Iterable[int], other_calls: Mapping[int, int]) -> Gaps:
    """The gaps of a page that says something of these rows."""
    rows = view.rows
    heads = view.heads_of(rows[view.dialogue[rows] & view.current[rows]])
    shown = set(map(view.unit_of, page_rows))
    return Gaps(view=view, phrases=phrases, missing=heads[~np.isin(heads, list(shown))], other_calls=other_calls)
