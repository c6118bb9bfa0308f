"""Erases from what was published: contexts, which become stubs, and dead letters. Nothing is read twice for the same ids."""

import asyncio
from collections import Counter

from builder.domain.breadcrumb import NO_SESSION
from builder.ports.archive import Archive, Sighting
from builder.ports.store import PendingStubs

MAX_IDS = 10_000
"""For which it is known what a stream was compared with."""


class Look:
    """Up to which sequence a stream was compared with which ids of a workspace: what comes later is all that is left to read."""

    def __init__(self) -> None:
        self.ids: frozenset[str] = frozenset()
        self.reached = 0

    def begin(self, ids: frozenset[str]) -> bool:
        """Before a read for these ids: whether everything must be read once more."""
        if ids <= self.ids:
            return False
        both = self.ids | ids
        self.ids, self.reached = both if len(both) <= MAX_IDS else ids, 0
        return True


class ContextEraser:
    """Replaces published contexts by stubs. A process has one: two would take each other's pending stubs for ended ones."""

    def __init__(self, stubs: PendingStubs, archive: Archive) -> None:
        self._stubs = stubs
        self._archive = archive
        self._lock = asyncio.Lock()
        self._looks: dict[str, tuple[Look, dict[int, Sighting]]] = {}
        """The look of each workspace, with the contexts that were seen and are not replaced yet, by sequence."""

    async def count(self, workspace: str, ids: frozenset[str]) -> Counter[str]:
        """How many contexts `replace` would replace, each under the first id that it names. Raises `Unavailable`."""
        async with self._lock:
            return Counter(min(each.ids & ids) for each in await self._seen(workspace, ids))

    async def replace(self, workspace: str, ids: frozenset[str]) -> Counter[str]:
        """Replace the contexts that name one of these breadcrumbs; returns how many, each under the first id that it names.

        Raises `Unavailable`; may be repeated. Each stub is noted first: a crash between a removal and its stub would let a second
        context through.
        """
        counts: Counter[str] = Counter()
        async with self._lock:
            for subject in await self._stubs.pending_stubs():
                await self._archive.replace_context(0, subject)
                await self._stubs.remove_stub(subject)
            for context in await self._seen(workspace, ids):
                await self._stubs.add_stub(context.subject)
                self._note(workspace, context.sequence, await self._archive.replace_context(context.sequence, context.subject))
                await self._stubs.remove_stub(context.subject)
                counts[min(context.ids & ids)] += 1
        return counts

    def _note(self, workspace: str, sequence: int, stub: int) -> None:
        """A context was replaced. A stub right behind what was read is not read."""
        look, seen = self._looks[workspace]
        seen.pop(sequence)
        look.reached += stub == look.reached + 1

    async def _seen(self, workspace: str, ids: frozenset[str]) -> list[Sighting]:
        look, seen = self._looks.setdefault(workspace, (Look(), {}))
        if look.begin(ids):
            seen.clear()
        contexts, look.reached = await self._archive.contexts_with(workspace, look.ids, look.reached)
        seen |= {each.sequence: each for each in contexts}
        return [each for each in seen.values() if not each.ids.isdisjoint(ids)]


class LetterEraser:
    """Deletes dead letters, and the messages that these name."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._lock = asyncio.Lock()
        self._looks: dict[str, Look] = {}

    async def delete(self, workspace: str, ids: frozenset[str]) -> Counter[str]:
        """Those about these breadcrumbs, in any session; how many of each. Raises `Unavailable`; may be repeated."""
        async with self._lock:
            look = self._looks.setdefault(workspace, Look())
            look.begin(ids)
            counts, look.reached = await self._archive.delete_letters(workspace, NO_SESSION, look.ids, look.reached)
        return Counter({name: counts[name] for name in ids & counts.keys()})

    async def delete_of(self, workspace: str, session: str, ids: frozenset[str] | None = None) -> Counter[str]:
        """Those of a session alone. ids: None = all of them, under `EVERY_ID`."""
        counts, _ = await self._archive.delete_letters(workspace, session, ids)
        return counts
