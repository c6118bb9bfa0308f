"""What OpenAI (both APIs) and Anthropic refuse, written from their public documentation alone: broken rules are returned."""

import base64
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Json = dict[str, Any]
PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}


def broken_by_openai(messages: list[Json]) -> list[str]:
    """Rules of chat completions that these messages break."""
    return list(_openai(messages))


def _openai(messages: list[Json]) -> Iterator[str]:
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting or not isinstance(message["content"], str):
                yield "a tool message has text, and answers a tool call of the assistant message before it, once"
            waiting = [call for call in waiting if call != message["tool_call_id"]]
            continue
        if waiting:
            yield f"an assistant message with tool_calls must be followed by tool messages for {waiting}"
        yield from _openai_message(message)
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        if len(waiting) != len(set(waiting)):
            yield f"a call has an id of its own: {waiting}"
    if waiting:
        yield "calls without an answer at the end"


def _openai_message(message: Json) -> Iterator[str]:
    role, content, calls = message["role"], message.get("content"), message.get("tool_calls")
    if role not in {"system", "user", "assistant"} or set(message) - {"role", "content", "tool_calls"}:
        yield f"unknown role or field: {message}"
    if not content and not calls:
        yield f"content is needed: {message}"
    if calls is not None and (role != "assistant" or not calls):
        yield "tool_calls belong to the assistant, and are not empty"
    for call in calls or ():
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        if call["type"] != "function" or len(call["id"]) > 40 or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
            yield f"not a call: {call}"
        if not isinstance(arguments, dict):
            yield "arguments are a JSON object as text"
    if isinstance(content, list):
        yield from _openai_parts(role, content)


def _openai_parts(role: str, parts: list[Json]) -> Iterator[str]:
    for part in parts:
        if part["type"] == "image_url" and role == "user":
            url = part["image_url"]["url"]
            if not re.match(r"https://|data:image/(png|jpeg|gif|webp);base64,", url):
                yield f"no image address: {url[:40]}"
        elif part["type"] != "text" or not part["text"]:
            yield f"not a part of a {role} message: {part}"


ITEMS = {
    "message": {"type", "role", "content"},
    "function_call": {"type", "call_id", "name", "arguments"},
    "function_call_output": {"type", "call_id", "output"},
}
"""Types of input items, and the fields that one without an id of the API has."""


def broken_by_responses(messages: list[Json]) -> list[str]:
    """Rules of the Responses API that these input items break."""
    return list(_responses(messages))


def _responses(items: list[Json]) -> Iterator[str]:
    calls: dict[str, bool] = {}
    for item in items:
        kind = item["type"]
        if set(item) != ITEMS.get(kind):
            yield f"unknown type or field: {item}"
        elif kind == "message":
            yield from _responses_message(item)
        elif kind == "function_call":
            if item["call_id"] in calls:
                yield f"a call has an id of its own: {item}"
            calls[item["call_id"]] = False
            yield from _responses_call(item)
        else:
            if calls.get(item["call_id"], True):
                yield f"no tool call found for this function call output, or a second one: {item}"
            calls[item["call_id"]] = True
            yield from _responses_content(item["output"], pictures=True)
    if missing := [name for name, has_output in calls.items() if not has_output]:
        yield f"no tool output found for the function calls {missing}"
    if not items:
        yield "there is an input"


def _responses_message(item: Json) -> Iterator[str]:
    if item["role"] not in {"system", "developer", "user", "assistant"}:
        yield f"unknown role: {item}"
    if item["role"] == "assistant" and not isinstance(item["content"], str):
        yield "an assistant message is text; its parts, output_text, are those of an item with an id"
    yield from _responses_content(item["content"], pictures=item["role"] == "user")


def _responses_call(item: Json) -> Iterator[str]:
    names = re.fullmatch(r".{1,64}", item["call_id"]), re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", item["name"])
    if not all(names) or not isinstance(json.loads(item["arguments"]), dict):
        yield f"not a call: {item}"


def _responses_content(content: str | list[Json], *, pictures: bool) -> Iterator[str]:
    if not content:
        yield "content is needed"
    for part in content if isinstance(content, list) else ():
        if part["type"] == "input_image" and pictures:
            if not re.match(r"https://|data:image/(png|jpeg|gif|webp);base64,", part["image_url"]):
                yield f"no image address: {part['image_url'][:40]}"
        elif part["type"] != "input_text" or not part["text"]:
            yield f"not a part: {part}"


def broken_by_anthropic(system: list[Json], messages: list[Json]) -> list[str]:
    """Rules of the messages API that these break."""
    return list(_anthropic(system, messages))


def _anthropic(system: list[Json], messages: list[Json]) -> Iterator[str]:
    blocks = [*system, *(block for message in messages for block in message["content"])]
    if sum("cache_control" in block for block in blocks) > 4:
        yield "at most 4 blocks with cache_control"
    if any(block.get("cache_control", {"type": "ephemeral"}) != {"type": "ephemeral"} for block in blocks):
        yield "cache_control is ephemeral"
    if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
        yield "text content blocks must contain non-whitespace text"
    if any(block["type"] != "text" for block in system):
        yield "system is text"
    if not messages or messages[0]["role"] != "user":
        yield "first message must use the user role"
    if any(before["role"] == after["role"] for before, after in pairwise(messages)):
        yield "roles must alternate"
    uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if len(uses) != len(set(uses)):
        yield "tool_use ids must be unique"
    for before, message in pairwise([{"role": "user", "content": []}, *messages]):
        yield from _anthropic_message(before, message)
    if any(block["type"] == "tool_use" for block in messages[-1]["content"]):
        yield "tool_use without tool_result at the end"


def _anthropic_message(before: Json, message: Json) -> Iterator[str]:
    types = [block["type"] for block in message["content"]]
    allowed = {"user": {"text", "image", "tool_result"}, "assistant": {"text", "tool_use"}}[message["role"]]
    if not types or set(types) - allowed:
        yield f"a {message['role']} message has {types}"
    answered = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
    asked = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
    if sorted(answered) != sorted(asked):
        yield f"tool_use {asked} must have tool_result blocks immediately after, and only they: {answered}"
    if types[: len(answered)] != ["tool_result"] * len(answered):
        yield "tool_result blocks come first"
    for block in message["content"]:
        yield from _anthropic_block(block)


def _anthropic_block(block: Json) -> Iterator[str]:
    if block["type"] == "tool_use":
        names = re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]), re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", block["name"])
        if not all(names) or not isinstance(block["input"], dict):
            yield f"not a tool use: {block}"
    for part in (block, *block.get("content", ())):
        if part["type"] == "image":
            yield from _source(part["source"])
        elif part["type"] == "text" and not part["text"].strip():
            yield "text content blocks must contain non-whitespace text"


def _source(source: Json) -> Iterator[str]:
    if source["type"] == "base64":
        base64.b64decode(source["data"], validate=True)
        if source["media_type"] not in PICTURES or set(source) != {"type", "media_type", "data"}:
            yield f"not an image source: {source['media_type']}"
    elif source["type"] != "url" or not source["url"].startswith("https://") or set(source) != {"type", "url"}:
        yield "not an image source"
