"""OpenAI's Responses API: a request with the page, and the answer of a response or a stream."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, dropwhile, groupby, takewhile
from typing import Any

from builder.domain.json_values import JsonObject
from builder.integrations.vendors.calls import Protocol
from builder.integrations.vendors.turns import Chat

Item = JsonObject
PROMPT = frozenset({"system", "developer"})
ELSEWHERE = frozenset({"item_reference", "mcp_approval_response"})
"""Items that say nothing without what the vendor has stored."""
SILENT = frozenset({"reasoning", "compaction"})
ENDS = frozenset({"response.completed", "response.incomplete"})


def conversation(body: Mapping[str, Any]) -> Chat:
    """The messages after the prompt; none where the vendor has the history."""
    items = _items(body)
    if body.get("conversation") or ELSEWHERE & {item.get("type") for item in items}:
        return []
    groups = groupby(dropwhile(_is_prompt, items), key=_is_of_model)
    return [message for is_of_model, group in groups for message in ([_message(group)] if is_of_model else group)]


def with_page(body: Mapping[str, Any], page: Chat) -> JsonObject:
    """The request with the page behind its prompt; what the model wrote with its thoughts stays, as the vendor asks for."""
    items, thoughts = _items(body), dict(_thoughts(_items(body)))
    rest = chain.from_iterable(thoughts.get(_calls(_page_items(message))) or _page_items(message) for message in page)
    request = {name: value for name, value in body.items() if name != "previous_response_id"}
    return {**request, "input": [*takewhile(_is_prompt, items), *rest]}


def answer(response: Mapping[str, Any]) -> JsonObject:
    """The message of a response; {} = it says nothing."""
    output = response.get("output") or []
    return _message(output) if any(item["type"] not in SILENT for item in output) else {}


class Assembly:
    """The response of a stream, which its last event has."""

    def __init__(self) -> None:
        self._response: Mapping[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> bool:
        """Whether the answer is whole now."""
        is_end = event.get("type") in ENDS
        if is_end:
            self._response = event["response"]
        return is_end

    def answer(self) -> JsonObject:
        """Its message."""
        return answer(self._response)


def _items(body: Mapping[str, Any]) -> list[Item]:
    content = body.get("input") or []
    return [{"role": "user", "content": content}] if isinstance(content, str) else list(content)


def _is_prompt(item: Mapping[str, Any]) -> bool:
    return item.get("role") in PROMPT


def _is_of_model(item: Mapping[str, Any]) -> bool:
    return item["role"] == "assistant" if "role" in item else not str(item.get("type")).endswith("_output")


def _message(items: Iterable[Mapping[str, Any]]) -> JsonObject:
    """The message that the model wrote in one response."""
    return {"role": "assistant", "content": list(chain.from_iterable(map(_parts, items)))}


def _parts(item: Mapping[str, Any]) -> list[Item]:
    """Without what only the vendor can read."""
    content = item.get("content")
    if "role" not in item:
        return [{name: value for name, value in item.items() if value is not None and name != "encrypted_content"}]
    return [{"type": "output_text", "text": content}] if isinstance(content, str) else list(content or ())


def _calls(items: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(item["call_id"] for item in items if item.get("type") == "function_call")


def _thoughts(items: Iterable[Item]) -> Iterator[tuple[tuple[str, ...], list[Item]]]:
    """Ids of the calls of a response → its items, where it has thoughts."""
    for is_of_model, group in groupby(items, key=_is_of_model):
        output = list(group)
        if is_of_model and any(item.get("type") == "reasoning" for item in output) and (calls := _calls(output)):
            yield calls, output


def _page_items(message: Mapping[str, Any]) -> list[Item]:
    content = message["content"] or []
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": content or ""}]
    frame, calls = {"type": "message", "role": message["role"]}, message.get("tool_calls") or ()
    if message["role"] != "assistant":
        messages = [{**frame, "content": content if isinstance(content, str) else list(map(_part, content))}]
    else:
        texts = [content] if isinstance(content, str) else [part["text"] for part in content]
        messages = [{**frame, "content": text} for text in texts]
    return [*messages, *({"type": "function_call", "call_id": call["id"], **call["function"]} for call in calls)]


def _part(part: Mapping[str, Any]) -> Item:
    if part["type"] != "image_url":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}


RESPONSES = Protocol(
    resources=(("responses",),),
    path="/responses",
    messages="input",
    conversation=conversation,
    with_page=with_page,
    answer=answer,
    assembly=Assembly,
)
