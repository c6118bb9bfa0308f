"""Contexts built again from the store, with profiles and templates of then or others."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from typing_extensions import override

from builder.adapters.files import FaultyFiles, Files
from builder.app.components import Components
from builder.app.config import parse_config
from builder.app.reload import Reloader
from builder.assemble.items.pending import PENDING_CHARS
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.context import DEGRADED, VECTORS_MISSING, context_id
from builder.domain.edition import Edition
from builder.domain.errors import Misconfigured, Missing, Rejected, Unavailable
from builder.domain.profile import Definitions, Profile
from builder.domain.recall import EVERY_SESSION
from builder.domain.timing import times_of
from builder.ports.contexts import PublishedContexts, PublishedEvent
from builder.publish.event import encode
from builder.recall.scopes import scopes_before
from builder.remember.memory import in_thread
from builder.wire.requests import BuiltContext, ReplayRequest
from builder.worker.log import StoredLog
from builder.worker.replays import Replay, Replays, Variation

DEFAULT = "default"
EDITED = "it is built with the profile and templates of then, which were edited since"
MAX_WAITING = 8
"""Replays with other files or profiles; one is built at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Publication:
    """How a context was published, as far as it is kept."""

    core: Components
    """With the profiles and templates of then, or of today."""
    notes: tuple[str, ...]
    flags: frozenset[str] = frozenset()
    quiet: int = 0
    """The sequence up to which a page that waited for quiet reads; 0 = it did not wait."""
    is_of_today: bool = False
    """The profile and templates of then are not kept."""


