"""Agents for tests: a model and a tool that wait, and an agent that serves for a block."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from builder.client import Client, ReceivedContext
from tests.running import until

Handler = Callable[[ReceivedContext], Any]


def calls(*requests: str, text: str = "") -> dict[str, Any]:
    """A reply of OpenAI that calls the tool `look` once for each request id."""
    functions = [{"id": each, "type": "function", "function": {"name": "look", "arguments": "{}"}} for each in requests]
    return {"role": "assistant", "content": text or None, "tool_calls": functions}


def words(context: ReceivedContext) -> list[str]:
    """What people say on the page, and what it has of results, without the notes of the service: each of these ends its line."""
    contents = (message["content"] for message in context.messages if message["role"] in {"user", "tool"})
    return [content if isinstance(content, str) else "".join(_said(content)) for content in contents]


def _said(parts: list[dict[str, str]]) -> Iterator[str]:
    return (part["text"] for part in parts if not part["text"].endswith("\n"))


class Gate:
    """A tool that waits until it may go on."""

    def __init__(self) -> None:
        self.entered, self.opened = asyncio.Event(), asyncio.Event()

    async def look(self) -> str:
        self.entered.set()
        await self.opened.wait()
        return "lost in Rotterdam"


class Model:
    """Calls the tool where the page ends with no result, and answers from what it reads."""

    def __init__(self, *, uses_tools: bool = True) -> None:
        self.pages: list[ReceivedContext] = []
        self.entered, self.opened = asyncio.Event(), asyncio.Event()
        self.opened.set()
        self._uses_tools = uses_tools

    async def __call__(self, context: ReceivedContext) -> Any:
        self.pages.append(context)
        self.entered.set()
        await self.opened.wait()
        if self._uses_tools and not any(message["role"] == "tool" for message in context.messages):
            return calls(f"call-{context.id[:8]}")
        return f"answer to {', '.join(context.questions)}"


@asynccontextmanager
async def serving(client: Client, handler: Handler, consumer: str = "loop", **options: Any) -> AsyncIterator[None]:
    """An agent for the block. Its durable exists when the block begins."""
    async with client.subscribed(consumer):
        pass
    task = asyncio.create_task(client.serve(consumer, handler, **options))
    try:
        yield
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def answered(client: Client, session: str, count: int) -> list[tuple[str, ...]]:
    """The messages that each final answer answers, once there are so many answers."""
    finals: list[tuple[str, ...]] = []

    async def are_there() -> bool:
        records = [record async for record in client.history(session)]
        spoken = [each.body for each in records if each.schema == "agent.response.v1"]
        finals[:] = [tuple(body["questions"]) for body in spoken if not body.get("tool_requests")]
        return len(finals) >= count

    await until(are_there, f"{count} answers in {session}")
    return finals
