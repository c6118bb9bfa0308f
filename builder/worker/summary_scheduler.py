"""Summaries are made beside the worker, off the hot path, and published: they come back through the stream like everything.

Two workers that summarise at once, or one that died half way, make a chain's next summary under the same id when they have seen
the same summaries before it and the same versions of what it covers: the first to be remembered stands, whatever its lines are.
Otherwise the ids differ, and the first in place order continues the chain.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Place
from builder.domain.errors import Rejected, Unavailable
from builder.domain.profile import Profile
from builder.domain.summary import CompactionResult, Line
from builder.recall.index.view import View
from builder.recall.summaries.lines import shown_lines, tokens_of, verbatim_line
from builder.recall.summaries.plan import (
    Chain,
    Recipe,
    WaitingUnit,
    chain_of,
    is_due,
    recipe_of,
    sources_of,
    units_to_compact,
    units_until_due,
    waiting_units,
)
from builder.worker.resilience import PAUSES, Backoff, Pauses, UnexpectedError, guard
from builder.worker.summary_writer import Batch, Draft, SummaryWriter

log = logging.getLogger("builder.worker.summary_scheduler")

POLL_SECONDS, MAX_IDLE_SECONDS = 0.01, 1.0
"""Between two looks whether builds go on, and after which it summarises beside them."""
MAX_SESSIONS = 10_000
"""Sessions in memory; a dropped one is checked at its next message."""
MAX_UNITS = 500
"""Units that one summary newly covers."""

Session = tuple[str, str]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where sessions are read. All raise `Unavailable`."""

    view: Callable[[str, str, Place], Awaitable[View]]
    """Workspace, session, place → the session up to and including the place."""
    walk: Callable[[str, str, Place], Awaitable[object]]
    """Remembers everything of a session before a place."""
    last: Callable[[], Awaitable[Place]]
    """The newest place of the stream."""

    async def as_of(self, workspace: str, session: str, place: Place) -> View:
        """The session up to and including a place, once everything up to there is remembered."""
        for each in (NO_SESSION, session):
            await self.walk(workspace, each, place.next)
        return await self.view(workspace, session, place)


def no_profiles(_workspace: str) -> tuple[Profile, ...]:
    """Where records make none."""
    return ()


