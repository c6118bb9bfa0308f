"""Pages of events in a file, made again and again with edited profiles and templates."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from builder.app.components import Components, open_components
from builder.app.config import parse_config
from builder.app.operations.replays import failures_of, profile_of
from builder.app.settings import Settings
from builder.app.stores import IN_MEMORY, location
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Context
from builder.publish.event import encode
from builder.wire.files import Files


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """Events that are remembered in memory, and the one that asks for a context."""

    core: Components
    trigger: Breadcrumb

    async def compare(self, profile: str, before: tuple[Files, ...], after: tuple[Files, ...]) -> dict[str, Any]:
        """The page by one set of files and by another, in the shape of the answer to `replay`.

        before, after: layers, the bundled one first. Raises `Misconfigured` and `Rejected`.
        """
        first, _ = await self._context(profile, before)
        second, failures = await self._context(profile, after)
        return {
            "context": str(second.id),
            "trigger": self.trigger.id,
            "session": self.trigger.session,
            "consumer": second.consumer,
            "tokens": second.tokens,
            "is_same": None,
            "notes": [],
            "before": json.loads(encode(first)),
            "after": json.loads(encode(second)),
            "failures": failures,
        }

    async def _context(self, profile: str, layers: tuple[Files, ...]) -> tuple[Context, list[str]]:
        """The context, and the failures of its templates."""
        config = await asyncio.to_thread(parse_config, layers, self.core.config, preset=profile)
        core = self.core.with_config(config)
        context, _ = await core.builder.explain(self.trigger, profile_of(core, profile))
        return context, failures_of(core)


@asynccontextmanager
async def open_fixture(settings: Settings, breadcrumbs: tuple[Breadcrumb, ...], trigger: Breadcrumb) -> AsyncIterator[Fixture]:
    """The events up to the trigger, remembered once. Raises `Misconfigured`, also for the files of the settings' folder."""
    bundled = settings.model_copy(update={"templates_dir": None})
    async with open_components(bundled, location(IN_MEMORY)) as core:
        for breadcrumb in breadcrumbs:
            if breadcrumb.place <= trigger.place:
                await core.builder.remember(breadcrumb)
        yield Fixture(core=core, trigger=trigger)
