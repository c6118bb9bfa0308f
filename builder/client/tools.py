"""A model's reply, in the shape of its provider; its tool calls, run; and a ready tool that reads what a page left out.

tools={"fetch_omitted": client.fetch_omitted}, and fetch_omitted_tool("openai") among the tools of the model's call
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal

from builder.client.received import BreadcrumbRecord, ReceivedContext
from builder.domain.breadcrumb import TOOL_RESPONSE
from builder.domain.errors import Rejected
from builder.domain.text import one_line, shape, visible
from builder.remember.content import without_wrapper
from builder.wire.replies import Reply, reply_of
from builder.wire.words import described

log = logging.getLogger("builder.client")

Tools = Mapping[str, Callable[..., Any]]
"""Tool name → function of the call's arguments; returns JSON or raises. `request_id` and `context` are passed if it has them."""
MAX_ERROR_CHARS = 10_000
Send = Callable[[str, str, Any, Any], Awaitable[object]]
"""Tool, request id, output, error; None = the call worked."""


def read_reply(reply: Any, scope: str = "") -> Reply:
    """Read a model's reply: a text, a message or a whole answer of any vendor, as a dict or an object of its SDK.

    scope: makes the ids of calls that have none its own. Raises `Rejected`.
    """
    return reply_of(reply.model_dump() if hasattr(reply, "model_dump") else reply, scope)


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


NAME = "fetch_omitted"
DESCRIPTION = (
    "Read what the conversation leaves out or cuts, by the id that the cut names, one piece a call. "
    "Call it again with next_offset for the next piece."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "the id that the cut names, as it is written there"},
        "offset": {"type": "integer", "minimum": 0, "description": "character at which the piece begins; 0 = the beginning"},
    },
    "required": ["id"],
    "additionalProperties": False,
}


def fetch_omitted_tool(chat_format: Literal["openai", "anthropic", "responses"]) -> Any:
    """As the provider's API takes it in `tools`."""
    if chat_format == "anthropic":
        return {"name": NAME, "description": DESCRIPTION, "input_schema": PARAMETERS}
    function = {"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}
    if chat_format == "responses":
        return {"type": "function", **function, "strict": False}
    return {"type": "function", "function": function}


def check_named(identity: str, context: ReceivedContext) -> None:
    """Raises `Rejected` for an id that the context does not name."""
    omissions = context.event.get("omissions") or {}
    names = [each for section in context.event.get("sections") or () for each in section["ids"]]
    names += [each["id"] for name in ("partial", "most_relevant") for each in omissions.get(name) or ()]
    if identity not in names:
        raise Rejected(f"this context names no {identity!r}; give an id that it names, as it is written there")


def piece(record: BreadcrumbRecord, offset: int, context: ReceivedContext) -> str:
    """A line with range and next offset, then text from `offset`, about a quarter of the page's room. Raises `Rejected`."""
    text = visible(_shown_text(record))
    last = max(len(text) - 1, 0)
    if not isinstance(offset, int) or offset not in range(last + 1):
        raise Rejected(f"offset is {offset!r}, and the text has {len(text)} characters; give one from 0 to {last}")
    size = context.event["token_budget"]
    words = text[offset : offset + size].encode()[:size].decode(errors="ignore")
    end = offset + len(words)
    following = f"next_offset {end}" if end < len(text) else "the end"
    return f"[characters {offset} to {end} of {len(text)}, {following}]\n{words}"


def _shown_text(record: BreadcrumbRecord) -> str:
    output = record.body.get("output") if record.schema == TOOL_RESPONSE else None
    return record.text if output is None else output_text(output)


def output_text(output: Any) -> str:
    """What a tool returned, whole: a text, else compact JSON; a line for each image and file."""
    words = described(without_wrapper(output))
    return words if isinstance(words, str) else one_line(words)
