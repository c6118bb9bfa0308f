"""Summaries are made beside the worker, off the hot path, and published: they come back through the stream like everything.

Two workers that summarise at once, or one that died half way, make a chain's next summary under the same id when they have seen
the same summaries before it and the same versions of what it covers: the first to be remembered stands, whatever its lines are.
Otherwise the ids differ, and the first in place order continues the chain.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from cachetools import LRUCache
from typing_extensions import override

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Place
from builder.domain.delivery import DeliveryOutcome
from builder.domain.errors import Rejected, Unavailable
from builder.domain.profile import Profile
from builder.domain.summary import CompactionResult, KeptLine
from builder.extras.summaries.chain import (
    Chain,
    WaitingUnit,
    chain_of,
    is_due,
    sources_of,
    units_to_compact,
    units_until_due,
    waiting_units,
)
from builder.extras.summaries.writer import Batch, Draft, Session, SummaryWriter
from builder.recall.index.view import View
from builder.recall.recall import Recaller
from builder.recall.summaries.lines import shown_lines, tokens_of, verbatim_line
from builder.recall.summaries.recipes import Recipe, recipe_of
from builder.wire.subjects import parse_breadcrumb_subject
from builder.worker.jobs import PACE, BackgroundJob, UnexpectedError, give_way, guard
from builder.worker.log import StoredLog

log = logging.getLogger("builder.extras.summaries.scheduler")

MAX_SESSIONS = 10_000
"""Sessions in memory; a dropped one is checked at its next message."""
MAX_UNITS = 500

STORED_OUTCOMES = frozenset({"remembered", "published", "expired"})
"""Outcomes after which the store holds the breadcrumb."""


class SummaryScheduler(BackgroundJob):
    """Notes which sessions grow; summarises the oldest units of those that are too long."""

    every = 0.0

    def __init__(
        self,
        log: StoredLog,
        recaller: Recaller,
        writer: SummaryWriter,
        profiles: Callable[[str], Iterable[Profile]],
        max_units: int = MAX_UNITS,
    ) -> None:
        """profiles: workspace → the present ones, of its records as far as this worker has read them."""
        self._log = log
        self._recaller = recaller
        self._writer = writer
        self._profiles = profiles
        self._max_units = max_units
        self._waits: LRUCache[Session, int] = LRUCache(MAX_SESSIONS)
        self._published: LRUCache[Session, Place] = LRUCache(MAX_SESSIONS)
        self._rejected: LRUCache[Session, None] = LRUCache(MAX_SESSIONS)
        self._due: dict[Session, Place] = {}
        self._turn = asyncio.Lock()
        self._revision = 0
        """Revision of the session that is summarised, as its view was read."""
        self._has_due = asyncio.Event()

    @override
    def reset(self) -> None:
        """Check every session at its next message."""
        self._waits.clear()
        self._rejected.clear()

    @override
    def delivered(self, outcome: DeliveryOutcome) -> None:
        if outcome.outcome in STORED_OUTCOMES:
            address = parse_breadcrumb_subject(outcome.subject)
            self.note(address.workspace, address.session, outcome.place, outcome.replay)

    def note(self, workspace: str, session: str, place: Place, replay: bool = False) -> None:
        """Something was remembered there. Costs nothing until the session may have grown too long.

        replay: an import counts, but waits for the session's next message.
        """
        key = (workspace, session)
        if session == NO_SESSION:
            return
        messages = self._waits.get(key, 1) - 1
        self._waits[key] = messages
        if messages <= 0 and not replay and self._recipes(workspace):
            self._note_due(key, place)

    def _note_due(self, key: Session, place: Place) -> None:
        self._due[key] = max(place, self._due.get(key, ORIGIN))
        self._has_due.set()

    @override
    async def run_once(self) -> None:
        """Wait for a session that may have grown too long, and look at it. Raises `Unavailable`; the session stays due."""
        await self._has_due.wait()
        await self._give_way()
        key = next(iter(self._due))
        place = self._due.pop(key)
        if not self._due:
            self._has_due.clear()
        try:
            await guard(self.look(*key, place), log, f"summarising session {key[1]} of {key[0]}")
        except UnexpectedError:
            return  # the session is looked at again at its next message
        except Unavailable:
            self._note_due(key, place)
            raise
        except Rejected as error:
            if key not in self._rejected:
                log.warning("session %s of %s is not summarised: %s", key[1], key[0], error)
            self._rejected[key] = None
            self._waits[key] = self._max_units  # it is too large, and looked at again after many messages

    async def look(self, workspace: str, session: str, place: Place) -> None:
        """Summarise what has piled up by this place. Raises `Rejected` for a summary that is too large, and `Unavailable`."""
        key = (workspace, session)
        async with self._turn:
            view = await self._view(key, place)
            recipes = self._recipes(workspace)
            waits = [await self._advance(view, key, recipe) for recipe in recipes]
        if waits and recipes == self._recipes(workspace):  # other profiles may have come meanwhile
            self._waits[key] = min(waits)

    async def compact(self, workspace: str, session: str, profile: Profile, keep_user: bool = True) -> CompactionResult:
        """Summarise everything but the kept tail at once. keep_user: what people said stays word for word.

        The kept tail begins with something that a person said. Nothing is published that saves nothing. Raises `Rejected`
        for a profile without summaries or when the words to be kept are too many for a breadcrumb, and `Unavailable`.
        """
        recipe = recipe_of(profile)
        if recipe is None:
            raise Rejected(f"the profile {profile.consumer!r} has no summaries of a session; set `summaries` in it")
        async with self._turn:
            return await self._compact((workspace, session), recipe, keep_user)

    async def _compact(self, key: Session, recipe: Recipe, keep_user: bool) -> CompactionResult:
        view = await self._view(key, await self._log.last())
        chain = chain_of(view, recipe)
        units = units_to_compact(view, waiting_units(view, recipe, chain.last), recipe.settings.keep)
        words = self._words(view, units)
        before, old, drafts = self._tokens(view, chain, words), chain, list[Draft]()
        for start in range(0, len(units), self._max_units):
            batch = Batch(
                session=key, recipe=recipe, units=units[start : start + self._max_units], keep_user=keep_user, at_once=True
            )
            drafts.append(await self._writer.draft(view, chain, batch))
            chain = drafts[-1].chain
        after = self._tokens(view, chain)
        if not units or after >= before:
            reason = (
                f"the summary would have {after:,} tokens and save nothing of the {before:,} of what it stands for"
                if units
                else "the session has no units beyond those that are kept"
            )
            return CompactionResult(
                units=0, covered=0, tokens_before=before, tokens_after=before, summary=old.previous, reason=reason
            )
        for draft in drafts:
            await self._send(key, draft)
        return CompactionResult(
            units=len(units),
            covered=len(sources_of(view, units)),
            tokens_before=before,
            tokens_after=after,
            summary=chain.previous,
        )

    def _tokens(self, view: View, chain: Chain, others: tuple[KeptLine, ...] = ()) -> int:
        """Tokens of a chain as the page shows it, and of other lines below it."""
        return tokens_of((*shown_lines(view, chain.lasting, chain.free), *others), self._writer.words.count)

    def _words(self, view: View, units: tuple[WaitingUnit, ...]) -> tuple[KeptLine, ...]:
        rows = (row for _, members in units for row in members)
        return tuple(verbatim_line(view, row) for row in sorted(rows) if view.breadcrumb(row).text.strip())

    async def _view(self, key: Session, place: Place) -> View:
        """As of this place or of the last summary that was published here, whichever is later: none is made twice."""
        end = max(place, self._published.get(key, ORIGIN))
        await self._log.catch_up_session(*key, end)
        self._revision = await self._revision_of(key)
        return await self._recaller.session_view(*key, end)

    async def _send(self, key: Session, draft: Draft) -> None:
        """Publish a draft, unless something of its session was erased since it was read. Raises `Unavailable`."""
        if await self._revision_of(key) != self._revision:
            raise Unavailable(f"something of session {key[1]!r} was erased while it was summarised; it is summarised again")
        self._published[key] = await self._writer.send(draft)

    async def _revision_of(self, key: Session) -> int:
        workspace, session = key
        return (await self._log.store.revisions(workspace)).get(session, 0)

    async def _advance(self, view: View, key: Session, recipe: Recipe) -> int:
        """One summary a batch until no more is due; returns how many messages may come before the next look."""
        chain = chain_of(view, recipe)
        units = waiting_units(view, recipe, chain.last)
        while is_due(view, recipe.settings, units):
            await self._give_way()
            number = min(recipe.settings.batch, len(units) - recipe.settings.keep)
            draft = await self._writer.draft(view, chain, Batch(session=key, recipe=recipe, units=units[:number]))
            await self._send(key, draft)
            chain, units = draft.chain, units[number:]
        return units_until_due(recipe.settings, len(units))

    def _recipes(self, workspace: str) -> tuple[Recipe, ...]:
        """Those of all profiles, each once, by name."""
        recipes = map(recipe_of, self._profiles(workspace))
        by_name = {recipe.name: recipe for recipe in recipes if recipe and self._writer.writes(recipe)}
        return tuple(by_name[name] for name in sorted(by_name))

    async def _give_way(self) -> None:
        await give_way(lambda: self._log.busy, PACE)
