"""A session of one user, published as a framework tells it and read as the page."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from builder.client import BreadcrumbRecord, Rejected
from builder.client.reading import ChatReader
from builder.client.responses import request_id
from builder.client.sync import SyncClient
from builder.domain.json_values import JsonObject
from builder.integrations.messages import (
    FAILURE,
    RESPONSE,
    RESULT,
    USER,
    chat_message,
    fetched,
    identity_of,
    is_of_system,
    number_alike,
    number_there,
)

UNNAMED = "tool"
"""The tool of a result whose call is not known."""

AT_ONCE = 20
"""Stored messages of a request: the newest one or a few are wanted."""
CONSUMER = "framework"
"""A bundled profile: the default page as chat messages, published for nobody."""
MARK, MARK_SESSION, MARK_LIFETIME = "conversation.kept.v1", "framework:kept", timedelta(days=36_500)
"""A mark at a message: all up to it were published. It holds ids only, and outlives their erasure."""


@dataclass(frozen=True)
class Conversation:
    """A session of one user. All methods raise `Rejected`, also if another user has spoken in it, and `Unavailable`."""

    client: SyncClient
    session: str
    user_id: str = ""
    """"" = not told: of whoever speaks in it."""
    consumer: str = CONSUMER

    def add(self, *messages: Mapping[str, Any], once: bool = False) -> None:
        """Publish chat messages of any vendor; a system message only where one comes before. once: those that are there stay."""
        reader = ChatReader(is_new=next(self.records(), None) is None)
        bodies = [body for message in messages for body in reader.read(message)]
        self._publish_all(bodies[number_there(self.records(), bodies) if once else 0 :])

    def replace(self, *messages: Mapping[str, Any], by: str) -> None:
        """Erase what differs from these messages, and publish what comes after the others."""
        reader, there = ChatReader(), list(self.records())[::-1]
        bodies = [body for message in messages for body in reader.read(message)]
        same = number_alike(there, bodies)
        for record in reversed(there[same:]):
            self.client.forget(record.id, by=by)
        self._publish_all(bodies[same:])

    def keep(self, messages: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Publish what comes after the newest one that was ever published, erased since or not.

        messages: all of the framework's conversation, each with its name, unique in the session.
        """
        reader, question = ChatReader(), self.question()
        records: list[tuple[str, str, JsonObject]] = []
        for name, message in messages:
            for number, (schema, body) in enumerate(reader.read(message)):
                records.append((identity_of(self.session, name, *([number] if number else [])), schema, body))
        stored = next((number for number in range(len(records), 0, -1) if self._was_kept(records[number - 1][0])), 0)
        for number, (identity, schema, body) in enumerate(records):
            question = identity if schema == USER else question
            if number >= stored:
                self.publish(schema, body, question, identity)
        if stored < len(records):
            mark = identity_of(MARK, records[-1][0])
            self.client.send(MARK, {"last": records[-1][0]}, session=MARK_SESSION, id=mark, ttl=MARK_LIFETIME)

    def page(self) -> list[JsonObject]:
        """Chat messages of the page as of now: they end with the newest question, results of a turn, or answer."""
        for record in self.records():
            if record.schema == USER:
                return self.page_of(record.id)
            if record.schema == RESPONSE and not record.body.get("tool_requests"):
                return [*self.page_of(record.id)[:-1], chat_message(record)]
            if record.schema != RESPONSE:
                with suppress(Rejected):  # of calls that are still open: then the page is that of their question
                    return self.page_of(record.id)
        return []

    def page_of(self, message: str) -> list[JsonObject]:
        """Chat messages of the page that a message asks for. message: its id. `Rejected`, too, where a call is open."""
        return self.client.page(self.session, message, consumer=self.consumer).messages

    def records(self) -> Iterator[BreadcrumbRecord]:
        """The stored messages, the newest first."""
        turn = []
        for record in self.client.history(self.session, newest=True, at_once=AT_ONCE):
            turn += [record] if record.schema in {USER, RESPONSE, RESULT, FAILURE} else []
            if record.schema == USER:
                if len({self.user_id, record.user_id} - {"", None}) > 1:
                    raise Rejected(f"session {self.session!r} is that of {record.user_id!r}; give {self.user_id!r} another one")
                yield from turn
                turn = []
        yield from turn

    def question(self) -> str:
        """Id of the newest user message; "" = none."""
        return next((record.id for record in self.records() if record.schema == USER), "")

    def clear(self) -> None:
        """Erase every message."""
        for record in list(self.records()):
            self.client.forget(record.id, session=self.session, by=self.consumer)

    @cached_property
    def agent(self) -> str:
        """Name of the agent that answers here; no other one of the service does."""
        return self.client.consumer(self.consumer).agent or self.consumer

    def _publish_all(self, bodies: Sequence[tuple[str, JsonObject]]) -> None:
        question = self.question()
        for schema, body in bodies:
            identity = self.publish(schema, body, question)
            question = identity if schema == USER else question

    def publish(self, schema: str, body: JsonObject, question: str, identity: str = "") -> str:
        """One message; returns its id. question: id of the user's message that it belongs to, "" = none."""
        if schema == RESULT and body["tool"] == UNNAMED:
            body = body | {"tool": self._tool_of(body["request_id"])}
        if schema == RESPONSE and not is_of_system(body):
            body = {"speaker": "Assistant", **body, "creator": {"type": "agent", "agent_id": self.agent}}
            body |= {"trigger_event_id": question} if question else {}
        if schema != USER:
            return self.client.send(schema, body, session=self.session, id=identity)
        return self.client.send(schema, body, session=self.session, id=identity, user_id=self.user_id, to=self.agent)

    def _tool_of(self, request: str) -> str:
        for record in self.records() if request else ():
            for call in record.body.get("tool_requests") or ():
                if request_id(call) == request:
                    return str(call["tool"])
        return UNNAMED

    def _was_kept(self, identity: str) -> bool:
        return any(fetched(self.client, each) for each in (identity, identity_of(MARK, identity)))
