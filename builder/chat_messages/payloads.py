"""The messages in a whole value of any vendor: a message, a conversation, a request with its history, an answer."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from builder.chat_messages.messages import is_message

REQUEST_FIELDS = (
    "messages",
    "chat_history",
    "history",
    "contents",
    "input",
    "prompt",
    "items",
    "data",
    "params",
    "body",
    "request",
)
"""Fields with what a model is given, or with another payload that has it."""
ANSWER_FIELDS = (
    "output", "outputs", "preferred_output", "chosen", "completion", "choices", "candidates", "message", "response", "result",
)  # fmt: skip
"""Fields with what it gave back, or with another payload that has it; of several answers the first counts."""
_TEXTS = {"contents": "user", "input": "user", "prompt": "user", "message": "user", "response": "assistant"}
"""Fields that may be a text → whose it is."""
_MODEL = frozenset({"model", "chat_history"})
_NEIGHBOURS = {"message": frozenset({"chat_history"})}
"""Beside which fields such a text is a message, where it is not one of `_MODEL`."""
_ENDS = frozenset({"finishReason", "finish_reason", "toolCalls", "toolResults"})
"""Fields of an answer that is a message without a role."""
MAX_DEPTH = 4
"""Levels of payloads in payloads."""


class Payload(NamedTuple):
    """The content of a value."""

    request: list[Any]
    """Messages that a model was given."""
    answer: list[Any]
    """Messages that it gave back; a message alone is one of these."""

    @property
    def messages(self) -> list[Any]:
        """All, in their order."""
        return [*self.request, *self.answer]


def payload_of(value: Any, depth: int = MAX_DEPTH) -> Payload | None:
    """None = it holds no message."""
    if not isinstance(value, dict) or "schema_name" in value or not depth:
        return None
    if is_message(value) and not isinstance(value.get("messages"), list):
        return Payload([], [value])
    payload = Payload(list(_messages(value, REQUEST_FIELDS, depth)), list(_messages(value, ANSWER_FIELDS, depth)))
    if not payload.answer and _ENDS & value.keys():
        payload.answer.append({"role": "assistant", **value})
    return payload if payload.request or payload.answer or isinstance(value.get("messages"), list) else None


def _messages(value: Mapping[str, Any], names: tuple[str, ...], depth: int) -> Iterator[Any]:
    for name in names:
        field = value.get(name)
        if isinstance(field, list):
            yield from _of_list(name, field)
        elif isinstance(field, dict):
            inner = payload_of(field, depth - 1)
            yield from inner.messages if inner else ()
        elif isinstance(field, str) and name in _TEXTS and not _NEIGHBOURS.get(name, _MODEL).isdisjoint(value):
            yield {"role": _TEXTS[name], "content": field}


def _of_list(name: str, items: list[Any]) -> Iterator[Any]:
    if name in {"choices", "candidates"}:
        yield from _of_choice(items[0] if items else None)
    elif name == "messages":
        yield from items
    elif name == "contents":
        yield from ({"role": "user", **item} if isinstance(item, dict) else item for item in items)
    elif any(map(is_message, items)) and all(isinstance(item, dict) and not {"role", "type"}.isdisjoint(item) for item in items):
        yield from (item if is_message(item) else {"role": "assistant", "content": [item]} for item in items)


def _of_choice(choice: Any) -> Iterator[Any]:
    fields = choice if isinstance(choice, dict) else {}
    message = next((fields[name] for name in ("message", "content", "delta", "text") if fields.get(name)), None)
    if message is not None:
        yield {"role": "assistant", **(message if isinstance(message, dict) else {"content": message})}
