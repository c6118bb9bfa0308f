"""Sessions side by side, one session in order, and nobody is forgotten while somebody is slow."""

import asyncio
from contextlib import aclosing
from pathlib import Path

from builder.client import connect
from tests.commands import DEADLINE
from tests.integration.inside import service_here, settings
from tests.running import all_settled, answered, say

SESSIONS, MESSAGES = 5, 100


async def test_the_contexts_of_a_session_come_in_the_order_of_its_messages(tmp_path: Path) -> None:
    async with service_here(settings(tmp_path)) as service, connect(service.url, "acme") as client, asyncio.timeout(DEADLINE):
        for number in range(MESSAGES):
            await say(service.js, f"Message {number} of many.", f"s{number % SESSIONS}", f"m{number}")
        received = []
        async with aclosing(client.contexts("default", deliver="all")) as contexts:
            async for context in contexts:
                received.append(context)
                if len(received) == MESSAGES:
                    break
        await all_settled(service.js)
        assert len(await answered(service.js)) == MESSAGES
    assert not any(context.late for context in received)
    for session in range(SESSIONS):
        mine = [context for context in received if context.session_id == f"s{session}"]
        assert [context.trigger_event_id for context in mine] == [f"m{number}" for number in range(session, MESSAGES, SESSIONS)]
        # Each one knows all that was said before it.
        previous = ("", *(context.trigger_event_id for context in mine))
        for before, context in zip(previous, mine, strict=False):
            assert not before or f"Message {before[1:]} of many." in context.content
