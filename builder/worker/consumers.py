"""The consumers of a workspace: those of profile files, and those that records make."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from builder.domain.breadcrumb import Place
from builder.domain.profile import Profile
from builder.domain.record_consumers import Definitions, RecordConsumers
from builder.domain.selector import Selector
from builder.domain.triggers import trigger_on
from builder.service import ContextBuilder
from builder.wire.requests import ConsumersRequest, read_request
from builder.worker.definitions import DefinitionReader

Verb = Callable[[str, bytes], Awaitable[dict[str, Any]]]


class Consumers:
    """All of them, as of now."""

    def __init__(
        self,
        builder: Callable[[], ContextBuilder],
        definitions: DefinitionReader | None,
        last: Callable[[], Awaitable[Place]],
        now: Callable[[], datetime],
    ) -> None:
        """builder: the current one. definitions: None = records make none. last: place of the newest message of the stream."""
        self._builder = builder
        self._definitions = definitions
        self._last = last
        self._now = now

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Name in the subject → handler."""
        return {"consumers": self.consumers}

    async def before(self, workspace: str, place: Place, moment: datetime) -> Definitions:
        """See `DefinitionReader.before`."""
        return await self._definitions.before(workspace, place, moment) if self._definitions else ()

    def drop(self, workspace: str) -> None:
        """Read the definitions again, because something was erased."""
        if self._definitions:
            self._definitions.drop(workspace)

    async def of(self, workspace: str) -> tuple[Profile, ...]:
        """All of a workspace. Raises `Unavailable`."""
        return (*self._builder().profiles, *(await self.of_records(workspace)).profiles)

    async def of_records(self, workspace: str) -> RecordConsumers:
        """What the newest records of a workspace make. Raises `Unavailable`."""
        if self._definitions is None:
            return RecordConsumers()
        definitions = await self.before(workspace, (await self._last()).next, self._now())
        return self._builder().record_consumers(definitions)

    def in_memory(self, workspace: str = "") -> tuple[Profile, ...]:
        """Those that need nothing to be read: of files, and of the records of a workspace, or of all, that were read last."""
        builder, reader = self._builder(), self._definitions
        if reader is None:
            return builder.profiles
        sets = (reader.latest(workspace),) if workspace else reader.all_latest()
        return (*builder.profiles, *(profile for each in sets for profile in builder.record_consumers(each).profiles))

    async def consumers(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `ConsumersRequest`. Answers with each consumer's name, triggers, audience and origin, and with the findings."""
        read_request(ConsumersRequest, data)
        records = await self.of_records(workspace)
        of_files = [_consumer(profile, f"profiles/{profile.consumer}.yaml") for profile in self._builder().profiles]
        of_records = [_consumer(profile, records.origins[profile.consumer]) for profile in records.profiles]
        return {"consumers": of_files + of_records, "findings": [asdict(finding) for finding in records.findings]}


def _consumer(profile: Profile, origin: str) -> dict[str, Any]:
    return {
        "name": profile.consumer,
        "triggers": [_trigger(each) for each in profile.triggers],
        "audience": asdict(profile.audience) if profile.audience else None,
        "origin": origin,
        "budget": profile.budget,
        "revision": profile.revision,
    }


def _trigger(selector: Selector) -> str | dict[str, tuple[str, ...]]:
    """A schema, or what its author gave of a selector."""
    return next((name for name in selector.schemas if selector == trigger_on(name)), "") or selector.conditions
