"""What a client says: breadcrumbs of every schema, checked before they leave as the service would check them."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from nats.aio.client import Client as Connection

from builder.client.publishing import Publishing, PublishResult, as_json, check
from builder.client.requests import Requests
from builder.client.stream import StreamReader
from builder.domain.errors import Rejected
from builder.wire.installation import DEFAULT, Installation
from builder.wire.json import shape
from builder.wire.records import Outgoing, make_record
from builder.wire.session_names import session_token

Lifetime = float | timedelta | datetime
"""How long a breadcrumb lives, in seconds or as a time span, or its end."""
USER_MESSAGE, TOOL_RESPONSE = "user.message.v1", "tool.response.v1"


class Sending(Requests):
    """Publishing is acknowledged by the stream before a method returns, and safe to repeat with the same id."""

    def __init__(self, connection: Connection, workspace: str, installation: Installation = DEFAULT) -> None:
        """connection: open; the caller closes it."""
        super().__init__(connection, workspace, installation)
        self._js = connection.jetstream()
        self._reader = StreamReader(self._js, installation)
        self._publishing = Publishing(connection, self._reader, installation)

    async def send(
        self,
        schema: str,
        body: dict[str, Any],
        *,
        session: str,
        tags: Iterable[str] = (),
        user_id: str = "",
        ttl: Lifetime | None = None,
        id: str = "",  # noqa: A002 - the record's own name for it
        version: int = 1,
        created_at: datetime | None = None,
        memory: bool = True,
    ) -> str:
        """Publish a breadcrumb of any schema; returns its id. Raises `Rejected` for what the service would reject, `Unavailable`.

        body: `context` of the record; schemas/<schema>.json describes the known ones. session: any text, `_` = none. user_id: who
        the person is, in your own system: up to 256 characters without control characters. ttl: default as long as the service
        keeps its kind. id: default a new one. version: one more than the last to replace it; only the first one triggers.
        created_at: default now, in UTC; the offset of a time by another clock is kept, and pages show that clock's day.
        memory: False = the session is kept out of the person's memory.
        """
        identity = id or str(uuid.uuid4())
        event = self._event(
            schema, body, session, identity, tags=tags, user_id=user_id, ttl=ttl, version=version, created_at=created_at,
            memory=memory,
        )  # fmt: skip
        check(event)
        await self._publishing.publish(event, own_clock=created_at is None)
        return identity

    async def send_user_message(
        self,
        session: str,
        content: str,
        *,
        message_id: str = "",
        speaker: str = "",
        user_id: str = "",
        created_at: datetime | None = None,
        tags: Iterable[str] = (),
        ttl: Lifetime | None = None,
        memory: bool = True,
    ) -> str:
        """Publish a `user.message.v1`; returns its id. speaker: the display name. The rest is as in `send`."""
        return await self.send(
            USER_MESSAGE, user_message(content, speaker), session=session, tags=tags, user_id=user_id, ttl=ttl, id=message_id,
            created_at=created_at, memory=memory,
        )  # fmt: skip

    async def send_tool_result(
        self,
        session: str,
        tool: str,
        request_id: str,
        output: Any,
        *,
        error: Any = None,
        message_id: str = "",
        tags: Iterable[str] = (),
        trigger_event_id: str = "",
    ) -> str:
        """Publish a `tool.response.v1`; returns its id. output: any JSON, also of a failed call. error: set = it failed.

        trigger_event_id: id of the response with the call; profiles stop a chain of agents by it (`recursion_limit`).
        """
        body: dict[str, Any] = {"tool": tool, "request_id": request_id, "status": "success" if error is None else "error"}
        body |= {} if error is None else {"error": error}
        body |= {"output": output} if error is None or output is not None else {}
        body |= {"trigger_event_id": trigger_event_id} if trigger_event_id else {}
        return await self.send(TOOL_RESPONSE, body, session=session, tags=tags, id=message_id)

    async def publish(self, event: Outgoing, *, replay: bool = False) -> PublishResult:
        """Publish a message as it is, e.g. a line of an export. replay: remembered, never a trigger.

        Only its size is checked: the service decides whether it can read it. Raises `Rejected` when it is too large, or when
        something else stands in the stream under its id, and `Unavailable`.
        """
        return await self._publishing.publish(event, replay=replay)

    async def stream_created(self) -> str:
        """Creation time of the stream of breadcrumbs: tells a stream from a recreated one. Raises `Unavailable`."""
        return str((await self._reader.info()).created)

    def _event(
        self,
        schema: str,
        body: dict[str, Any],
        session: str,
        identity: str,
        *,
        tags: Iterable[str] = (),
        user_id: str = "",
        ttl: Lifetime | None = None,
        version: int = 1,
        created_at: datetime | None = None,
        memory: bool = True,
    ) -> Outgoing:
        if isinstance(tags, str):
            raise Rejected(f'tags is {shape(tags)}; give a list, as ["urgent"]')
        is_time = created_at is None or isinstance(created_at, datetime)
        record = make_record(
            schema, identity, session_token(session), body, tags=tags, user_id=user_id, ttl=ttl, version=version, memory=memory,
            created_at=created_at if is_time else None,
        )  # fmt: skip
        return as_json(record if is_time else record | {"created_at": created_at}, self.workspace)


def user_message(content: str, speaker: str) -> dict[str, Any]:
    """The body of a `user.message.v1`. speaker: the display name; "" = none."""
    return {"content": content, **({"speaker": speaker} if speaker else {})}
