"""Records of RCRT: created, addressed, read as lines, compared."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.json_text import canonical, one_line
from builder.domain.json_values import JsonObject, parse
from builder.wire.subjects import breadcrumb_subject, is_token, message_id, parse_breadcrumb_subject, session_token
from builder.wire.times import clock_offset, moment, read_time

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


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
    """Read JSON lines, skipping empty ones. Raises `Rejected` with the line number."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield outgoing(parse(line), workspace, session)
            except (ValueError, Rejected) as error:
                raise Rejected(f"line {number}: {error}") from error


def line_of(arrival: StreamMessage) -> str:
    """A message's record as a line for `read_lines`, with facts of subject and stream. Raises ValueError for other JSON."""
    record = parse(arrival.data)
    if not isinstance(record, dict):
        raise ValueError(f"it is a JSON {type(record).__name__}")  # noqa: TRY004 - one family of reasons
    address = parse_breadcrumb_subject(arrival.subject)
    facts = {"schema_name": address.schema, "session": address.session}
    complete = _timed(record, arrival) | {name: value for name, value in facts.items() if record.get(name) is None}
    line = one_line(complete)
    fits_file = line.encode("utf-8", "ignore").decode() == line  # a lone surrogate fits no file, its escape does
    return line if fits_file else json.dumps(complete)


def outgoing(record: JsonObject, workspace: str, session: str = "") -> Outgoing:
    """Address a record; its own `workspace` and `session` win. Raises `Rejected`."""
    if not isinstance(record, dict):
        raise Rejected(f"a record is a JSON object, got {type(record).__name__}")
    place = session_in(record) or session
    missing = [
        name
        for name, value in (("id", record.get("id")), ("schema_name", record.get("schema_name")), ("session", place))
        if not value
    ]
    if missing:
        raise Rejected(f"the record has no {' and no '.join(missing)}; give every record an id, a schema_name and a session")
    token = str(place) if is_token(str(place)) else session_token(str(place))
    subject = breadcrumb_subject(str(record.get("workspace") or workspace), token, str(record["schema_name"]))
    version = record.get("version", 1)
    data = _ENCODER.encode(record).encode("utf-8", "surrogatepass")
    return Outgoing(subject=subject, data=data, message_id=message_id(subject.split(".")[1], str(record["id"]), version))


def session_in(record: JsonObject) -> Any:
    """What a record names as its session, or its body."""
    context = record.get("context")
    inner = context.get("session_id") if isinstance(context, dict) else None
    return record.get("session") or inner


def make_record(
    schema: str,
    breadcrumb_id: str,
    session: str,
    body: JsonObject,
    *,
    created_at: datetime | None = None,
    version: int = 1,
    user_id: str = "",
    tags: Iterable[str] = (),
    ttl: float | timedelta | datetime | None = None,
    memory: bool = True,
    to: str | Iterable[str] = (),
) -> JsonObject:
    """A record as clients send it.

    session: a token. created_at: default now; naive is UTC. ttl: seconds, time span or end. memory: False = not in the person's
    memory. to: agents.
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
    if isinstance(ttl, timedelta):
        return ttl.total_seconds()
    return moment(ttl, clock_offset(ttl)) if isinstance(ttl, datetime) else ttl


TIME = "created_at"


def difference(event: Outgoing, stored: StreamMessage, *, own_clock: bool = False) -> str:
    """Fields in which event and stored message differ; "" = none. own_clock: `created_at` is the client's clock and ignored.

    Fields that repeat the subject or the stream's time, or are null, are equal to missing ones.
    """
    if event.subject != stored.subject:
        return "the subject"
    new, old = _record(event.subject, event.data), _record(stored.subject, stored.data)
    if new is None or old is None:
        return "" if event.data == stored.data else "the bytes"
    if own_clock or new.get(TIME) is None:
        new, old = _without_time(new), _without_time(old)
    elif new[TIME] != old.get(TIME):
        old = _timed(old, stored)
    return ", ".join(_fields(new, old))


def compared(event: Outgoing, stored: StreamMessage | None, *, own_clock: bool) -> JsonObject:
    """The answer to the request `difference`. stored: what the stream has under the sequence that it named."""
    is_there = (
        stored is not None and stored.subject.split(".")[1] == event.subject.split(".")[1] and is_same_version(event, stored)
    )
    if stored is None or not is_there:
        return {"is_there": False, "fields": "", "subject": ""}
    return {"is_there": True, "fields": difference(event, stored, own_clock=own_clock), "subject": stored.subject}


def is_same_version(event: Outgoing, stored: StreamMessage) -> bool:
    """Whether both are one version of one breadcrumb. What is no record is one of any."""
    new, old = _record(event.subject, event.data), _record(stored.subject, stored.data)
    return new is None or old is None or all(new.get(name) == old.get(name) for name in ("id", "version"))


def fingerprint(event: Outgoing) -> bytes:
    """16 bytes; equal messages have a common one."""
    return _digest(event.subject, event.data, _record(event.subject, event.data))


def fingerprints(stored: StreamMessage) -> frozenset[bytes]:
    """Fingerprints of a stored message: with its time as it was sent, and without one."""
    record = _record(stored.subject, stored.data)
    variants = (None,) if record is None else (_timed(record, stored), record, _without_time(record))
    return frozenset(_digest(stored.subject, stored.data, variant) for variant in variants)


def _record(subject: str, data: bytes) -> JsonObject | None:
    try:
        record = parse(data)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    address = parse_breadcrumb_subject(subject)
    facts = {"schema_name": address.schema, "session": address.session, "workspace": address.workspace}
    return record | {name: value for name, value in facts.items() if record.get(name) is None}


def _timed(record: JsonObject, stored: StreamMessage) -> JsonObject:
    """A time that is missing, or later than the arrival, is the arrival."""
    try:
        sent = read_time(record.get(TIME))
    except Rejected:
        return record
    is_arrival = sent is None or sent.time > stored.received_at
    return record | {TIME: moment(stored.received_at)} if is_arrival else record


def _without_time(record: JsonObject) -> JsonObject:
    return {name: value for name, value in record.items() if name != TIME}


def _without_nulls(record: JsonObject) -> JsonObject:
    return {name: value for name, value in record.items() if value is not None}


def _fields(new: JsonObject, old: JsonObject) -> list[str]:
    differing = [name for name in sorted(new.keys() | old.keys()) if canonical(new.get(name)) != canonical(old.get(name))]
    body, other = new.get("context"), old.get("context")
    if "context" not in differing or not isinstance(body, dict) or not isinstance(other, dict):
        return differing
    return [*(name for name in differing if name != "context"), *(f"context.{name}" for name in _fields(body, other))]


def _digest(subject: str, data: bytes, record: JsonObject | None) -> bytes:
    if record is not None:
        body = record.get("context")
        plain = _without_nulls(record | {"context": _without_nulls(body)} if isinstance(body, dict) else record)
        data = canonical(plain).encode("utf-8", "surrogatepass")
    return blake2b(subject.encode() + b"\0" + data, digest_size=16).digest()
