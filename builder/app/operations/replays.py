"""Contexts built again from the store, with the profiles and templates of then or with others."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from builder.app.components import Components
from builder.app.config import ConfigSnapshot, parse_config
from builder.assemble.receipts.explanation import Explanation
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.context import DEGRADED, VECTORS_MISSING, Context, context_id
from builder.domain.errors import Misconfigured, Rejected
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION
from builder.domain.record_consumers import Definitions
from builder.ports.broker import PublishedContexts
from builder.publish.event import encode
from builder.recall.scopes import scopes_before
from builder.wire.files import Files
from builder.worker.shadowing import in_the_place_of

MAX_CONFIGS = 4
"""Parsed configurations that are kept beside the one in force."""
EDITED = "it is built with the profile and templates of then, which were edited since"
DefinitionsBefore = Callable[[str, Place, datetime], Awaitable[Definitions]]
"""Workspace, place and moment → the definitions that held there. Raises `Unavailable`."""
CatchUpTo = Callable[[str, str], Awaitable[object]]
"""Workspace and session → everything of it that the stream has is remembered. Raises `Unavailable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """The context that is meant."""

    workspace: str
    trigger: str
    consumer: str = ""
    """"" = the only one that the trigger asks for."""
    session: str = ""
    """"" = the trigger's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A context that was built again."""

    trigger: Breadcrumb
    context: Context
    explanation: Explanation
    event: bytes
    published: bytes | None
    """The event that was published; None when it is not kept any more, or was erased."""
    notes: tuple[str, ...]
    """What the reader has to know, e.g. why the bytes differ."""
    core: Components
    """With the profiles and templates that it was built with."""
    profile: Profile
    """That it was built with."""

    @property
    def is_same(self) -> bool | None:
        """Whether its bytes are those of the published event; None when that is not kept."""
        return None if self.published is None else self.published == self.event


class Replays:
    """Builds contexts again. All methods raise `Rejected` and `Unavailable`."""

    def __init__(
        self,
        core: Callable[[], Components],
        published: PublishedContexts,
        catch_up: CatchUpTo,
        definitions: DefinitionsBefore,
        max_bytes: int,
    ) -> None:
        """core: the present components. max_bytes: of an event, as the publisher takes it."""
        self._core = core
        self._published = published
        self._catch_up = catch_up
        self._definitions = definitions
        self._max_bytes = max_bytes
        self._configs: dict[str, ConfigSnapshot] = {}

    async def replay(self, which: Which) -> Replay:
        """The context as it was published, as far as what it was made from is still there."""
        core = self._core()
        trigger = await self.trigger(which)
        definitions = await self._definitions(trigger.workspace, trigger.place, trigger.received_at)
        consumer = which.consumer or _only_consumer(core, trigger, definitions)
        published = await self._event(trigger, consumer)
        flags, notes = frozenset[str](), []
        if published is None:
            notes.append(
                "the published context is not kept: contexts are kept for 24 hours, and go with what they show when that is "
                "forgotten; this is how today's profile and templates would make it"
            )
        else:
            assembly = json.loads(published)["assembly"]
            flags = frozenset(assembly["flags"])
            core, note = await self._core_of(core, definitions, consumer, assembly["profile"], assembly["templates"])
            notes += filter(None, (note,))
        profile = profile_of(core, consumer, definitions)
        rebuilt = await self.build(core, trigger, profile, is_degraded=DEGRADED in flags)
        event = encode(rebuilt[0], self._max_bytes)
        if published is not None and published != event:
            notes.append(_difference(flags))
        return Replay(
            trigger=trigger, context=rebuilt[0], explanation=rebuilt[1], event=event, published=published,
            notes=tuple(notes), core=core, profile=profile,
        )  # fmt: skip

    async def trigger(self, which: Which) -> Breadcrumb:
        """The first version of the breadcrumb."""
        versions = await self._versions(which)
        if not versions:
            await self._catch_up(which.workspace, which.session or EVERY_SESSION)
            versions = await self._versions(which)
        if not versions:
            place = f"session {which.session!r} of workspace" if which.session else "workspace"
            problem = f"there is no breadcrumb {which.trigger!r} in {place} {which.workspace!r}, or it was erased"
            raise Rejected(f"{problem}; context-builder history SESSION lists ids")
        sessions = sorted({crumb.session for crumb in versions})
        if len(sessions) > 1:
            raise Rejected(f"{which.trigger!r} is a breadcrumb of {', '.join(sessions)}; name the session")
        return versions[0]

    async def _versions(self, which: Which) -> tuple[Breadcrumb, ...]:
        versions = await self._core().store.versions(which.workspace, which.trigger)
        return tuple(crumb for crumb in versions if which.session in ("", crumb.session))

    async def build(
        self, core: Components, trigger: Breadcrumb, profile: Profile, *, is_degraded: bool = False
    ) -> tuple[Context, Explanation]:
        """The context of a trigger by a profile, and its explanation."""
        for scope in scopes_before(trigger, (profile,)):
            for session in (NO_SESSION, *scope.sessions):
                await self._catch_up(scope.workspace, session)
        return await core.builder.explain(trigger, profile, degraded=is_degraded)

    async def profile(self, core: Components, replay: Replay, name: str) -> Profile:
        """The profile of this name as of a trigger; "" = the consumer's own. Raises `Rejected` with the known names.

        A shadow stands in the place of its consumer, as it does on live triggers.
        """
        trigger = replay.trigger
        definitions = await self._definitions(trigger.workspace, trigger.place, trigger.received_at)
        profile = profile_of(core, name or replay.profile.consumer, definitions)
        return in_the_place_of(replay.profile, profile) if profile.shadow_of else profile

    async def with_files(self, core: Components, files: Files, *, over_bundled: bool) -> Components:
        """The components with these files laid over those in force, or over the bundled ones alone. Raises `Rejected`."""
        bundled, *own = core.config.layers
        layers = (bundled, files) if over_bundled else (bundled, {**(own[-1] if own else {}), **files})
        try:
            return core.with_config(await asyncio.to_thread(parse_config, layers, core.config))
        except Misconfigured as error:
            raise Rejected(str(error)) from error

    async def _event(self, trigger: Breadcrumb, consumer: str) -> bytes | None:
        identity = str(context_id(trigger.workspace, trigger.session, trigger.id, consumer))
        return await self._published.context(trigger.workspace, consumer, trigger.session, identity)

    async def _core_of(
        self, core: Components, definitions: Definitions, consumer: str, profile: str, templates: str
    ) -> tuple[Components, str]:
        """The components with the profiles and templates of these revisions; those in force, and why, where they are gone."""
        if core.config.templates.revision == templates and _revision(core, definitions, consumer) == profile:
            return core, ""
        edition = await core.store.edition(consumer, profile, templates)
        if edition is None:
            revisions = f"profile {profile}, templates {templates}"
            return core, f"the profile and templates of then ({revisions}) are not kept here; today's are taken in their place"
        if edition.id not in self._configs:
            self._configs[edition.id] = await asyncio.to_thread(parse_config, edition.layers, core.config)
            for name in list(self._configs)[:-MAX_CONFIGS]:
                del self._configs[name]
        return core.with_config(
            self._configs[edition.id]
        ), "it is built with the profile and templates of then, which were edited since"


def profile_of(core: Components, name: str, definitions: Definitions = ()) -> Profile:
    """The profile, shadow or preset of this name, or what the definitions make of it. Raises `Rejected` with the known names."""
    others = (*core.config.shadows, *core.builder.record_consumers(definitions).profiles)
    if match := next((each for each in others if each.consumer == name), None):
        return match
    try:
        return core.profile(name)
    except Misconfigured as error:
        raise Rejected(str(error)) from error


def failures_of(core: Components) -> list[str]:
    """What templates could not render, a line each."""
    return [f"{each.file}: {each.reason}; {each.instead} is shown" for each in core.config.failures.all]


def _revision(core: Components, definitions: Definitions, consumer: str) -> str:
    """Of the consumer's profile; "" when there is none."""
    profiles = (*core.profiles, *core.builder.record_consumers(definitions).profiles)
    return next((each.revision for each in profiles if each.consumer == consumer), "")


def _only_consumer(core: Components, trigger: Breadcrumb, definitions: Definitions) -> str:
    """The consumer of the trigger's only context; with several the default one."""
    names = [profile.consumer for profile in core.builder.consumers(trigger, definitions)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise Rejected(f"{trigger.id} asks for no context; name the consumer whose page it would be")
    raise Rejected(f"{trigger.id} asks for contexts of {', '.join(names)}; name the consumer")


def _difference(flags: frozenset[str]) -> str:
    """Why the bytes differ from what was published."""
    if VECTORS_MISSING in flags:
        return (
            "it differs from the published context: some breadcrumbs had no vectors when that was built, and have them now; "
            "the receipt is that of the page built now"
        )
    return (
        "it differs from the published context: something that it was made from was forgotten or filled in since, or another "
        "version of the service made it; the receipt is that of the page built now"
    )
