"""Chat messages as those of OpenAI: `{"role", "content", "tool_calls", "tool_call_id"}`, and the stored records that they are.

A tool's may have its `name`, and the `status` "error".
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from json import dumps
from typing import Any

from builder.client import BreadcrumbRecord, Rejected
from builder.client.responses import request_id
from builder.client.sync import SyncClient
from builder.client.tools import read_reply

USER, RESPONSE, RESULT, FAILURE = "user.message.v1", "agent.response.v1", "tool.response.v1", "tool.error.v1"


def fetched(client: SyncClient, identity: str) -> BreadcrumbRecord | None:
    """None = there is none that can be handed out. Raises `Unavailable`."""
    try:
        return client.fetch(identity)
    except Rejected:
        return None


def identity_of(*names: object) -> str:
    """The same id for the same names, and for no others."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, dumps(list(map(str, names)))))


def chat_message(record: BreadcrumbRecord) -> dict[str, Any]:
    """A stored message as it was said."""
    body = record.body
    if record.schema == USER:
        return {"role": "user", "content": body.get("content", record.text)}
    if record.schema != RESPONSE:
        return {"role": "tool", "content": text_of(body.get("output", record.text)), "tool_call_id": request_id(body)}
    calls = [tool_call(request_id(call), call["tool"], call.get("input")) for call in body.get("tool_requests") or ()]
    return {"role": "assistant", "content": body.get("message", record.text)} | ({"tool_calls": calls} if calls else {})


def response_body(message: Mapping[str, Any], agent: str, question: str) -> dict[str, Any]:
    """Of an assistant's message. question: id of the user message that it belongs to, "" = none. Raises `Rejected`."""
    reply = read_reply(message)
    body: dict[str, Any] = {"message": reply.text, "speaker": "Assistant", "creator": {"type": "agent", "agent_id": agent}}
    body |= {"tool_requests": list(reply.tool_requests)} if reply.tool_requests else {}
    return body | ({"trigger_event_id": question} if question else {})


def number_there(records: Iterable[BreadcrumbRecord], messages: Sequence[Mapping[str, Any]]) -> int:
    """How many of the first messages are the last records. records: the newest first."""
    there = [_words(chat_message(record)) for record in islice(records, len(messages))][::-1]
    added = [_words(message) for message in messages]
    return next(number for number in range(len(there), -1, -1) if there[len(there) - number :] == added[:number])


def _words(message: Mapping[str, Any]) -> object:
    """To compare it by: the arguments of its calls may be spaced in another way."""
    if message["role"] == "assistant":
        return read_reply(message)
    return message["role"], text_of(message["content"]), message.get("tool_call_id")


def tool_call(identity: str, tool: str, arguments: Any) -> dict[str, Any]:
    """As an assistant's message has it."""
    return {"id": identity, "type": "function", "function": {"name": tool, "arguments": text_of(arguments)}}


def text_of(value: Any) -> str:
    """A text as it is, all else as JSON."""
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)
