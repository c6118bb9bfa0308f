"""All consumers: those of files, and those that records make."""

from collections.abc import Callable
from dataclasses import asdict

from builder.domain.json_values import JsonObject
from builder.domain.profile import Profile, RecordConsumers
from builder.domain.selector import Selector, trigger_on
from builder.service import ContextBuilder
from builder.worker.log import StoredLog


class Consumers:
    """All consumers, as of a position or as of now."""

    def __init__(self, builder: Callable[[], ContextBuilder], log: StoredLog) -> None:
        """builder: the current one."""
        self._builder = builder
        self.log = log

    async def of(self, workspace: str) -> tuple[Profile, ...]:
        """All of a workspace. Raises `Unavailable`."""
        return (*self._builder().profiles, *(await self.of_records(workspace)).profiles)

    async def of_records(self, workspace: str) -> RecordConsumers:
        """Those that the newest records of a workspace define. Raises `Unavailable`."""
        definitions = await self.log.definitions(workspace, (await self.log.last()).next, self.log.now())
        return self._builder().record_consumers(definitions)

    def in_memory(self, workspace: str = "") -> tuple[Profile, ...]:
        """Those of files, and those of the records of a workspace that were read last; "" = of each workspace."""
        builder = self._builder()
        sets = self.log.latest_definitions(workspace)
        return (*builder.profiles, *(profile for each in sets for profile in builder.record_consumers(each).profiles))

    async def listed(self, workspace: str) -> JsonObject:
        """Name, triggers, audience and origin of each consumer of a workspace, and the findings. Raises `Unavailable`."""
        records = await self.of_records(workspace)
        of_files = [_consumer(profile, f"profiles/{profile.consumer}.yaml") for profile in self._builder().profiles]
        of_records = [_consumer(profile, records.origins[profile.consumer]) for profile in records.profiles]
        return {"consumers": of_files + of_records, "findings": [asdict(finding) for finding in records.findings]}


def _consumer(profile: Profile, origin: str) -> JsonObject:
    return {
        "name": profile.consumer,
        "agent": profile.agent,
        "triggers": [_trigger(each) for each in profile.triggers],
        "audience": asdict(profile.audience) if profile.audience else None,
        "origin": origin,
        "budget": profile.budget,
        "revision": profile.revision,
    }


def _trigger(selector: Selector) -> str | dict[str, tuple[str, ...]]:
    return next((name for name in selector.schemas if selector == trigger_on(name)), "") or selector.conditions
