"""OpenAI's chat completions: a request with the page, and the answer of a response or a stream."""

from collections.abc import Mapping
from itertools import dropwhile
from typing import Any

from builder.domain.json_values import JsonObject
from builder.integrations.vendors.calls import Protocol
from builder.integrations.vendors.turns import Chat

PROMPT = frozenset({"system", "developer"})
ONCE = frozenset({"role", "type", "id", "name", "index"})
"""Fields that a stream says once, or again and again."""


def conversation(body: Mapping[str, Any]) -> Chat:
    """The messages after the prompt, without the beginning of an answer."""
    messages = list(dropwhile(lambda message: message["role"] in PROMPT, body["messages"]))
    return messages[: len(messages) - len(_beginning(body))]


def with_page(body: Mapping[str, Any], page: Chat) -> JsonObject:
    """The request with the page between its prompt and the beginning of an answer."""
    messages = body["messages"]
    prompt = messages[: next((number for number, each in enumerate(messages) if each["role"] not in PROMPT), len(messages))]
    return {**body, "messages": [*prompt, *page, *_beginning(body)]}


def answer(response: Mapping[str, Any]) -> JsonObject:
    """The message of the first choice; {} = none."""
    choices = response.get("choices") or ()
    fields = choices[0]["message"].items() if choices else ()
    message = {name: value for name, value in fields if value is not None and name != "parsed"}
    return {**message, "content": message.get("content") or message.get("refusal")} if message else {}


class Assembly:
    """The first choice of a stream."""

    def __init__(self) -> None:
        self.message: JsonObject = {}

    def add(self, piece: Mapping[str, Any]) -> bool:
        """Whether the answer is whole now."""
        choices = [choice for choice in piece.get("choices") or () if not choice.get("index")]
        for choice in choices:
            _merge(self.message, choice.get("delta") or {})
        return any(choice.get("finish_reason") for choice in choices)

    def answer(self) -> JsonObject:
        """Its message."""
        return answer({"choices": [{"message": self.message}]})


def _merge(whole: JsonObject, delta: Mapping[str, Any]) -> None:
    for name, value in delta.items():
        if isinstance(value, list):
            there = whole.setdefault(name, [])
            for number, item in enumerate(value):
                index = item.get("index", number)
                there += ({} for _ in range(index + 1 - len(there)))
                _merge(there[index], item)
        elif isinstance(value, dict):
            _merge(whole.setdefault(name, {}), value)
        elif isinstance(value, str) and name not in ONCE:
            whole[name] = whole.get(name, "") + value
        elif value is not None:
            whole[name] = value or whole.get(name, value)


def _beginning(body: Mapping[str, Any]) -> Chat:
    """The beginning of the answer, which the model continues."""
    messages = body["messages"][-1:]
    return messages if messages and messages[0]["role"] == "assistant" and not messages[0].get("tool_calls") else []


CHAT_COMPLETIONS = Protocol(
    resources=(("chat", "completions"),),
    path="/chat/completions",
    conversation=conversation,
    with_page=with_page,
    answer=answer,
    assembly=Assembly,
)
