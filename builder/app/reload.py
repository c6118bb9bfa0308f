"""Reads edited profiles and templates; broken ones never replace good ones."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from cachetools import FIFOCache

from builder.adapters.files import faulty
from builder.adapters.templates.page_rendering import Listener, silence
from builder.adapters.templates.trial import hides_words
from builder.app.components import PARTS, Components, Parts
from builder.app.config import ConfigSnapshot, FileStamps, edition_of, file_stamps, in_daemon_thread, in_time
from builder.domain.errors import Misconfigured, Unavailable
from builder.ports.store import Editions
from builder.service import ContextBuilder
from builder.worker.jobs import UnexpectedError, guard

log = logging.getLogger(__name__)

MAX_EDITIONS = 4
"""Kept in memory beside those in force."""
MESSAGES = 5
"""An edited hint is tried on so many of the newest of a schema."""


async def try_on_messages(store: Editions, before: ConfigSnapshot, after: ConfigSnapshot) -> None:
    """Raises `FaultyFiles` for a hint that hides words of a newest message which the former hint showed."""
    try:
        for schema, former, hint in sorted(edited_hints(before, after)):
            for crumb in await store.newest(schema, MESSAGES):
                if await asyncio.to_thread(hides_words, hint, before.templates, former, after.templates, crumb):
                    problem = f"it shows nothing of the words of {schema} {crumb.id!r}, as the hint before it does"
                    raise faulty(f"hints/{hint}.md.j2", f"{problem}; look for a misspelt field")
    except Unavailable as error:
        log.warning("edited hints are not tried on the newest messages: %s", error)


def edited_hints(before: ConfigSnapshot, after: ConfigSnapshot) -> frozenset[tuple[str, str, str]]:
    """Schema, former and new hint of all that differ, also by a consumer's choice."""
    old, new = before.templates, after.templates
    old_hints, new_hints = old.sources["hints"], new.sources["hints"]
    own = {profile.consumer: profile.hints for profile in before.profiles}
    choices = {
        (
            schema,
            old.hint_for(schema, own.get(each.consumer, {}).get(schema, "")),
            new.hint_for(schema, each.hints.get(schema, "")),
        )
        for each in after.profiles
        for schema in {*old_hints, *new_hints, *each.hints, *each.retrieval.schemas, *own.get(each.consumer, {})}
    }
    return frozenset(choice for choice in choices if old_hints[choice[1]] != new_hints[choice[2]])


class Reloader:
    """Components with the newest valid profiles and templates. A build uses one `core` throughout."""

    def __init__(
        self,
        folders: tuple[Path, ...],
        core: Components,
        refused: Callable[[], None] = lambda: None,
        failed: Listener = silence,
        parts: Parts = PARTS,
    ) -> None:
        """refused: called for each invalid edit. failed: as in `read_config`."""
        self.core = core
        self.problem = core.config.problem
        """Why the present files are not used; empty = they are."""
        self.earlier: FIFOCache[str, Components] = FIFOCache(MAX_EDITIONS)
        """With earlier editions, for replays; they keep texts that they rendered."""
        self._folders = folders
        self._refused = refused
        self._failed = failed
        self._parts = parts
        self._latest = self._checked = core.config.stamps
        self._reading: asyncio.Future[tuple[FileStamps, ConfigSnapshot | None]] | None = None

    def builder(self) -> ContextBuilder:
        """The builder of the present components."""
        return self.core.builder

    def drop(self, workspace: str, ids: frozenset[str]) -> int:
        """`Components.drop`; the earlier editions go, too."""
        self.earlier.clear()
        return self.core.drop(workspace, ids)

    async def keep_edition(self, config: ConfigSnapshot) -> None:
        """For exact replays; errors are only logged."""
        try:
            await self.core.store.add_edition(edition_of(config))
        except Unavailable as error:
            log.warning("the profiles and templates are not kept for later explanations: %s", error)

    async def look(self) -> bool:
        """Whether there are new components.

        Files changed since the last look are read at the next one, because they may be half written; an unreachable folder is
        reported once.
        """
        reading = self._reading = self._reading or in_daemon_thread(self._news)
        try:
            news = in_time(reading, self._parts.reading_seconds, self._folders)
            self._latest, config = await guard(news, log, "reading profiles and templates")
            if config is not None:
                await try_on_messages(self.core.store, self.core.config, config)
        except (Misconfigured, UnexpectedError) as error:
            if reading.done() or self._checked:
                self.problem = f"the last good profiles and templates stay in force: {error}"
                log.error(self.problem)  # noqa: TRY400 - the sentence says it all
                self._refused()
            self._reading, self._checked = (None, self._latest) if reading.done() else (reading, frozenset())
            return False
        self._reading = None
        if config is not None:
            await self.keep_edition(config)
            self.core, self.problem, self._checked = self.core.with_config(config), "", self._latest
            consumers = ", ".join(profile.consumer for profile in config.profiles)
            log.info("profiles and templates were read again: %s; templates %s", consumers, config.templates.revision)
        return config is not None

    async def state(self) -> str:
        """`problem`, for /readyz."""
        return self.problem

    def _news(self) -> tuple[FileStamps, ConfigSnapshot | None]:
        stamps = file_stamps(self._folders)
        if stamps != self._latest or stamps == self._checked:
            return stamps, None
        return stamps, self._parts.reader(self._folders, self.core.config, self._failed)
