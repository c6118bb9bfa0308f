"""Erasure: a tombstone erases all that was made from its breadcrumb, in stream, store, caches, contexts and dead letters.

Tombstones of one workspace are erased together, in one walk of each stream. Every step may be repeated. Superseding erases
nothing: an older version is history, which `as of` an earlier position still needs.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from cachetools import LRUCache

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.erasure import Receipt
from builder.domain.errors import Unavailable
from builder.domain.recall import EVERY_SESSION
from builder.ports.archive import Archive
from builder.worker.log import StoredLog
from builder.worker.stream_erasers import ContextEraser, LetterEraser

log = logging.getLogger("builder.worker.erasure")

OF_NEW_SECRET = "secret"  # noqa: S105 - a reason
"""Reason of a tombstone that a secret leaves under whose id nothing readable stood."""
MAX_RECEIPTS = 4_000
"""Receipts in memory: every request about one tombstone gets the same."""
Receipts = dict[Place, Receipt]
"""By the place of their tombstones."""
Tombstones = tuple[Breadcrumb, ...]
"""Tombstones of one workspace."""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of one tombstone that the store had."""

    tombstone: Breadcrumb
    erased: tuple[Breadcrumb, ...]
    traces: tuple[Breadcrumb, ...]
    is_stray: bool
    """Whether what it names belongs to another session: it erases nothing of that."""
    cached: int = 0
    """Entries that were dropped from caches, under the first of some parts."""

    @property
    def name(self) -> str:
        """The id that it removes."""
        return self.tombstone.removes

    @property
    def summaries(self) -> tuple[Breadcrumb, ...]:
        """Traces of those made from it."""
        return tuple(trace for trace in self.traces if trace.id != self.name)

    @property
    def ids(self) -> frozenset[str]:
        """Its own, and those of its summaries."""
        return frozenset({self.name, *(summary.id for summary in self.summaries)})

    @property
    def late(self) -> tuple[Breadcrumb, ...]:
        """Traces of what its id had elsewhere, or behind the tombstone."""
        place, session = self.tombstone.place, self.tombstone.session
        own = (trace for trace in self.traces if trace.id == self.name)
        return tuple(trace for trace in own if trace.place > place or trace.session != session)


@dataclass(frozen=True, slots=True)
class Run:
    """One erasure for some tombstones of a workspace."""

    tombstones: Tombstones
    task: asyncio.Task[Receipts]

    @property
    def stands(self) -> bool:
        """Whether it goes on, or has ended well."""
        return not (self.task.done() and (self.task.cancelled() or self.task.exception()))

    def repeated_with(self, tombstone: Breadcrumb) -> Tombstones:
        """Which of its tombstones are erased when this one is delivered. After a bug it alone: another may be the cause."""
        is_bug = self.task.done() and not self.task.cancelled() and not isinstance(self.task.exception(), Unavailable | None)
        return (tombstone,) if is_bug else self.tombstones


