"""Whether what stands in the stream under a message id is what a sender wants to publish."""

from hashlib import blake2b
from typing import Any

from builder.domain.breadcrumb import StreamMessage
from builder.wire.json import canonical, parse
from builder.wire.records import Outgoing
from builder.wire.subjects import parse_breadcrumb_subject
from builder.wire.times import moment

TIME = "created_at"


def difference(event: Outgoing, there: StreamMessage, *, own_clock: bool = False) -> str:
    """Where the event and the stored message differ: names of fields without their values; "" when they are the same.

    own_clock: the client has made the event's `created_at`, so it does not count. A field that repeats the subject, the time of
    the stream in a record without its own, and a null in the place of no field are no difference.
    """
    if event.subject != there.subject:
        return "the subject"
    mine, theirs = _record(event.subject, event.data), _record(there.subject, there.data)
    if mine is None or theirs is None:
        return "" if event.data == there.data else "the bytes"
    if own_clock or mine.get(TIME) is None:
        mine, theirs = _without_time(mine), _without_time(theirs)
    elif theirs.get(TIME) is None:
        theirs = theirs | {TIME: moment(there.received_at)}
    return ", ".join(_fields(mine, theirs))


def fingerprint(event: Outgoing) -> bytes:
    """16 bytes: equal to one of a stored message's `fingerprints` when the two do not differ."""
    record = _record(event.subject, event.data)
    return _digest(event.subject, event.data, record)


def fingerprints(there: StreamMessage) -> frozenset[bytes]:
    """Of a stored message: with its time, and without it for an event that has none."""
    record = _record(there.subject, there.data)
    if record is None:
        return frozenset({_digest(there.subject, there.data, None)})
    timed = record | {TIME: moment(there.received_at)} if record.get(TIME) is None else record
    return frozenset(_digest(there.subject, there.data, each) for each in (timed, _without_time(record)))


def _record(subject: str, data: bytes) -> dict[str, Any] | None:
    """The record with what its subject says; None for bytes that hold no JSON object."""
    try:
        record = parse(data)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    address = parse_breadcrumb_subject(subject)
    facts = {"schema_name": address.schema, "session": address.session, "workspace": address.workspace}
    return record | {name: value for name, value in facts.items() if record.get(name) is None}


def _without_time(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != TIME}


def _without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value is not None}


def _fields(mine: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    differing = [name for name in sorted(mine.keys() | theirs.keys()) if not _same(mine, theirs, name)]
    body, other = mine.get("context"), theirs.get("context")
    if "context" not in differing or not isinstance(body, dict) or not isinstance(other, dict):
        return differing
    return [*(name for name in differing if name != "context"), *(f"context.{name}" for name in _fields(body, other))]


def _same(mine: dict[str, Any], theirs: dict[str, Any], name: str) -> bool:
    return canonical(mine.get(name)) == canonical(theirs.get(name))


def _digest(subject: str, data: bytes, record: dict[str, Any] | None) -> bytes:
    if record is not None:
        body = record.get("context")
        plain = _without_nulls(record | {"context": _without_nulls(body)} if isinstance(body, dict) else record)
        data = canonical(plain).encode("utf-8", "surrogatepass")
    return blake2b(subject.encode() + b"\0" + data, digest_size=16).digest()
