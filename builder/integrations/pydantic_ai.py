"""Pydantic AI: a history processor, as a capability of an agent. Extra `pydantic-ai`."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from pydantic_ai import AgentRunResult, RunContext
from pydantic_ai import messages as pm
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext
from typing_extensions import override

from builder.client import Client
from builder.client.sync import SyncClient, as_sync
from builder.integrations.conversation import CONSUMER, Conversation

Chat = Mapping[str, Any]


class PageHistory(AbstractCapability[Any]):
    """The session is a run's `conversation_id`, the user `user_id` of its `metadata`. Raises `Rejected` and `Unavailable`."""

    def __init__(self, client: SyncClient | Client, *, consumer: str = CONSUMER) -> None:
        self._client = as_sync(client)
        self._consumer = consumer

    @override
    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        conversation, messages = self._conversation(ctx), list(request_context.messages)
        await asyncio.to_thread(conversation.keep, _with_names(messages, ctx))
        page = await asyncio.to_thread(conversation.page)
        prompts = [part for message in messages for part in message.parts if isinstance(part, pm.SystemPromptPart)]
        feedback = [part for part in messages[-1].parts if isinstance(part, pm.RetryFeedbackPart)]
        front, end = ([pm.ModelRequest(parts=parts)] if parts else [] for parts in (prompts, feedback))
        request_context.messages = [*front, *_messages(page), *end]
        return request_context

    @override
    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        await asyncio.to_thread(self._conversation(ctx).keep, _with_names(result.all_messages(), ctx))
        return result

    def _conversation(self, ctx: RunContext[Any]) -> Conversation:
        return Conversation(
            self._client, str(ctx.conversation_id), str((ctx.metadata or {}).get("user_id") or ""), self._consumer
        )


def _with_names(messages: Sequence[pm.ModelMessage], ctx: RunContext[Any]) -> list[tuple[str, Chat]]:
    """A message has no id: its run and its number in it name it."""
    numbers = defaultdict[str, Iterator[int]](count)
    runs = [*(message.run_id or "" for message in messages[:-1]), str(ctx.run_id)]
    chat = [(run, each) for run, message in zip(runs, messages, strict=True) for each in _chat(message)]
    return [(f"{run} {next(numbers[run])}", each) for run, each in chat]


def _chat(message: pm.ModelMessage) -> Iterator[Chat]:
    """Instructions and system prompts are left out: they stay in front of the page."""
    if isinstance(message, pm.ModelResponse):
        yield {"role": "assistant", "content": [part for each in message.parts for part in _response_parts(each)]}
        return
    for part in message.parts:
        if isinstance(part, pm.UserPromptPart):
            yield {"role": "user", "content": _prompt(part.content)}
        elif isinstance(part, pm.BaseToolReturnPart):
            yield _result(part, part.model_response_str(), "" if part.outcome == "success" else "error")
        elif isinstance(part, pm.RetryPromptPart) and part.tool_name:
            yield _result(part, part.model_response(), "error")
        elif isinstance(part, pm.RetryPromptPart):
            yield {"role": "system", "content": part.model_response()}


def _prompt(content: str | Sequence[pm.UserContent]) -> Any:
    if isinstance(content, str):
        return content
    return [part for each in content for part in _parts(each)] or content


def _result(part: pm.BaseToolReturnPart | pm.RetryPromptPart, content: str, status: str) -> Chat:
    return {"role": "tool", "name": part.tool_name, "tool_call_id": part.tool_call_id, "content": content, "status": status}


def _response_parts(part: pm.ModelResponsePart) -> Iterator[Chat]:
    if isinstance(part, pm.TextPart):
        yield {"type": "text", "text": part.content}
    elif isinstance(part, pm.ThinkingPart):
        yield {"type": "thinking", "thinking": part.content, "id": part.id}
    elif isinstance(part, pm.BaseToolCallPart):
        kind = "function_call" if isinstance(part, pm.ToolCallPart) else "server_tool_use"
        yield {"type": kind, "call_id": part.tool_call_id, "name": part.tool_name, "arguments": part.args_as_json_str()}
    elif isinstance(part, pm.BaseToolReturnPart):
        yield {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": part.model_response_str()}
    elif isinstance(part, pm.FilePart):
        yield from _parts(part.content)
    else:
        yield {"type": part.part_kind}


def _parts(content: pm.UserContent) -> Iterator[Chat]:
    url = getattr(content, "data_uri", "") or getattr(content, "url", "")
    if isinstance(content, str | pm.TextContent):
        yield {"type": "text", "text": content if isinstance(content, str) else content.content}
    elif url:
        kind = "image_url" if isinstance(content, pm.ImageUrl) or getattr(content, "is_image", False) else "file"
        yield {"type": kind, kind: {"url": url}}


def _messages(page: Sequence[Chat]) -> Iterator[pm.ModelMessage]:
    tools = {call["id"]: call["function"]["name"] for message in page for call in message.get("tool_calls") or ()}
    for message in page:
        role, content = message["role"], message["content"] or ""
        if role == "assistant":
            yield _response(message)
        elif role == "tool":
            name = message["tool_call_id"]
            yield pm.ModelRequest(parts=[pm.ToolReturnPart(tools[name], content, tool_call_id=name)])
        else:
            texts = [] if isinstance(content, str) else [_content(part) for part in content]
            prompt: Any = pm.SystemPromptPart if role == "system" else pm.UserPromptPart
            yield pm.ModelRequest(parts=[prompt(texts or content)])


def _response(message: Chat) -> pm.ModelResponse:
    content = message["content"] or ""
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    parts: list[pm.ModelResponsePart] = [pm.TextPart(text)] if text else []
    for call in message.get("tool_calls") or ():
        function = call["function"]
        parts += (pm.ToolCallPart(function["name"], function["arguments"], tool_call_id=call["id"]),)
    return pm.ModelResponse(parts=parts)


def _content(part: Chat) -> str | pm.ImageUrl:
    return part["text"] if part["type"] == "text" else pm.ImageUrl(part["image_url"]["url"])
