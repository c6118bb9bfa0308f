"""Tool calls of a reply, run."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from builder.client.received import ReceivedContext
from builder.domain.errors import Rejected
from builder.domain.json_text import shape

log = logging.getLogger("builder.client")

Tools = Mapping[str, Callable[..., Any]]
"""Tool name → function of the call's arguments; returns JSON or raises. `request_id` and `context` are passed if it has them."""
MAX_ERROR_CHARS = 10_000
Send = Callable[[str, str, Any, Any], Awaitable[object]]
"""Tool, request id, output, error; None = the call worked."""


async def run_calls(context: ReceivedContext, calls: Iterable[Mapping[str, Any]], tools: Tools, send: Send) -> None:
    """Concurrently; sends each output or error. Raises `Unavailable`."""
    endings = await asyncio.gather(*(_run(context, call, tools, send) for call in calls), return_exceptions=True)
    for error in filter(None, endings):
        raise error


async def _run(context: ReceivedContext, call: Mapping[str, Any], tools: Tools, send: Send) -> None:
    tool, identity = call["tool"], call.get("requestId") or call.get("request_id") or ""
    try:
        output = await _output(tool, call.get("input") or {}, tools, {"request_id": identity, "context": context})
    except (Exception, asyncio.CancelledError) as error:  # the model reads whatever a tool raises
        if is_cancelled():
            raise
        log.warning("the tool %s failed: %s: %s", tool, type(error).__name__, error)
        log.debug("the tool %s failed", tool, exc_info=error)
        await send(tool, identity, None, f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS])
        return
    try:
        await send(tool, identity, output, None)
    except Rejected as error:
        log.warning("what the tool %s returned cannot be sent: %s", tool, error)
        await send(tool, identity, None, f"its output cannot be sent: {error}")


async def _output(tool: str, arguments: Any, tools: Tools, facts: Mapping[str, Any]) -> Any:
    if tool not in tools:
        raise Rejected(f"there is no tool {tool!r}; there are {', '.join(tools) or 'none'}")
    if not isinstance(arguments, dict):
        raise Rejected(f"the arguments of {tool} are {shape(arguments)}; send one JSON object")
    function = tools[tool]
    arguments = arguments | {name: value for name, value in facts.items() if name in _parameters(function)}
    return await called(function, **arguments)


async def called(function: Callable[..., Any], /, *arguments: Any, **by_name: Any) -> Any:
    """Plain functions run in a thread."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments, **by_name)

    def ended() -> Any:
        try:
            return function(*arguments, **by_name)
        except (StopIteration, SystemExit) as error:  # no future can carry them
            raise RuntimeError(repr(error)) from error

    result = await asyncio.to_thread(ended)
    return await result if inspect.isawaitable(result) else result


def is_cancelled() -> bool:
    """False = a CancelledError came from somebody's code."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _parameters(function: Callable[..., Any]) -> Iterable[str]:
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return ()
