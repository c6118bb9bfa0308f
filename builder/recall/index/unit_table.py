"""Which breadcrumbs are one unit: a message, or an exchange with all that shares its calls."""

import numpy as np

from builder.domain.breadcrumb import Breadcrumb
from builder.recall.index.arrays import GrowingArray
from builder.recall.index.breadcrumb_table import CONVERSATION


class UnitTable:
    """A unit is named by the row that heads it. Two units become one by a row that shares calls with both."""

    def __init__(self) -> None:
        self.head = GrowingArray(np.int64)
        """Row → the head of its unit as the row came."""
        self.count = GrowingArray(np.int64)
        """Row → units of its session's conversation up to it."""
        self.members: dict[int, list[int]] = {}
        """Head → the rows that came to it."""
        self.merged: dict[int, tuple[int, int]] = {}
        """Head of a unit that became part of another → (head of the other, row by which it did)."""
        self.absorbed: dict[int, list[int]] = {}
        """Head → heads of the units that became part of it."""
        self._head_by_call: dict[tuple[int, str], int] = {}
        self._counts: dict[int, int] = {}
        self._in_conversation: list[bool] = []

    def append(self, row: int, session: int, crumb: Breadcrumb, edited: int | None) -> None:
        """Append one row. edited: row of the version before it in its session; an edit opens no unit."""
        self._in_conversation.append(crumb.role in CONVERSATION)
        calls = [(session, call) for call in crumb.calls]
        heads = {self._root(self._head_by_call[call]) for call in calls if call in self._head_by_call}
        heads |= set() if edited is None else {self._root(int(self.head.head(row)[edited]))}
        head, *others = sorted(heads) or [row]
        count = self._counts.get(session, 0) + (head == row and self._in_conversation[row])
        for other in others:
            self.merged[other] = (head, row)
            self.absorbed.setdefault(head, []).extend((other, *self.absorbed.get(other, ())))
            count -= self._in_conversation[other]
        self._counts[session] = count
        self._head_by_call.update(dict.fromkeys(calls, head))
        self.head.append(head)
        self.count.append(count)
        self.members.setdefault(head, []).append(row)

    def _root(self, head: int) -> int:
        while head in self.merged:
            head = self.merged[head][0]
        return head
