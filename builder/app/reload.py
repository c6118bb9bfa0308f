"""Beside the worker: an edited profile or template is in force for the next trigger, a broken one never."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from builder.adapters.templates.failures import Listener
from builder.app.components import Components
from builder.app.config import Traces, read_edition, traces_of
from builder.domain.errors import Misconfigured
from builder.service import ContextBuilder
from builder.worker.resilience import UnexpectedError, guard

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5


class Reloader:
    """Holds the core of the newest edition that is whole. Whoever begins a build takes `core` once and finishes with it.

    problem: why the files as they are now are not in force; empty when they are.
    """

    def __init__(self, folders: tuple[Path, ...], core: Components, refused: Callable[[], None], failed: Listener) -> None:
        """refused: told of each edit that could not be taken. failed: as `read_edition` has it."""
        self.core = core
        self.problem = ""
        self._folders = folders
        self._refused = refused
        self._failed = failed
        self._latest = self._checked = core.edition.traces

    def builder(self) -> ContextBuilder:
        """That of now."""
        return self.core.builder

    def drop(self, workspace: str, ids: frozenset[str]) -> int:
        """See `Components`."""
        return self.core.drop(workspace, ids)

    async def run(self, renew: Callable[[Components], None]) -> None:
        """Until cancelled. taken: told of each new core."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if await self.look():
                renew(self.core)

    async def look(self) -> bool:
        """Whether there is a new core. What changed since the last look is left to the next: somebody may be writing still."""
        traces = await asyncio.to_thread(traces_of, self._folders)
        still, self._latest = traces == self._latest, traces
        return still and traces != self._checked and await self._try(traces)

    async def state(self) -> str:
        """The problem, for /readyz."""
        return self.problem

    async def _try(self, traces: Traces) -> bool:
        self._checked = traces
        try:
            reading = asyncio.to_thread(read_edition, self._folders, self.core.edition, self._failed)
            edition = await guard(reading, log, "reading profiles and templates")
        except (Misconfigured, UnexpectedError) as error:
            self.problem = f"the last good profiles and templates stay in force: {error}"
            log.error(self.problem)  # noqa: TRY400 - the sentence says it all
            self._refused()
            return False
        self.core, self.problem = self.core.renewed(edition), ""
        consumers = ", ".join(profile.consumer for profile in edition.profiles)
        log.info("profiles and templates were read again: %s; templates %s", consumers, edition.templates.revision)
        return True