class Rebuilding(Replays):
    """Builds contexts again."""

    def __init__(
        self,
        reloading: Reloader,
        published: PublishedContexts,
        log: StoredLog,
        max_bytes: int,
        follow_removals: Callable[[], Awaitable[object]],
    ) -> None:
        """max_bytes: of an event. follow_removals: apply erasures of other workers, raises `Unavailable`."""
        self._reloading = reloading
        self._published = published
        self._log = log
        self._max_bytes = max_bytes
        self._follow_removals = follow_removals
        self._one, self._waiting = asyncio.Lock(), asyncio.Semaphore(MAX_WAITING)

    @override
    async def replay(self, workspace: str, request: BuiltContext) -> Replay:
        replay, _ = await self._replay(workspace, request)
        return replay

    @override
    async def vary(self, workspace: str, request: ReplayRequest) -> Variation:
        replay, core = await self._replay(workspace, request)
        if self._waiting.locked():
            raise Unavailable(f"{MAX_WAITING} other replays with files or profiles are waiting; send it again in a moment")
        async with self._waiting, self._one:
            return await self._variation(replay, core, request)

    @override
    async def is_published(self, other: Breadcrumb, trigger: str, consumer: str) -> bool:
        return await self._event(replace(other, id=trigger), consumer) is not None

    async def _replay(self, workspace: str, request: BuiltContext) -> tuple[Replay, Components]:
        """And the components that built it."""
        await self._follow_removals()
        trigger = await self._trigger(workspace, request)
        definitions = await self._log.definitions(trigger.workspace, trigger.place, trigger.received_at)
        consumer = request.consumer or _only_consumer(self._reloading.core, trigger, definitions)
        published = await self._event(trigger, consumer)
        then = await self._publication(published, trigger, consumer, definitions)
        profile = profile_of(then.core, consumer, definitions)
        is_quiet = bool(then.quiet and not request.as_of)
        sequence = request.as_of or then.quiet
        as_of = await self._end(trigger, sequence) if sequence else None
        await self._catch_up(trigger, profile)
        context, assembly = await then.core.builder.explain(
            trigger, profile, degraded=DEGRADED in then.flags, as_of=as_of, is_quiet=is_quiet
        )
        event = encode(context, self._max_bytes)
        notes = [*then.notes]
        if as_of and not is_quiet:
            notes.append(f"it is the page refreshed as of sequence {as_of.sequence:,}: a refreshed page is never published")
        elif published and published.data != event:
            notes.append(_difference(then.flags - {*context.flags}, is_of_today=then.is_of_today))
        replay = Replay(
            trigger=trigger, context=context, assembly=assembly, event=event,
            published=published.data if published else None, notes=tuple(notes), profile=profile,
            times=times_of(published.times) if published else {},
        )  # fmt: skip
        return replay, then.core

    async def _publication(
        self, event: PublishedEvent | None, trigger: Breadcrumb, consumer: str, definitions: Definitions
    ) -> _Publication:
        core = self._reloading.core
        if event is None:
            absence = _absence(core, trigger, consumer, definitions)
            return _Publication(core=core, notes=(f"{absence}; this is how today's profile and templates would make it",))
        assembly = json.loads(event.data)["assembly"]
        core, note = await self._core_of(core, definitions, consumer, assembly["profile"], assembly["templates"])
        return _Publication(
            core=core,
            notes=(note,) if note else (),
            flags=frozenset(assembly["flags"]),
            quiet=assembly.get("as_of") or 0,
            is_of_today=note not in ("", EDITED),
        )

    async def _variation(self, replay: Replay, core: Components, request: ReplayRequest) -> Variation:
        other = await self._with_files(core, request.files, over_bundled=request.over_bundled)
        profile = await self._profile(other, replay, request.profile)
        characters = PENDING_CHARS.set(0)
        try:
            quiet = replay.context.quiet_from
            await self._catch_up(replay.trigger, profile)
            context, _ = await other.builder.explain(replay.trigger, profile, as_of=quiet, is_quiet=bool(quiet))
        finally:
            PENDING_CHARS.reset(characters)
        return Variation(replay=replay, event=encode(context), failures=tuple(failures_of(other)))

    async def _trigger(self, workspace: str, request: BuiltContext) -> Breadcrumb:
        """The first version of the breadcrumb."""
        identity = request.trigger or await self._last_of_session(workspace, request)
        versions = await self._versions(workspace, identity, request.session)
        if not versions:
            await self._log.catch_up(workspace, request.session or EVERY_SESSION)
            versions = await self._versions(workspace, identity, request.session)
        if not versions:
            scope = f"session {request.session!r} of workspace" if request.session else "workspace"
            problem = f"there is no breadcrumb {identity!r} in {scope} {workspace!r}, or it was erased"
            raise Missing(f"{problem}; context-builder history SESSION lists ids")
        sessions = sorted({crumb.session for crumb in versions})
        if len(sessions) > 1:
            raise Rejected(f"{identity!r} is a breadcrumb of {', '.join(sessions)}; name the session")
        return versions[0]

    async def _last_of_session(self, workspace: str, request: BuiltContext) -> str:
        if not request.session:
            raise Rejected("neither a trigger nor a session is named; name one of them")
        consumer = request.consumer or DEFAULT
        event = await self._published.last_context(workspace, consumer, request.session)
        if event is None:
            raise Missing(f"no context of {consumer!r} in session {request.session!r} is kept; name the trigger")
        return str(json.loads(event.data)["trigger_event_id"])

    async def _versions(self, workspace: str, identity: str, session: str) -> tuple[Breadcrumb, ...]:
        core = self._reloading.core
        versions = [
            (crumb.session, await core.builder.in_session(crumb)) for crumb in await core.store.versions(workspace, identity)
        ]
        return tuple(crumb for own, crumb in versions if session in ("", own, crumb.session))

    async def _catch_up(self, trigger: Breadcrumb, profile: Profile) -> None:
        """Remember what a page of the trigger may show."""
        for scope in scopes_before(trigger, (profile,)):
            for session in (NO_SESSION, *scope.sessions):
                await self._log.catch_up(scope.workspace, session)

    async def _profile(self, core: Components, replay: Replay, name: str) -> Profile:
        """As of the trigger, as this consumer; "" = its own. Raises `Rejected`."""
        trigger = replay.trigger
        definitions = await self._log.definitions(trigger.workspace, trigger.place, trigger.received_at)
        return in_the_place_of(replay.profile, profile_of(core, name or replay.profile.consumer, definitions))

    async def _with_files(self, core: Components, files: Files, *, over_bundled: bool) -> Components:
        """files: over current or bundled ones. Raises `Rejected`."""
        bundled, *own = core.config.layers
        layers = (bundled, files) if over_bundled else (bundled, {**(own[-1] if own else {}), **files})
        try:
            return core.with_config(await in_thread(lambda: parse_config(layers, core.config)))
        except Misconfigured as error:
            raise Rejected(str(error)) from error

    async def _end(self, trigger: Breadcrumb, as_of: int) -> Place:
        return max(trigger.place, min(Place(trigger.place.incarnation, as_of), await self._log.last()))

    async def _event(self, trigger: Breadcrumb, consumer: str) -> PublishedEvent | None:
        identity = str(context_id(trigger.workspace, trigger.session, trigger.id, consumer))
        return await self._published.context(trigger.workspace, consumer, trigger.session, identity)

    async def _core_of(
        self, core: Components, definitions: Definitions, consumer: str, profile: str, templates: str
    ) -> tuple[Components, str]:
        if core.config.templates.revision == templates and _revision(core, definitions, consumer) == profile:
            return core, ""
        then = core
        for edition in await core.store.editions(templates):
            if edition.profiles.get(consumer, profile) == profile:  # an edition does not name consumers that records make
                with contextlib.suppress(FaultyFiles):  # an earlier release has taken them
                    then = await self._core_with(edition, core, then)
                if _revision(then, definitions, consumer) == profile:
                    return then, EDITED
        revisions = f"profile {profile}, templates {templates}"
        return core, f"the profile and templates of then ({revisions}) are not kept here; today's are taken in their place"

    async def _core_with(self, edition: Edition, core: Components, like: Components) -> Components:
        if edition.id not in self._reloading.earlier:
            self._reloading.earlier[edition.id] = core.with_config(
                await asyncio.to_thread(parse_config, edition.layers, like.config, was_in_force=True)
            )
        return self._reloading.earlier[edition.id]


