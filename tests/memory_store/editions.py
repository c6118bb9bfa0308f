"""Editions in a list."""

from typing_extensions import override

from builder.domain.edition import Edition
from builder.ports.store import MAX_EDITIONS, Editions


class MemoryEditions(Editions):
    """The newest last."""

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
        return tuple(edition for edition in reversed(self._editions.values()) if edition.templates == templates)
