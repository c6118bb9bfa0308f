"""The handler of the request `refresh`."""

import asyncio
import json

from builder.domain.context import Context
from builder.domain.errors import Unavailable
from builder.domain.json_values import JsonObject
from builder.wire.requests import RefreshRequest
from builder.worker.requests import Host

LATER_LOOKS, LATER_SECONDS = 40, 0.02
"""For a later message's context."""
NEWEST = 2**62
"""After every other."""


async def refresh(host: Host, workspace: str, request: RefreshRequest) -> JsonObject:
    """See `RefreshRequest`. Answers with the event."""
    replay = await host.replays.replay(workspace, request.model_copy(update={"as_of": request.as_of or NEWEST}))
    event: JsonObject = json.loads(replay.event)
    if replay.context.later and not await _is_published(host, replay.context):
        del event["is_over"]
    return event


async def _is_published(host: Host, context: Context) -> bool:
    versions = await host.log.store.versions(context.trigger.workspace, context.later)
    for _ in range(LATER_LOOKS):
        is_settled = not versions or host.is_settled(versions[0].place)
        if await host.replays.is_published(context.trigger, context.later, context.consumer):
            return True
        if is_settled:
            return False
        await asyncio.sleep(LATER_SECONDS)
    raise Unavailable(f"the context of {context.later} is in work; send it again in a moment")
