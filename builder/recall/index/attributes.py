"""What decides whether a consumer sees a breadcrumb, one row each: who it belongs to, when it ends, how long it is."""

import numpy as np
from numpy.typing import NDArray

from builder.domain.selector import Selector
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.index.arrays import GrowingArray

CONVERSATION = frozenset({"user", "assistant", "tool"})


class Attributes:
    """Grows with its history. expires: seconds since 1970, inf for what never ends. tokens: of the text.

    ending: how many end some time. tasks: name → code.
    """

    def __init__(self) -> None:
        self.by_tool = GrowingArray(np.bool_)
        self.spoken = GrowingArray(np.bool_)
        self.tokens = GrowingArray(np.float32)
        self.task = GrowingArray(np.int64)
        self.expires = GrowingArray(np.float64)
        self.ending = 0
        self.tasks: dict[str, int] = {}
        self._selected: dict[Selector, GrowingArray[np.bool_]] = {}

    def append(self, row: StoredBreadcrumb) -> None:
        """Mark one more row."""
        crumb = row.breadcrumb
        self.by_tool.append(crumb.role == "tool")
        self.spoken.append(crumb.role in CONVERSATION)
        self.tokens.append(sum(passage.tokens for passage in row.passages))
        self.task.append(self.tasks.setdefault(crumb.task, len(self.tasks)))
        self.expires.append(crumb.expires_at.timestamp() if crumb.expires_at else np.inf)
        self.ending += crumb.expires_at is not None

    def selected(self, selector: Selector, rows: list[StoredBreadcrumb], size: int) -> NDArray[np.bool_]:
        """Which of the first `size` rows a selector means, shape (size,); each row is looked at once for each selector."""
        known = self._selected.setdefault(selector, GrowingArray(np.bool_))
        for row in range(len(known), size):
            known.append(selector.matches(rows[row].breadcrumb))
        return known.head(size)
