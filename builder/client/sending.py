"""Sends breadcrumbs: checked, published, compared with a stored duplicate."""

import json
import uuid
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict, Unpack

from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js.errors import APIError, NotFoundError

from builder.client.requests import NoService, Requests
from builder.connection.opening import reason, translated
from builder.domain.breadcrumb import NO_SESSION, ORIGIN, TOOL_RESPONSE, USER_MESSAGE, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected, Unavailable
from builder.domain.json_text import shape
from builder.remember.decode import DEFAULT_MAX_BYTES, decode
from builder.wire.records import Outgoing, compared, make_record, outgoing
from builder.wire.subjects import (
    BREADCRUMBS,
    DEFAULT,
    MESSAGE_ID_HEADER,
    REPLAY_HEADER,
    Installation,
    plain_subject,
    session_token,
)
from builder.wire.traces import trace_headers

HEADER_BYTES = 2_048
"""Below the broker's limit."""
EXPECTED_LAST_HEADER = "Nats-Expected-Last-Subject-Sequence"
NO_RESOURCES = 10023
"""JetStream: "insufficient resources"."""
WRONG_LAST_SEQUENCE = 10071
"""JetStream: another message came on this subject."""
Content = str | list[str | dict[str, Any]]
"""A text, or content parts of any vendor."""
Lifetime = float | timedelta | datetime
"""Seconds, a time span, or the end."""


class Fields(TypedDict, total=False):
    """Optional fields of a breadcrumb."""

    tags: Iterable[str]
    user_id: str
    """Your id of the person, up to 256 characters."""
    ttl: Lifetime | None
    """Default by kind."""
    created_at: datetime | None
    """Default now in UTC; pages show its offset's day."""
    memory: bool
    """False = not in the person's memory."""


