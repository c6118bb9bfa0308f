"""Purging: what has expired is erased from stream, contexts, caches and store, by the command or on a schedule."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from builder.domain.erasure import Ended
from builder.worker.erasure import Erasure
from builder.worker.jobs import PACE, give_way
from builder.worker.log import StoredLog

BATCH_ROWS = 64
"""Rows that leave the store in one transaction."""

Kind = tuple[str, str]
NOTHING: Mapping[Kind, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeRow:
    """Expired breadcrumbs of one schema in a workspace."""

    workspace: str
    schema: str
    breadcrumbs: int
    bytes: int
    messages: int = 0
    contexts: int = 0


class Purging:
    """Erases what has expired. A second run erases nothing more; an end in the middle is made good by the next run."""

    def __init__(self, log: StoredLog, erasure: Erasure) -> None:
        self.log = log
        self._erasure = erasure

    async def run(self, moment: datetime) -> tuple[PurgeRow, ...]:
        """Erase what has expired at the moment; a row a workspace and schema. Raises `Unavailable`.

        The store goes last: what an end in the middle leaves there is found again.
        """
        over, archive = await self.log.store.ended(moment), self._erasure.archive
        messages: Counter[Kind] = Counter()
        contexts: Counter[Kind] = Counter()
        for batch in _batches(over):
            await give_way(lambda: self.log.busy, PACE)
            for item in batch:
                crumb = item.breadcrumb
                messages[_kind(item)] += await archive.delete_at(crumb.place, crumb.workspace, crumb.session, crumb.id)
        for kind in sorted(set(map(_kind, over))):
            ids = frozenset(item.breadcrumb.id for item in over if _kind(item) == kind)
            contexts[kind] += (await self._erasure.contexts.replace(kind[0], ids)).total()
        for batch in _batches(over):
            await give_way(lambda: self.log.busy, PACE)
            await self.log.store.purge(batch)
        await self.log.store.vacuum(frozenset(item.breadcrumb.session for item in over))
        for workspace in sorted({item.breadcrumb.workspace for item in over}):
            ids = frozenset(item.breadcrumb.id for item in over if item.breadcrumb.workspace == workspace)
            self._erasure.drop(workspace, ids)
        return purge_rows(over, messages, contexts)


def purge_rows(
    over: tuple[Ended, ...], messages: Mapping[Kind, int] = NOTHING, contexts: Mapping[Kind, int] = NOTHING
) -> tuple[PurgeRow, ...]:
    """A row a workspace and schema, sorted. messages, contexts: how many were erased."""
    sizes: Counter[Kind] = Counter()
    for item in over:
        sizes[_kind(item)] += item.size
    return tuple(
        PurgeRow(
            workspace=kind[0],
            schema=kind[1],
            breadcrumbs=breadcrumbs,
            bytes=sizes[kind],
            messages=messages.get(kind, 0),
            contexts=contexts.get(kind, 0),
        )
        for kind, breadcrumbs in sorted(Counter(map(_kind, over)).items())
    )


def _batches(over: tuple[Ended, ...]) -> list[tuple[Ended, ...]]:
    return [over[start : start + BATCH_ROWS] for start in range(0, len(over), BATCH_ROWS)]


def _kind(item: Ended) -> Kind:
    return item.breadcrumb.workspace, item.breadcrumb.schema
