"""Answers to `explain`, `why`, `replay` and `refresh`, in the service or for a file."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from builder.app.operations.replays import Replay, Replays, failures_of
from builder.assemble.items.pending import PENDING_CHARS
from builder.domain.breadcrumb import NO_SESSION, Place
from builder.domain.context import Context
from builder.domain.errors import Rejected, Unavailable
from builder.ports.store import CompleteStore
from builder.publish.event import encode
from builder.publish.reports import receipt_values
from builder.wire.requests import ExplainRequest, RefreshRequest, ReplayRequest, StripRequest, WhyRequest, read_request
from builder.worker.request_handlers import Verb

MAX_WAITING = 8
"""Replays with other files or profiles; one is built at a time."""
LATER_LOOKS, LATER_SECONDS = 40, 0.02
"""For a later message's context."""
NEWEST = 2**62
"""After every other."""


class Explanations:
    """The handlers."""

    def __init__(self, replays: Replays, store: CompleteStore, is_settled: Callable[[Place], bool] = lambda _place: True) -> None:
        """is_settled: whether the work on a breadcrumb is done."""
        self._is_settled = is_settled
        self._replays = replays
        self._store = store
        self._one, self._waiting = asyncio.Lock(), asyncio.Semaphore(MAX_WAITING)

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Name in the subject → handler."""
        return {
            "explain": self.explain, "strip": self.strip, "why": self.why, "replay": self.replay, "refresh": self.refresh,
        }  # fmt: skip

    async def explain(self, workspace: str, data: bytes) -> dict[str, Any]:
        """Page, receipt, and whether it equals the published page."""
        request = read_request(ExplainRequest, data)
        replay = await self._replays.replay(workspace, request)
        receipt = receipt_values(replay.explanation.receipt(request.most))
        return _head(replay) | {"content": replay.context.markdown, "receipt": receipt, "times": dict(replay.times)}

    async def strip(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `StripRequest`. The session in cells, the page, and the tokens of its sections."""
        request = read_request(StripRequest, data)
        replay = await self._replays.replay(workspace, request)
        context = replay.context
        page = {
            "content": context.markdown,
            "budget": context.budget,
            "sections": [{"name": section.name, "tokens": section.tokens} for section in context.sections],
        }
        return _head(replay) | page | asdict(replay.explanation.strip(request.most))

    async def refresh(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `RefreshRequest`. Answers with the event."""
        request = read_request(RefreshRequest, data)
        replay = await self._replays.replay(workspace, request.model_copy(update={"as_of": request.as_of or NEWEST}))
        event: dict[str, Any] = json.loads(replay.event)
        if replay.context.later and not await self._is_published(replay.context):
            del event["is_over"]
        return event

    async def _is_published(self, context: Context) -> bool:
        versions = await self._store.versions(context.trigger.workspace, context.later)
        for _ in range(LATER_LOOKS):
            is_settled = not versions or self._is_settled(versions[0].place)
            if await self._replays.is_published(context.trigger, context.later, context.consumer):
                return True
            if is_settled:
                return False
            await asyncio.sleep(LATER_SECONDS)
        raise Unavailable(f"the context of {context.later} is in work; send it again in a moment")

    async def why(self, workspace: str, data: bytes) -> dict[str, Any]:
        """See `WhyRequest`. Answers with the sentence."""
        request = read_request(WhyRequest, data)
        replay = await self._replays.replay(workspace, request)
        if replay.explanation.knows(request.id):
            sentence = replay.explanation.why(request.id)
        else:
            sentence = await self._why_not_recalled(replay, request.id)
        return _head(replay) | {"sentence": sentence}

    async def replay(self, workspace: str, data: bytes) -> dict[str, Any]:
        """Two events, and failures of templates.

        `before`: published, or rebuilt. `after`: rebuilt, or with the other profile and files.
        """
        request = read_request(ReplayRequest, data)
        replay = await self._replays.replay(workspace, request)
        before = replay.event if replay.published is None else replay.published
        if not (request.profile or request.files or request.over_bundled):
            return _head(replay) | {"before": json.loads(before), "after": json.loads(replay.event), "failures": []}
        if self._waiting.locked():
            raise Unavailable(f"{MAX_WAITING} other replays with files or profiles are waiting; send it again in a moment")
        async with self._waiting, self._one:
            return _head(replay) | {"before": json.loads(before)} | await self._after(replay, request)

    async def _after(self, replay: Replay, request: ReplayRequest) -> dict[str, Any]:
        core = await self._replays.with_files(replay.core, request.files, over_bundled=request.over_bundled)
        profile = await self._replays.profile(core, replay, request.profile)
        characters = PENDING_CHARS.set(0)
        try:
            quiet = replay.context.quiet_from
            context, _ = await self._replays.build(core, replay.trigger, profile, as_of=quiet, is_quiet=bool(quiet))
        finally:
            PENDING_CHARS.reset(characters)
        return {"after": json.loads(encode(context)), "failures": failures_of(core)}

    async def _why_not_recalled(self, replay: Replay, identity: str) -> str:
        """Raises `Rejected` for an unknown breadcrumb."""
        trigger, as_of = replay.trigger, replay.context.as_of or replay.context.quiet_from
        versions = await self._store.versions(trigger.workspace, identity)
        if not versions and await self._store.traces(trigger.workspace, identity):
            return f"{identity} is not on the page: it was erased."
        if not versions:
            problem = f"there is no breadcrumb {identity!r} in workspace {trigger.workspace!r}"
            raise Rejected(f"{problem}; context-builder history SESSION lists ids")
        first = versions[0]
        name = f"{identity} v{first.version} ({first.schema}, {first.speaker})"
        if first.place > (as_of or trigger.place):
            end = f"sequence {as_of.sequence:,}" if as_of else "the message to answer"
            return f"{name} is not on the page: it came after {end}."
        if first.session not in (trigger.session, NO_SESSION):
            scope, consumer = replay.profile.retrieval.scope, replay.profile.consumer
            where = scope if isinstance(scope, str) else ", ".join(scope)
            return (
                f"{name} is not on the page: it is of session {first.session}, and profile {consumer!r} looks into "
                f"`retrieval.scope: {where}`."
            )
        return f"{name} is not on the page: it is of no session, and neither a note that is searched nor pinned by the profile."


def _head(replay: Replay) -> dict[str, Any]:
    context = replay.context
    return {
        "context": str(context.id),
        "trigger": replay.trigger.id,
        "session": replay.trigger.session,
        "consumer": context.consumer,
        "tokens": context.tokens,
        "is_same": replay.is_same,
        "notes": list(replay.notes),
    }
