"""Memories of other frameworks on the client without `await`: each module translates, every rule is the service's.

Chat messages here are those of OpenAI: `{"role", "content", "tool_calls", "tool_call_id"}`. A tool's may have its `name`, and
the `status` "error".
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from json import dumps
from typing import Any

from builder.client import BreadcrumbRecord, Rejected
from builder.client.responses import request_id
from builder.client.sync import SyncClient
from builder.client.tools import read_reply

USER, RESPONSE, RESULT, FAILURE = "user.message.v1", "agent.response.v1", "tool.response.v1", "tool.error.v1"
AT_ONCE = 20
"""Stored messages of a request: the newest one or a few are wanted."""
CONSUMER = "framework"
"""A bundled profile: the default page as chat messages, published for nobody."""


@dataclass(frozen=True)
class Conversation:
    """A session, spoken in by one user. All methods raise `Rejected` and `Unavailable`."""

    client: SyncClient
    session: str
    user_id: str = ""
    consumer: str = CONSUMER

    def add(self, message: Mapping[str, Any], question: str = "", identity: str = "") -> str:
        """Publish a chat message; returns its id. question: id of the user message that it belongs to, default the newest."""
        if message["role"] == "user":
            return self.client.send_user_message(self.session, message["content"], user_id=self.user_id, message_id=identity)
        if message["role"] == "tool":
            tool, output = message.get("name") or "tool", message["content"]
            error = output if message.get("status") == "error" else None
            return self.client.send_tool_result(
                self.session, tool, message["tool_call_id"], output, error=error, message_id=identity
            )
        reply, agent = read_reply(message), self.client.consumer(self.consumer).agent or self.consumer
        body: dict[str, Any] = {"message": reply.text, "speaker": "Assistant", "creator": {"type": "agent", "agent_id": agent}}
        body |= {"tool_requests": list(reply.tool_requests)} if reply.tool_requests else {}
        body |= {"trigger_event_id": question} if (question := question or self.question()) else {}
        return self.client.send(RESPONSE, body, session=self.session, id=identity)

    def keep(self, messages: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Publish what comes after the newest stored one. messages: ids and chat messages, all of a conversation."""
        stored = next((number for number in range(len(messages), 0, -1) if fetched(self.client, messages[number - 1][0])), 0)
        question = ""
        for number, (identity, message) in enumerate(messages):
            question = identity if message["role"] == "user" else question
            if number >= stored:
                self.add(message, question, identity)

    def page(self) -> list[dict[str, Any]]:
        """Chat messages of the page as of now: they end with the newest question, results of a turn, or answer."""
        for record in self.records():
            if record.schema == USER:
                return self._page(record)
            if record.schema == RESPONSE and not record.body.get("tool_requests"):
                return [*self._page(record)[:-1], chat_message(record)]
            if record.schema != RESPONSE:
                with suppress(Rejected):  # of calls that are still open: then the page is that of their question
                    return self._page(record)
        return []

    def records(self) -> Iterator[BreadcrumbRecord]:
        """The stored messages, the newest first."""
        records = self.client.history(self.session, newest=True, at_once=AT_ONCE)
        return (record for record in records if record.schema in {USER, RESPONSE, RESULT, FAILURE})

    def question(self) -> str:
        """Id of the newest user message; "" = none."""
        return next((record.id for record in self.records() if record.schema == USER), "")

    def clear(self) -> None:
        """Erase every message."""
        for record in list(self.records()):
            self.client.forget(record.id, session=self.session, by=self.consumer)

    def _page(self, trigger: BreadcrumbRecord) -> list[dict[str, Any]]:
        return self.client.page(self.session, trigger.id, consumer=self.consumer).messages


def fetched(client: SyncClient, identity: str) -> BreadcrumbRecord | None:
    """None = there is none that can be handed out. Raises `Unavailable`."""
    try:
        return client.fetch(identity)
    except Rejected:
        return None


def identity_of(*names: object) -> str:
    """The same id for the same names."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\0".join(map(str, names))))


def chat_message(record: BreadcrumbRecord) -> dict[str, Any]:
    """A stored message as it was said."""
    body = record.body
    if record.schema == USER:
        return {"role": "user", "content": body.get("content", record.text)}
    if record.schema != RESPONSE:
        return {"role": "tool", "content": text_of(body.get("output", record.text)), "tool_call_id": request_id(body)}
    calls = [tool_call(request_id(call), call["tool"], call.get("input")) for call in body.get("tool_requests") or ()]
    return {"role": "assistant", "content": body.get("message", record.text)} | ({"tool_calls": calls} if calls else {})


def tool_call(identity: str, tool: str, arguments: Any) -> dict[str, Any]:
    """As an assistant's message has it."""
    return {"id": identity, "type": "function", "function": {"name": tool, "arguments": text_of(arguments)}}


def text_of(value: Any) -> str:
    """A text as it is, all else as JSON."""
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)
