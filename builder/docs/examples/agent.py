"""The smallest agent."""

import asyncio
import contextlib

from builder.client import ReceivedContext, connect


async def reply(context: ReceivedContext) -> str:
    """Your model gets context.content."""
    return f"I read {context.token_count} tokens."


async def agent(servers: str = "nats://127.0.0.1:4222") -> None:
    """Answer every message that comes for the consumer "default"."""
    async with connect(servers) as client:
        await client.serve("default", reply)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(agent())