class Erasure:
    """Erases for tombstones, one run for each tombstone. All methods raise `Unavailable`."""

    def __init__(self, log: StoredLog, archive: Archive, drop: Callable[[str, frozenset[str]], int]) -> None:
        """drop: removes ids of a workspace from the caches of this process; returns how many entries."""
        self.contexts = ContextEraser(log.store, archive)
        self.letters = LetterEraser(archive)
        self._log = log
        self.archive = archive
        self.drop = drop
        self.publishing = asyncio.Lock()
        """Held from the first tombstone of a request, or of a group that is read, to the run that erases all of them."""
        self._runs: LRUCache[Place, Run] = LRUCache(MAX_RECEIPTS)

    async def erase(self, tombstones: Tombstones) -> tuple[Receipt, ...]:
        """Erase what these remove before their positions; a receipt each. After an error, ask again."""
        runs = self.begin(tombstones)
        return tuple([(await asyncio.shield(runs[each.place].task))[each.place] for each in tombstones])

    def begin(self, tombstones: Tombstones) -> dict[Place, Run]:
        """The runs of these: one for all that have none."""
        runs = {each.place: run for each in tombstones if (run := self._runs.get(each.place)) and run.stands}
        new = tuple(each for each in tombstones if each.place not in runs)
        if new:
            run = Run(new, asyncio.create_task(self._erase(new)))
            for each in new:
                runs[each.place] = self._runs[each.place] = run
        return runs

    async def erase_in_order(self, tombstone: Breadcrumb, behind: Callable[[Breadcrumb], Awaitable[Tombstones]]) -> None:
        """`erase` for the worker, when everything earlier of the session is settled. behind: the tombstones that come after it.

        They are erased with it. A run that began before may have missed what came meanwhile: its last tombstone of the session
        erases for all of them a second time.
        """
        async with self.publishing:
            run = self._runs.get(tombstone.place)
            if run is None:
                if await self._is_bare(tombstone):
                    return
                self.begin((tombstone, *await behind(tombstone)))
        group = run.repeated_with(tombstone) if run else (tombstone,)
        await self.erase(group)
        own = [each for each in group if each.session == tombstone.session]
        if run and tombstone.place == max(each.place for each in own):
            await self.erase_again(own)

    async def erase_again(self, tombstones: Iterable[Breadcrumb]) -> None:
        """Erase what was remembered, derived or published since, here and in the streams; one walk of these a workspace."""
        for workspace, group in by_workspace(tombstones):
            whole = []
            for part in await self.erase_here(group):
                if not (part.is_stray or await self._is_bare(part.tombstone)):
                    await self._delete_later(part)
                    whole.append(part)
            if ids := _ids(whole):
                await self.letters.delete(workspace, ids)
                await self.contexts.replace(workspace, ids)

    async def erase_here(self, tombstones: Tombstones) -> tuple[Part, ...]:
        """Erase in this worker's store and caches.

        Catches up to the tombstones first, so that this worker stores no older copy afterwards.
        """
        store, workspace, last = self._log.store, tombstones[0].workspace, dict[str, Place]()
        for each in tombstones:
            session = EVERY_SESSION if each.session == NO_SESSION else each.session
            last[session] = max(each.place, last.get(session, each.place))
        for session, place in last.items():
            await self._log.catch_up(workspace, session, place)
        parts = []
        for each in tombstones:
            erased = await store.erase(workspace, each.session, each.removes, each.place)
            identity = (await store.identities(workspace, (each.removes,)))[each.removes]
            traces = await store.traces(workspace, each.removes)
            parts.append(Part(each, erased, traces, is_stray=bool(identity.stray(each))))
        # A secret under whose id nothing stood was stored without words.
        worded = [part for part in parts if not await self._is_bare(part.tombstone)]
        await store.vacuum(frozenset(trace.session for part in worded for trace in part.traces))
        cached = self.drop(workspace, _ids(parts))
        return (replace(parts[0], cached=cached), *parts[1:])

    async def _erase(self, tombstones: Tombstones) -> Receipts:
        parts, workspace = await self.erase_here(tombstones), tombstones[0].workspace
        messages, letters = await self._delete_messages(parts), Counter[str]()
        for part in parts:
            messages[part.tombstone.place] += await self._delete_later(part)
            if part.is_stray:
                letters += await self.letters.delete_of(workspace, part.tombstone.session, part.ids)
        whole = _ids(part for part in parts if not part.is_stray)
        letters += await self.letters.delete(workspace, whole)
        contexts = await self.contexts.replace(workspace, whole)
        receipts = {}
        for part in parts:
            place, of_part = part.tombstone.place, [sum(each.pop(name, 0) for name in part.ids) for each in (contexts, letters)]
            receipts[place] = _receipt(part, messages[place], *of_part)
        return receipts

    async def _is_bare(self, tombstone: Breadcrumb) -> bool:
        """Whether it closes the id of a secret under which nothing readable ever stood: there is nothing to search for."""
        workspace, name = tombstone.workspace, tombstone.removes
        if json.loads(tombstone.body).get("reason") != OF_NEW_SECRET:
            return False
        first = (await self._log.store.identities(workspace, (name,)))[name].first
        return all(first and trace.place == first.place for trace in await self._log.store.traces(workspace, name))

    async def _delete_messages(self, parts: tuple[Part, ...]) -> Counter[Place]:
        """How many were deleted for each tombstone; one walk of each session."""
        counts: Counter[Place] = Counter()
        by_session = attrgetter("tombstone.session")
        for session, group in groupby(sorted(parts, key=by_session), by_session):
            own = list(group)
            until, names = max(each.tombstone.place for each in own), frozenset(each.name for each in own)
            deletions = await self.archive.delete_breadcrumbs(own[0].tombstone.workspace, session, names, until)
            for each in own:
                counts[each.tombstone.place] += deletions.pop(each.name, 0)
        return counts

    async def _delete_later(self, part: Part) -> int:
        """Delete the messages of summaries, and of what its id had elsewhere or behind the tombstone; returns how many."""
        return sum(
            [
                await self.archive.delete_at(each.place, each.workspace, each.session, each.id)
                for each in (*part.summaries, *part.late)
            ]
        )


def by_workspace(tombstones: Iterable[Breadcrumb]) -> Iterator[tuple[str, Tombstones]]:
    """Them in groups, each in its order."""
    of = attrgetter("workspace")
    for workspace, group in groupby(sorted(tombstones, key=of), of):
        yield workspace, tuple(group)


def _ids(parts: Iterable[Part]) -> frozenset[str]:
    return frozenset[str]().union(*(part.ids for part in parts))


def _receipt(part: Part, messages: int, contexts: int, letters: int) -> Receipt:
    tombstone = part.tombstone
    receipt = Receipt(
        workspace=tombstone.workspace,
        session=tombstone.session,
        id=part.name,
        by=tombstone.speaker,
        at=tombstone.received_at,
        versions=sum(crumb.id == part.name for crumb in part.erased),
        summaries=tuple(crumb.id for crumb in part.erased if crumb.id != part.name),
        messages=messages,
        contexts=contexts,
        dead_letters=letters,
        cached=part.cached,
    )
    log.info(
        "forgot %s of %s: %d versions, %d summaries, %d messages, %d contexts, %d dead letters",
        part.name, receipt.workspace, receipt.versions, len(receipt.summaries), messages, contexts, letters,
    )  # fmt: skip
    return receipt
