"""A model's reply, as its vendor's message or whole answer: words, calls to run, and work of the vendor's own tools."""

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from builder.chat_messages.bodies import Conversation
from builder.chat_messages.messages import Message, message_of
from builder.chat_messages.payloads import payload_of
from builder.domain.errors import Rejected
from builder.domain.json_text import shape
from builder.domain.json_values import JsonObject
from builder.wire.items import CONTENTS
from builder.wire.parts import Call, Mark, Part, Result, Thought
from builder.wire.tool_parts import first_of
from builder.wire.words import words_of

SHAPES = "give a message of OpenAI or Anthropic or Gemini or LangChain or Vercel (dict or object), a whole answer, or a text"
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "context-builder/reply")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply."""

    text: str
    tool_requests: tuple[JsonObject, ...]
    """{tool, input, requestId} each, as `agent.response.v1` has them."""
    reasoning: str = ""
    """The model's thoughts."""
    server_tools: tuple[JsonObject, ...] = ()
    """{tool, input, output} of each call that the vendor ran itself."""


def reply_of(reply: Any, scope: str = "") -> Reply:
    """Read a reply; a call listed twice counts once. scope: makes ids for calls without one unique. Raises `Rejected`."""
    if isinstance(reply, str):
        return Reply(reply, ())
    parts = [part for message in _messages(reply) for part in message.parts]
    requests, ran = _calls(parts, scope)
    spoken = [Mark("") if isinstance(part, Call | Result | Thought | Mark) else part for part in parts]
    thoughts = [part.text for part in parts if isinstance(part, Thought)]
    return Reply(words_of(spoken, is_answer=True), requests, "\n".join(thoughts), ran)


def _messages(reply: Any) -> list[Message]:
    payload = payload_of(reply)
    values = (payload.answer or payload.request) if payload else []
    if not payload and isinstance(reply, Mapping):
        values = [{"role": "assistant", **reply}]
    try:
        messages = list(map(message_of, values))
    except Rejected as error:
        raise Rejected(f"the reply is {shape(reply)}: {error}; {SHAPES}") from error
    if not messages or not (payload or messages[0].items or messages[0].files or first_of(reply, CONTENTS) is not None):
        raise Rejected(f"the reply is {shape(reply)} without words of a model; {SHAPES}")
    return messages


Calls = tuple[JsonObject, ...]


def _calls(parts: Iterable[Part], scope: str) -> tuple[Calls, Calls]:
    """Calls to run, and those that the vendor ran."""
    work = [part for part in parts if isinstance(part, Call | Result)]
    signatures = json.dumps([(part.tool, part.arguments) for part in work if isinstance(part, Call)], default=str)
    conversation = Conversation("", prefix=f"call_{uuid.uuid5(NAMESPACE, f'{scope} {signatures}').hex[:16]}", messages=1)
    requests: dict[str, JsonObject] = {}
    server: dict[str, JsonObject] = {}
    for part in work:
        if isinstance(part, Call):
            target = server if part.is_remote else requests
            target |= {request["requestId"]: request for request in conversation.open(part)}
            continue
        tool, name = conversation.answered(part)
        request = requests.pop(name) if name in requests else server.get(name, {"tool": tool})
        server[name or f"result {len(server)}"] = request | {"output": part.output} | ({"failed": True} if part.failed else {})
    ran = ({key: value for key, value in each.items() if key != "requestId"} for each in server.values())
    return tuple(requests.values()), tuple(ran)
