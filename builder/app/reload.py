"""Reads edited profiles and templates; broken ones never replace good ones."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from builder.adapters.templates.failures import Listener
from builder.app.components import Components
from builder.app.config import ConfigSnapshot, FileStamps, edition_of, file_stamps, read_config
from builder.domain.errors import Misconfigured, Unavailable
from builder.ports.store import Editions
from builder.service import ContextBuilder
from builder.worker.resilience import UnexpectedError, guard

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5


async def note_edition(store: Editions, config: ConfigSnapshot) -> None:
    """Keep the profiles and templates that come into force, so that their contexts can be built again.

    A store that cannot take them costs later explanations their exactness, and nothing else.
    """
    try:
        await store.add_edition(edition_of(config))
    except Unavailable as error:
        log.warning("the profiles and templates are not kept for later explanations: %s", error)


class Reloader:
    """The components with the newest valid profiles and templates. A build takes `core` once and keeps it to its end."""

    def __init__(self, folders: tuple[Path, ...], core: Components, refused: Callable[[], None], failed: Listener) -> None:
        """refused: called for each invalid edit. failed: as in `read_config`."""
        self.core = core
        self.problem = ""
        """Why the present files are not used; empty when they are."""
        self._folders = folders
        self._refused = refused
        self._failed = failed
        self._latest = self._checked = core.config.stamps

    def builder(self) -> ContextBuilder:
        """The builder of the present components."""
        return self.core.builder

    def drop(self, workspace: str, ids: frozenset[str]) -> int:
        """`Components.drop` of the present components."""
        return self.core.drop(workspace, ids)

    async def run(self, renew: Callable[[Components], None]) -> None:
        """Look for edits until cancelled. renew: called with the new components."""
        await note_edition(self.core.store, self.core.config)
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if await self.look():
                renew(self.core)

    async def look(self) -> bool:
        """Whether there are new components. A file that changed since the last look may still be written: it is read later."""
        stamps = await asyncio.to_thread(file_stamps, self._folders)
        still, self._latest = stamps == self._latest, stamps
        return still and stamps != self._checked and await self._try(stamps)

    async def state(self) -> str:
        """`problem`, for /readyz."""
        return self.problem

    async def _try(self, stamps: FileStamps) -> bool:
        self._checked = stamps
        try:
            reading = asyncio.to_thread(read_config, self._folders, self.core.config, self._failed)
            config = await guard(reading, log, "reading profiles and templates")
        except (Misconfigured, UnexpectedError) as error:
            self.problem = f"the last good profiles and templates stay in force: {error}"
            log.error(self.problem)  # noqa: TRY400 - the sentence says it all
            self._refused()
            return False
        await note_edition(self.core.store, config)
        self.core, self.problem = self.core.with_config(config), ""
        consumers = ", ".join(profile.consumer for profile in config.profiles)
        log.info("profiles and templates were read again: %s; templates %s", consumers, config.templates.revision)
        return True
