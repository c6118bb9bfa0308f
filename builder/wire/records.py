"""Events as JSON lines: one RCRT record a line, with `session` (and perhaps `workspace`) beside its fields."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.errors import Rejected
from builder.wire.json import one_line, parse
from builder.wire.session_names import is_token, session_token
from builder.wire.subjects import breadcrumb_subject, message_id, parse_breadcrumb_subject
from builder.wire.times import clock_offset, moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message for the stream: subject, JSON bytes and `Nats-Msg-Id`."""

    subject: str
    data: bytes
    message_id: str

    def arrive(self, place: Place, received_at: datetime) -> StreamMessage:
        """The same as if the stream had handed it over."""
        return StreamMessage(subject=self.subject, data=self.data, place=place, received_at=received_at)


def read_lines(lines: Iterable[str], workspace: str, session: str = "") -> Iterator[Outgoing]:
    """Read JSON lines; empty lines are passed over. Raises `Rejected` with the line number."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield outgoing(parse(line), workspace, session)
            except (ValueError, Rejected) as error:
                raise Rejected(f"line {number}: {error}") from error


def line_of(arrival: StreamMessage) -> str:
    """The record in a message as one line that `read_lines` takes back: complete, and with the facts of the subject.

    A record without a time gets the stream's. Raises ValueError when the message holds no JSON object.
    """
    record = parse(arrival.data)
    if not isinstance(record, dict):
        raise ValueError(f"it is a JSON {type(record).__name__}")  # noqa: TRY004 - one family of reasons
    address = parse_breadcrumb_subject(arrival.subject)
    facts = {"schema_name": address.schema, "session": address.session, "created_at": moment(arrival.received_at)}
    complete = record | {name: value for name, value in facts.items() if record.get(name) is None}
    line = one_line(complete)
    fits_file = line.encode("utf-8", "ignore").decode() == line  # a lone surrogate fits no file, its escape does
    return line if fits_file else json.dumps(complete)


def outgoing(record: dict[str, Any], workspace: str, session: str = "") -> Outgoing:
    """Address a record: its own `workspace` and `session` win over the given ones. Raises `Rejected`.

    A session is its token, or a text that fits no subject and becomes one.
    """
    if not isinstance(record, dict):
        raise Rejected(f"a record is a JSON object, got {type(record).__name__}")
    context = record.get("context")
    inner = context.get("session_id") if isinstance(context, dict) else None
    place = record.get("session") or inner or session
    missing = [
        name
        for name, value in (("id", record.get("id")), ("schema_name", record.get("schema_name")), ("session", place))
        if not value
    ]
    if missing:
        raise Rejected(f"the record has no {' and no '.join(missing)}; give every record an id, a schema_name and a session")
    subject = breadcrumb_subject(str(record.get("workspace") or workspace), _token(str(place)), str(record["schema_name"]))
    version = record.get("version", 1)
    data = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return Outgoing(subject=subject, data=data, message_id=message_id(subject.split(".")[1], str(record["id"]), version))


def _token(session: str) -> str:
    return session if is_token(session) else session_token(session)


def make_record(
    schema: str,
    breadcrumb_id: str,
    session: str,
    body: dict[str, Any],
    *,
    created_at: datetime | None = None,
    version: int = 1,
    user_id: str = "",
    tags: Iterable[str] = (),
    ttl: float | timedelta | datetime | None = None,
    memory: bool = True,
    to: str | Iterable[str] = (),
) -> dict[str, Any]:
    """A record as clients send it.

    session: its token. created_at: default now, in UTC; another clock's offset is kept. user_id: the person; "" = unknown.
    ttl: how long it lives (seconds, or a time span) or its end; None = as long as the service keeps its kind. memory: False =
    the session is kept out of the person's memory. to: the agents that it is addressed to.
    """
    recipients = [to] if isinstance(to, str) else list(to)
    time = created_at or datetime.now(UTC)
    return {
        "id": breadcrumb_id,
        "schema_name": schema,
        "version": version,
        "session": session,
        "context": body,
        "created_at": moment(time, clock_offset(time)),
        **({"user_id": user_id} if user_id else {}),
        **({"tags": labels} if (labels := list(tags)) else {}),
        **({} if ttl is None else {"ttl": _ending(ttl)}),
        **({} if memory else {"memory": False}),
        **({"to": recipients} if recipients else {}),
    }


def _ending(ttl: float | timedelta | datetime) -> float | str:
    """Seconds, or a moment. What is neither is sent as it is, and refused by whoever reads it."""
    if isinstance(ttl, timedelta):
        return ttl.total_seconds()
    return moment(ttl, clock_offset(ttl)) if isinstance(ttl, datetime) else ttl
