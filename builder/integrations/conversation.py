"""A session of one user, published as a framework tells it and read as the page."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from builder.client import BreadcrumbRecord, Rejected
from builder.client.sync import SyncClient
from builder.integrations.messages import FAILURE, RESPONSE, RESULT, USER, chat_message, fetched, identity_of, response_body

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

    def add(self, message: Mapping[str, Any]) -> str:
        """Publish a chat message; returns its id."""
        return self._publish(message, self.question(), "")

    def keep(self, messages: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Publish what comes after the newest one that was ever published, erased since or not.

        messages: all of the framework's conversation, each with its name, unique in the session.
        """
        question = self.question()
        ids = [identity_of(self.session, name) for name, _ in messages]
        stored = next((number for number in range(len(ids), 0, -1) if self._was_kept(ids[number - 1])), 0)
        for number, (identity, (_, message)) in enumerate(zip(ids, messages, strict=True)):
            question = identity if message["role"] == "user" else question
            if number >= stored:
                self._publish(message, question, identity)
        if stored < len(ids):
            mark = identity_of(MARK, ids[-1])
            self.client.send(MARK, {"last": ids[-1]}, session=MARK_SESSION, id=mark, ttl=MARK_LIFETIME)

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

    def _publish(self, message: Mapping[str, Any], question: str, identity: str) -> str:
        if message["role"] == "user":
            return self.client.send_user_message(self.session, message["content"], user_id=self.user_id, message_id=identity)
        if message["role"] == "tool":
            tool, call, output = message.get("name") or "tool", message["tool_call_id"], message["content"]
            error = output if message.get("status") == "error" else None
            return self.client.send_tool_result(self.session, tool, call, output, error=error, message_id=identity)
        body = response_body(message, self.client.consumer(self.consumer).agent or self.consumer, question)
        return self.client.send(RESPONSE, body, session=self.session, id=identity)

    def _was_kept(self, identity: str) -> bool:
        return any(fetched(self.client, each) for each in (identity, identity_of(MARK, identity)))

    def _page(self, trigger: BreadcrumbRecord) -> list[dict[str, Any]]:
        return self.client.page(self.session, trigger.id, consumer=self.consumer).messages