def profile_of(core: Components, name: str, definitions: Definitions = ()) -> Profile:
    """A profile, preset or record consumer. Raises `Rejected`."""
    if match := next((each for each in core.builder.record_consumers(definitions).profiles if each.consumer == name), None):
        return match
    try:
        return core.profile(name)
    except Misconfigured as error:
        raise Rejected(str(error)) from error


def in_the_place_of(profile: Profile, other: Profile) -> Profile:
    """The other profile under the consumer's name."""
    return replace(other, consumer=profile.consumer, triggers=profile.triggers, debounce=profile.debounce)


def failures_of(core: Components) -> list[str]:
    """A line per failed template."""
    return [f"{each.file}: {each.reason}; {each.instead} is shown" for each in core.config.failures.all]


def _revision(core: Components, definitions: Definitions, consumer: str) -> str:
    profiles = (*core.profiles, *core.builder.record_consumers(definitions).profiles)
    return next((each.revision for each in profiles if each.consumer == consumer), "")


def _only_consumer(core: Components, trigger: Breadcrumb, definitions: Definitions) -> str:
    names = [profile.consumer for profile in core.builder.consumers(trigger, definitions)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise Rejected(f"{trigger.id} asks for no context; name the consumer whose page it would be")
    raise Rejected(f"{trigger.id} asks for contexts of {', '.join(names)}; name the consumer")


def _absence(core: Components, trigger: Breadcrumb, consumer: str, definitions: Definitions) -> str:
    profiles = core.builder.consumers(trigger, definitions)
    profile = next((each for each in profiles if each.consumer == consumer), None)
    if profile is None:
        return f"{trigger.id} asks for no context of {consumer}, so none was published"
    quiet = " a message that another one of the same person follows at once gets none;" if profile.debounce else ""
    return (
        f"the published context is not kept, or there was none:{quiet} contexts are kept for 24 hours, and go with what they "
        "show when that is forgotten"
    )


def _difference(flags: frozenset[str], *, is_of_today: bool) -> str:
    if is_of_today:
        reason = "other profiles or templates made it"
    elif VECTORS_MISSING in flags:
        reason = "some breadcrumbs had no vectors when that was built, and have them now"
    else:
        reason = "something that it was made from was forgotten or filled in since, or another version of the service made it"
    return f"it differs from the published context: {reason}; the receipt is that of the page built now"
