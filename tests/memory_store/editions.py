"""Editions in a list, and what edits are tried on."""

from typing_extensions import override

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.recall import StoredBreadcrumb
from builder.domain.text import Edition
from builder.ports.store import MAX_EDITIONS, Editions


class MemoryEditions(Editions):
    """The newest last."""

    _rows: dict[tuple[str, str, int], StoredBreadcrumb]

    def __init__(self) -> None:
        super().__init__()
        self._editions: dict[str, Edition] = {}

    @override
    async def add_edition(self, edition: Edition) -> None:
        self._editions.pop(edition.id, None)
        self._editions[edition.id] = edition
        for name in list(self._editions)[:-MAX_EDITIONS]:
            del self._editions[name]

    @override
    async def editions(self, templates: str) -> tuple[Edition, ...]:
        return tuple(edition for edition in reversed(self._editions.values()) if templates in ("", edition.templates))

    @override
    async def newest(self, schema: str, limit: int) -> tuple[Breadcrumb, ...]:
        crumbs = (row.breadcrumb for row in self._rows.values() if row.breadcrumb.schema == schema)
        return tuple(sorted(crumbs, key=lambda crumb: crumb.place, reverse=True)[:limit])