class SummaryScheduler:
    """Notes which sessions grow; summarises the oldest units of those that are too long."""

    def __init__(
        self,
        sources: Sources,
        writer: SummaryWriter,
        profiles: tuple[Profile, ...],
        busy: Callable[[], bool],
        pauses: Pauses = PAUSES,
        max_units: int = MAX_UNITS,
        of_records: Callable[[str], tuple[Profile, ...]] = no_profiles,
    ) -> None:
        """profiles: of files. busy: whether builds go on. pauses: after failures.

        of_records: workspace → the profiles that its records make, as far as this worker has read them.
        """
        self._of_records = of_records
        self._recipes = recipes_of(profiles)
        self._sources = sources
        self._writer = writer
        self._busy = busy
        self._backoff = Backoff(pauses)
        self._max_units = max_units
        self._waits: OrderedDict[Session, int] = OrderedDict()
        self._published: OrderedDict[Session, Place] = OrderedDict()
        self._rejected: OrderedDict[Session, None] = OrderedDict()
        self._due: OrderedDict[Session, Place] = OrderedDict()
        self._turn = asyncio.Lock()
        self._has_due = asyncio.Event()

    def take(self, profiles: tuple[Profile, ...]) -> None:
        """Make the summaries of these profiles from now on; every session is checked at its next message."""
        self._recipes = recipes_of(profiles)
        self._waits.clear()
        self._rejected.clear()

    def note(self, workspace: str, session: str, place: Place, replay: bool = False) -> None:
        """Something was remembered there. Costs nothing until the session may have grown too long.

        replay: it came by an import, which counts, but waits for the session's next message.
        """
        key = (workspace, session)
        if session == NO_SESSION or not (self._recipes or self._of_records(workspace)):
            return
        messages = self._waits.get(key, 1) - 1
        _note(self._waits, key, messages)
        if messages <= 0 and not replay:
            self._due[key] = max(place, self._due.get(key, ORIGIN))
            self._has_due.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._has_due.wait()
            await self._idle()
            key, place = self._due.popitem(last=False)
            if not self._due:
                self._has_due.clear()
            try:
                await guard(self.look(*key, place), log, f"summarising session {key[1]} of {key[0]}")
                self._backoff.note_success()
            except Unavailable as error:
                log.warning("session %s of %s is not summarised yet: %s", key[1], key[0], error)
                self._due[key] = max(place, self._due.get(key, ORIGIN))
                self._has_due.set()
                await asyncio.sleep(self._backoff.note_failure())
            except Rejected as error:
                self._skip(key, error)
            except UnexpectedError:
                log.warning("session %s of %s is skipped", key[1], key[0])

    def _recipes_in(self, workspace: str) -> tuple[Recipe, ...]:
        """Of the profiles of files, and of those that records of the workspace make."""
        own = recipes_of(self._of_records(workspace))
        return (*self._recipes, *(recipe for recipe in own if all(recipe.name != other.name for other in self._recipes)))

    def _skip(self, key: Session, error: Rejected) -> None:
        """Look at a session whose summary is too large only after many messages, and say so once."""
        if key not in self._rejected:
            log.warning("session %s of %s is not summarised: %s", key[1], key[0], error)
        _note(self._rejected, key, None)
        _note(self._waits, key, self._max_units)

    async def look(self, workspace: str, session: str, place: Place) -> None:
        """Summarise what has piled up by this place. Raises `Rejected` for a summary that is too large, and `Unavailable`."""
        async with self._turn:
            view = await self._view(workspace, session, place)
            recipes = self._recipes_in(workspace)
            waits = [await self._advance(view, workspace, session, recipe) for recipe in recipes]
        if waits and recipes == self._recipes_in(workspace):  # other profiles may have come meanwhile
            _note(self._waits, (workspace, session), min(waits))

    async def compact(self, workspace: str, session: str, profile: Profile, keep_user: bool = True) -> CompactionResult:
        """Summarise everything but the kept tail at once. keep_user: what people said stays word for word.

        The kept tail begins with something that a person said. Nothing is published that saves nothing. Raises `Rejected`
        for a profile without summaries or when the words to be kept are too many for a breadcrumb, and `Unavailable`.
        """
        recipe = recipe_of(profile)
        if recipe is None:
            raise Rejected(f"the profile {profile.consumer!r} has no summaries of a session; set `summaries` in it")
        async with self._turn:
            return await self._compact(workspace, session, recipe, keep_user)

    async def _compact(self, workspace: str, session: str, recipe: Recipe, keep_user: bool) -> CompactionResult:
        view = await self._view(workspace, session, await self._sources.last())
        chain = chain_of(view, recipe)
        units = units_to_compact(view, waiting_units(view, recipe, chain.last), recipe.settings.keep)
        words = self._words(view, units)
        before, old, drafts = self._tokens(view, chain, words), chain, list[Draft]()
        for start in range(0, len(units), self._max_units):
            batch = Batch(
                workspace=workspace,
                session=session,
                recipe=recipe,
                units=units[start : start + self._max_units],
                keep_user=keep_user,
                at_once=True,
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
            _note(self._published, (workspace, session), await self._writer.send(draft))
        return CompactionResult(
            units=len(units),
            covered=len(sources_of(view, units)),
            tokens_before=before,
            tokens_after=after,
            summary=chain.previous,
        )

    def _tokens(self, view: View, chain: Chain, others: tuple[Line, ...] = ()) -> int:
        """Tokens of a chain as the page shows it, and of other lines below it."""
        return tokens_of((*shown_lines(view, chain.lasting, chain.free), *others), self._writer.words.count)

    def _words(self, view: View, units: tuple[WaitingUnit, ...]) -> tuple[Line, ...]:
        """All that these units say, a line each."""
        rows = (row for _, members in units for row in members)
        return tuple(verbatim_line(view, row) for row in sorted(rows) if view.breadcrumb(row).text.strip())

    async def _view(self, workspace: str, session: str, place: Place) -> View:
        """As of this place or of the last summary that was published here, whichever is later: none is made twice."""
        return await self._sources.as_of(workspace, session, max(place, self._published.get((workspace, session), ORIGIN)))

    async def _advance(self, view: View, workspace: str, session: str, recipe: Recipe) -> int:
        """One summary a batch until no more is due; returns how many messages may come before the next look."""
        chain = chain_of(view, recipe)
        units = waiting_units(view, recipe, chain.last)
        while is_due(view, recipe.settings, units):
            await self._idle()
            number = min(recipe.settings.batch, len(units) - recipe.settings.keep)
            batch = Batch(workspace=workspace, session=session, recipe=recipe, units=units[:number])
            draft = await self._writer.draft(view, chain, batch)
            _note(self._published, (workspace, session), await self._writer.send(draft))
            chain, units = draft.chain, units[number:]
        return units_until_due(recipe.settings, len(units))

    async def _idle(self) -> None:
        """Let builds go first, for a while."""
        for _ in range(int(MAX_IDLE_SECONDS / POLL_SECONDS)):
            if not self._busy():
                break
            await asyncio.sleep(POLL_SECONDS)
        await asyncio.sleep(0)


def _note(values: OrderedDict[Session, Value], key: Session, value: Value) -> None:
    """Set a value; the sessions unused for longest are dropped."""
    values[key] = value
    values.move_to_end(key)
    if len(values) > MAX_SESSIONS:
        values.popitem(last=False)


def recipes_of(profiles: tuple[Profile, ...]) -> tuple[Recipe, ...]:
    """The recipes of all profiles with summaries, each once, by name."""
    by_name = {recipe.name: recipe for profile in profiles if (recipe := recipe_of(profile))}
    return tuple(by_name[name] for name in sorted(by_name))
