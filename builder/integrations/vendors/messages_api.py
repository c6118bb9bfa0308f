"""Anthropic's messages: a request with the page, and the answer of a response or a stream."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from builder.domain.context import OPENING
from builder.domain.json_values import JsonObject
from builder.integrations.vendors.calls import Protocol
from builder.integrations.vendors.turns import Chat

Block = JsonObject
THOUGHTS = frozenset({"thinking", "redacted_thinking"})
DATA_URL = "data:"


def conversation(body: Mapping[str, Any]) -> Chat:
    """The messages without the beginning of an answer."""
    messages = list(body["messages"])
    return messages[: len(messages) - len(_beginning(body))]


def with_page(body: Mapping[str, Any], page: Chat) -> JsonObject:
    """The request with the page; thoughts stay in front of the calls that they led to, as the vendor asks for."""
    thoughts = dict(_thoughts(body["messages"]))
    system = [{"type": "text", "text": message["content"]} for message in page if message["role"] == "system"]
    messages: list[JsonObject] = []
    for role, blocks in ((_role(each), _blocks(each, thoughts)) for each in page if each["role"] != "system"):
        if not messages and role == "assistant":
            messages.append({"role": "user", "content": [{"type": "text", "text": OPENING}]})
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    prompt = body.get("system")
    front = [{"type": "text", "text": prompt}] if isinstance(prompt, str) else [*(prompt or ())]
    return {**body, **({"system": [*front, *system]} if system else {}), "messages": [*messages, *_beginning(body)]}


def answer(response: Mapping[str, Any]) -> JsonObject:
    """The message of a response; {} = it says nothing."""
    content = response.get("content")
    return {"role": "assistant", "content": content} if content else {}


class Assembly:
    """The message of a stream."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._inputs: dict[int, str] = {}

    def add(self, event: Mapping[str, Any]) -> bool:
        """Whether the answer is whole now."""
        kind = event.get("type")
        if kind == "content_block_start":
            self._blocks.append(dict(event["content_block"]))
        elif kind == "content_block_delta":
            delta, block = event["delta"], self._blocks[event["index"]]
            if "partial_json" in delta:
                self._inputs[event["index"]] = self._inputs.get(event["index"], "") + delta["partial_json"]
            for name in {"text", "thinking", "signature"} & delta.keys():
                block[name] = (block.get(name) or "") + delta[name]
        return kind == "message_stop"

    def answer(self) -> JsonObject:
        """Its message."""
        for number, text in self._inputs.items():
            with suppress(ValueError):  # cut off by the limit of tokens
                self._blocks[number]["input"] = json.loads(text or "{}")
        return answer({"content": self._blocks})


def _beginning(body: Mapping[str, Any]) -> Chat:
    messages = list(body["messages"])[-1:]
    return messages if messages and messages[0]["role"] == "assistant" else []


def _thoughts(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Block]]]:
    """Id of the first call of a message → its thoughts."""
    for message in messages:
        content = message["content"] if isinstance(message["content"], list) else []
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        if message["role"] == "assistant" and calls:
            yield calls[0], [block for block in content if block["type"] in THOUGHTS]


def _role(message: Mapping[str, Any]) -> str:
    return "assistant" if message["role"] == "assistant" else "user"


def _blocks(message: Mapping[str, Any], thoughts: Mapping[str, list[Block]]) -> list[Block]:
    content = message["content"] or []
    if message["role"] == "tool":
        result = [{"type": "text", "text": content}] if content else []
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": result}]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else [_part(part) for part in content]
    calls = message.get("tool_calls") or ()
    uses = [{"type": "tool_use", "id": each["id"], **_use(each["function"])} for each in calls]
    return [*(thoughts.get(uses[0]["id"], ()) if uses else ()), *parts, *uses]


def _use(function: Mapping[str, Any]) -> Block:
    return {"name": function["name"], "input": json.loads(function["arguments"])}


def _part(part: Mapping[str, Any]) -> Block:
    if part["type"] != "image_url":
        return {"type": "text", "text": part["text"]}
    url = part["image_url"]["url"]
    if not url.startswith(DATA_URL):
        return {"type": "image", "source": {"type": "url", "url": url}}
    media, _, data = url.removeprefix(DATA_URL).partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}


MESSAGES = Protocol(
    resources=(("messages",), ("beta", "messages")),
    path="/v1/messages",
    conversation=conversation,
    with_page=with_page,
    answer=answer,
    assembly=Assembly,
)
