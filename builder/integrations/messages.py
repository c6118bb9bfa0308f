"""Chat messages as those of OpenAI: `{"role", "content", "tool_calls", "tool_call_id"}`, and the stored records that they are.

A tool's may have its `name`, and the `status` "error".
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, takewhile
from json import dumps
from typing import Any

from builder.client import BreadcrumbRecord, Rejected
from builder.client.omitted import output_text
from builder.client.replying import read_reply
from builder.client.responses import request_id
from builder.client.sync import SyncClient
from builder.domain.json_values import JsonObject

USER, RESPONSE, RESULT, FAILURE = "user.message.v1", "agent.response.v1", "tool.response.v1", "tool.error.v1"


def is_of_system(body: Mapping[str, Any]) -> bool:
    """Whether it is a system message within a conversation. A display name says nothing: an agent may have any."""
    creator = body.get("creator")
    return isinstance(creator, Mapping) and creator.get("type") == "system"


def fetched(client: SyncClient, identity: str) -> BreadcrumbRecord | None:
    """None = there is none that can be handed out. Raises `Unavailable`."""
    try:
        return client.fetch(identity)
    except Rejected:
        return None


def identity_of(*names: object) -> str:
    """The same id for the same names, and for no others."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, dumps(list(map(str, names)))))


def chat_message(record: BreadcrumbRecord) -> JsonObject:
    """A stored message as it was said."""
    body = record.body
    if record.schema == USER:
        return {"role": "user", "content": body.get("content", record.text)}
    if record.schema != RESPONSE:
        returned = next((body[name] for name in ("output", "error") if body.get(name) is not None), record.text)
        return {"role": "tool", "content": output_text(returned), "tool_call_id": request_id(body)}
    if is_of_system(body):
        return {"role": "system", "content": record.text}
    calls = [tool_call(request_id(call), call["tool"], call.get("input")) for call in body.get("tool_requests") or ()]
    content = body.get("message", record.text)
    words = content if isinstance(content, str) else read_reply({"content": content}).text
    return {"role": "assistant", "content": words} | ({"tool_calls": calls} if calls else {})


def number_there(records: Iterable[BreadcrumbRecord], bodies: Sequence[tuple[str, JsonObject]]) -> int:
    """How many of the first bodies are the last records. records: the newest first."""
    there = [_words(record.schema, record.body) for record in islice(records, len(bodies))][::-1]
    added = [_words(schema, body) for schema, body in bodies]
    return next(number for number in range(len(there), -1, -1) if there[len(there) - number :] == added[:number])


def number_alike(records: Iterable[BreadcrumbRecord], bodies: Iterable[tuple[str, JsonObject]]) -> int:
    """How many of the first records are the first bodies. records: the oldest first."""
    pairs = zip(records, bodies, strict=False)
    return len(list(takewhile(lambda pair: _words(pair[0].schema, pair[0].body) == _words(*pair[1]), pairs)))


def _words(schema: str, body: Mapping[str, Any]) -> object:
    """To compare it by."""
    return schema, [body.get(name) for name in ("content", "message", "tool_requests", "output", "error", "request_id")]


def tool_call(identity: str, tool: str, arguments: Any) -> JsonObject:
    """As an assistant's message has it."""
    return {"id": identity, "type": "function", "function": {"name": tool, "arguments": text_of(arguments)}}


def text_of(value: Any) -> str:
    """A text as it is, all else as JSON."""
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)
