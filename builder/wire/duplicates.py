"""Whether the message in the stream under a message id is the one that a sender publishes."""

from hashlib import blake2b
from typing import Any

from builder.domain.breadcrumb import StreamMessage
from builder.wire.json import canonical, parse
from builder.wire.records import Outgoing
from builder.wire.subjects import parse_breadcrumb_subject
from builder.wire.times import moment

TIME = "created_at"


def difference(event: Outgoing, stored: StreamMessage, *, own_clock: bool = False) -> str:
    """Where the event and the stored message differ: names of fields without their values; "" when they are the same.

    own_clock: the client set the event's `created_at`, so it does not count. A field that repeats the subject, the time of
    the stream in a record without its own, and a null in the place of no field are no difference.
    """
    if event.subject != stored.subject:
        return "the subject"
    new, old = _record(event.subject, event.data), _record(stored.subject, stored.data)
    if new is None or old is None:
        return "" if event.data == stored.data else "the bytes"
    if own_clock or new.get(TIME) is None:
        new, old = _without_time(new), _without_time(old)
    else:
        old = _timed(old, stored)
    return ", ".join(_fields(new, old))


def fingerprint(event: Outgoing) -> bytes:
    """16 bytes: equal to one of a stored message's `fingerprints` when the two do not differ."""
    return _digest(event.subject, event.data, _record(event.subject, event.data))


def fingerprints(stored: StreamMessage) -> frozenset[bytes]:
    """Of a stored message: with its time, and without it for an event that has none."""
    record = _record(stored.subject, stored.data)
    variants = (None,) if record is None else (_timed(record, stored), _without_time(record))
    return frozenset(_digest(stored.subject, stored.data, variant) for variant in variants)


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


def _timed(record: dict[str, Any], stored: StreamMessage) -> dict[str, Any]:
    """With the time of the stream where the record has none."""
    return record | {TIME: moment(stored.received_at)} if record.get(TIME) is None else record


def _without_time(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != TIME}


def _without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value is not None}


def _fields(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    differing = [name for name in sorted(new.keys() | old.keys()) if canonical(new.get(name)) != canonical(old.get(name))]
    body, other = new.get("context"), old.get("context")
    if "context" not in differing or not isinstance(body, dict) or not isinstance(other, dict):
        return differing
    return [*(name for name in differing if name != "context"), *(f"context.{name}" for name in _fields(body, other))]


def _digest(subject: str, data: bytes, record: dict[str, Any] | None) -> bytes:
    if record is not None:
        body = record.get("context")
        plain = _without_nulls(record | {"context": _without_nulls(body)} if isinstance(body, dict) else record)
        data = canonical(plain).encode("utf-8", "surrogatepass")
    return blake2b(subject.encode() + b"\0" + data, digest_size=16).digest()
