"""The same with Anthropic's client, and without blocking an event loop."""

import asyncio

from anthropic import AsyncAnthropic
from anthropic.types import MessageParam

from builder.integrations import wrap_anthropic
from builder.local import local


async def main() -> None:
    """One question."""
    async with local("./memory") as client:
        model = wrap_anthropic(AsyncAnthropic(), client, "s42")
        question: MessageParam = {"role": "user", "content": "Which kiln is it?"}
        async with model.messages.stream(model="claude-sonnet-4-5", max_tokens=1024, messages=[question]) as stream:
            async for text in stream.text_stream:
                print(text, end="", flush=True)


asyncio.run(main())