class MessageFields(Fields, total=False):
    """Optional fields of a user's message."""

    message_id: str
    """Default new."""
    speaker: str
    """Display name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishResult:
    """Position of a breadcrumb in the stream."""

    sequence: int
    duplicate: bool
    """The stream had this id with this content."""


class Conflict(Unavailable):
    """Another message came on the subject since the last read."""


class TakenId(Rejected):
    """The stream has, or had, other content with this id."""


Compare = Callable[[Outgoing, int, bool], Awaitable[dict[str, Any]]]
"""Event, sequence and `own_clock` → the answer to the request `difference`."""


class BreadcrumbStream:
    """The stream, published to; it acknowledges each breadcrumb."""

    def __init__(self, connection: Connection, installation: Installation, compare: Compare) -> None:
        self._connection = connection
        self._js = connection.jetstream()
        self._subject = installation.subject
        self._stream = installation.stream(BREADCRUMBS.upper())
        self._compare = compare

    async def publish(
        self, event: Outgoing, *, replay: bool = False, own_clock: bool = False, last: int | None = None
    ) -> PublishResult:
        """Publish a breadcrumb. replay: never triggers. own_clock: the client set `created_at`.

        Raises `Rejected` if too large or stored with other content, `Conflict` if `last` is wrong, `Unavailable`. last:
        sequence of the subject's newest message (0 = none).
        """
        limit = min(DEFAULT_MAX_BYTES, self._connection.max_payload - HEADER_BYTES)
        if len(event.data) > limit:
            raise Rejected(f"the breadcrumb has {len(event.data):,} bytes, allowed are {limit:,}; send a link to the large part")
        headers = {MESSAGE_ID_HEADER: event.message_id, **({REPLAY_HEADER: "1"} if replay else {}), **trace_headers()}
        if last is not None:
            headers[EXPECTED_LAST_HEADER] = str(last)
        subject = self._subject(event.subject)
        try:
            ack = await self._js.publish(subject, event.data, stream=self._stream, headers=headers)
        except (APIError, NatsError, OSError) as error:
            if isinstance(error, APIError) and error.err_code == WRONG_LAST_SEQUENCE:
                raise Conflict(f"another message came on {subject} meanwhile; send it again") from error
            raise Unavailable(f"publishing on {subject} failed: {_why(error)}") from error
        if ack.duplicate:
            await self.check_same(event, int(ack.seq), own_clock=own_clock)
        return PublishResult(sequence=int(ack.seq), duplicate=bool(ack.duplicate))

    async def check_same(self, event: Outgoing, sequence: int, *, own_clock: bool) -> None:
        """Raises `TakenId` if the stored message differs or is gone, `Unavailable`."""
        answer = await self._compare(event, sequence, own_clock)
        if not answer["is_there"]:
            raise TakenId(
                f"{event.message_id} was not published: the stream had a message with this id, which was deleted since; "
                "take another id"
            )
        if answer["fields"]:
            raise TakenId(
                f"{event.message_id} was not published: the stream already has a breadcrumb with this id, on {answer['subject']} "
                f"as sequence {sequence}, and {answer['fields']} differ; take another id, or publish the next version"
            )


def as_json(record: dict[str, Any], workspace: str) -> Outgoing:
    """Raises `Rejected` unless it is JSON."""
    try:
        return outgoing(record, workspace)
    except (TypeError, ValueError, RecursionError) as error:
        schema = record.get("schema_name")
        raise Rejected(f"the {schema} is no JSON: {error}; send texts, numbers, lists and objects") from error


def check(event: Outgoing) -> Breadcrumb:
    """As the service reads it. Raises `Rejected`."""
    return decode(event.arrive(ORIGIN, datetime.now(UTC)))


class Sending(Requests):
    """Each method returns after the stream's acknowledgement; repeating an id is safe."""

    def __init__(self, connection: Connection, workspace: str, installation: Installation = DEFAULT) -> None:
        super().__init__(connection, workspace, installation)
        self._js = connection.jetstream()
        self._stream = BreadcrumbStream(connection, installation, self._compare)

    async def _compare(self, event: Outgoing, sequence: int, own_clock: bool) -> dict[str, Any]:
        request = {"record": json.loads(event.data), "sequence": sequence, "own_clock": own_clock}
        try:
            return await self.request("difference", request)
        except NoService:  # whoever may read the stream needs no service
            return compared(event, await self._stored(sequence), own_clock=own_clock)

    async def _stored(self, sequence: int) -> StreamMessage | None:
        stream = self.installation.stream(BREADCRUMBS.upper())
        with translated(f"reading message {sequence} of {stream} failed", "send it again when the service is up"):
            try:
                there = await self._js.get_msg(stream, seq=sequence)
            except NotFoundError:
                return None
        received_at = there.time or datetime.fromtimestamp(0, UTC)
        return StreamMessage(
            subject=plain_subject(there.subject or ""), data=there.data or b"", place=Place(0, sequence), received_at=received_at
        )

    async def send(
        self,
        schema: str,
        body: dict[str, Any],
        *,
        session: str,
        id: str = "",  # noqa: A002 - the record's own name for it
        version: int = 1,
        to: str | Iterable[str] = (),
        **fields: Unpack[Fields],
    ) -> str:
        """Publish a breadcrumb of any schema; returns its id. Raises `Rejected`, `Unavailable`.

        body: the record's `context`, see schemas/<schema>.json. session: any text, `_` = none. id: default new. version:
        last + 1 replaces; only the first triggers. to: agents; default everybody.
        """
        identity = id or str(uuid.uuid4())
        event = self._event(schema, body, session, identity, version=version, to=to, **fields)
        check(event)
        await self._stream.publish(event, own_clock=fields.get("created_at") is None)
        return identity

    async def send_user_message(
        self, session: str, content: Content, *, to: str | Iterable[str] = (), **fields: Unpack[MessageFields]
    ) -> str:
        """Publish a `user.message.v1`; returns its id. to: as in `send`."""
        identity, event = self._user_event(session, content, to, **fields)
        check(event)
        await self._stream.publish(event, own_clock=fields.get("created_at") is None)
        return identity

    async def remember(
        self, note: str, *, session: str = NO_SESSION, user_id: str = "", tags: Iterable[str] = (), ttl: Lifetime | None = None
    ) -> str:
        """Publish a `note.v1`; returns its id. session: default none, so that every session finds it."""
        return await self.send("note.v1", {"content": note}, session=session, user_id=user_id, tags=tags, ttl=ttl)

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
        """Publish a `tool.response.v1`; returns its id.

        output: any JSON. error: set = it failed. trigger_event_id: the calling response, for `recursion_limit`.
        """
        body: dict[str, Any] = {"tool": tool, "request_id": request_id, "status": "success" if error is None else "error"}
        body |= {} if error is None else {"error": error}
        body |= {"output": output} if error is None or output is not None else {}
        body |= {"trigger_event_id": trigger_event_id} if trigger_event_id else {}
        return await self.send(TOOL_RESPONSE, body, session=session, tags=tags, id=message_id)

    async def publish(self, event: Outgoing, *, replay: bool = False) -> PublishResult:
        """Publish a message unchanged, e.g. of an export. replay: never triggers. Raises `Rejected`, `Unavailable`."""
        return await self._stream.publish(event, replay=replay)

    def _user_event(
        self,
        session: str,
        content: Content,
        to: str | Iterable[str] = (),
        message_id: str = "",
        speaker: str = "",
        **fields: Unpack[Fields],
    ) -> tuple[str, Outgoing]:
        """The message's id, and its event."""
        identity = message_id or str(uuid.uuid4())
        body = {"content": content, **({"speaker": speaker} if speaker else {})}
        return identity, self._event(USER_MESSAGE, body, session, identity, to=to, **fields)

    def _event(
        self,
        schema: str,
        body: dict[str, Any],
        session: str,
        identity: str,
        *,
        version: int = 1,
        to: str | Iterable[str] = (),
        **fields: Unpack[Fields],
    ) -> Outgoing:
        tags, created_at = fields.get("tags", ()), fields.get("created_at")
        if isinstance(tags, str):
            raise Rejected(f'tags is {shape(tags)}; give a list, as ["urgent"]')
        is_time = created_at is None or isinstance(created_at, datetime)
        fields["created_at"] = created_at if is_time else None
        record = make_record(schema, identity, session_token(session), body, version=version, to=to, **fields)
        return as_json(record if is_time else record | {"created_at": created_at}, self.workspace)


def _why(error: Exception) -> str:
    if isinstance(error, NatsTimeout | TimeoutError):
        return "the broker did not acknowledge it; look at `context-builder doctor`: its disk may be full, or the service away"
    if isinstance(error, APIError) and error.err_code == NO_RESOURCES:
        return f"{reason(error)}; the broker's storage is used up: free some, or raise its limits"
    return f"{reason(error)}; is the service up on this broker?"
