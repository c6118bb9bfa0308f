"""An agent as a process: it calls two tools at once, one of which fails now and then, and answers from what they give.

`python agent.py URL`. Its pages come from the consumer `loop`.
"""

import asyncio
import random
import sys
from typing import Any

from builder.client import ReceivedContext, connect

ACK_WAIT_SECONDS = 3.0
"""After which the contexts of a process that was killed come again."""
MODEL_SECONDS, TOOL_SECONDS = 0.05, (0.0, 0.4)
FAILURES = 0.2
"""Share of the calls of one tool."""
chance = random.SystemRandom()


async def reply(context: ReceivedContext) -> Any:
    """Two calls, and once their results are there the answer."""
    await asyncio.sleep(MODEL_SECONDS)
    if any(section["name"] == "tool_results" for section in context.event["sections"]):
        return f"An answer to {', '.join(context.questions)}."
    calls = [
        {"id": f"{name}-{context.id}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in ("look", "ask")
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


async def look() -> str:
    """Found after a while."""
    await asyncio.sleep(chance.uniform(*TOOL_SECONDS))
    return "found"


async def ask() -> str:
    """The same, and sometimes it fails."""
    if chance.random() < FAILURES:
        raise ConnectionError("the shop does not answer")
    return await look()


async def main(url: str) -> None:
    """Serve until SIGTERM."""
    async with connect(url, "acme") as client:
        await client.serve("loop", reply, tools={"look": look, "ask": ask}, ack_wait=ACK_WAIT_SECONDS, deliver="all")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
