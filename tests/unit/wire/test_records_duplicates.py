"""What counts as the same breadcrumb under one message id."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from builder.domain.breadcrumb import Place, StreamMessage
from builder.wire.records import Outgoing, difference, fingerprint, fingerprints, make_record, outgoing
from builder.wire.times import moment

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RECORD = make_record("note.v1", "n1", "s1", {"content": "Hello.", "tags": [1, 2]}, created_at=NOON)


def event(record: dict[str, Any], session: str = "s1") -> Outgoing:
    """A record on its way."""
    return outgoing(record | {"session": session}, "acme")


def stored(record: dict[str, Any] = RECORD) -> StreamMessage:
    """A record in the stream."""
    return event(record).arrive(Place(0, 7), NOON)


def without(name: str) -> dict[str, Any]:
    """The record without a field."""
    return {field: value for field, value in RECORD.items() if field != name}


@pytest.mark.parametrize(
    ("record", "names"),
    [
        (RECORD, ""),
        (dict(reversed(RECORD.items())), ""),
        (without("created_at"), ""),
        (RECORD | {"schema_name": "note.v1", "workspace": "acme"}, ""),
        (RECORD | {"title": None, "context": {"content": "Hello.", "tags": [1, 2], "more": None}}, ""),
        (RECORD | {"context": {"content": "Bye.", "tags": [1, 2]}}, "context.content"),
        (RECORD | {"context": {"content": "Hello.", "tags": [2, 1], "more": None}}, "context.tags"),
        (RECORD | {"context": {}, "title": "New", "tags": ["a"]}, "tags, title, context.content, context.tags"),
        (RECORD | {"created_at": "2026-11-21T13:00:00Z"}, "created_at"),
        (RECORD | {"created_at": "2026-11-21T13:00:00+01:00"}, "created_at"),
        (RECORD | {"user_id": "u7"}, "user_id"),
        (RECORD | {"user_id": None}, ""),
    ],
)
def test_the_fields_that_differ_are_named_without_their_values(record: dict[str, Any], names: str) -> None:
    assert difference(event(record), stored()) == names
    assert (fingerprint(event(record)) in fingerprints(stored())) == (not names)


def test_a_time_that_the_client_has_made_does_not_count() -> None:
    assert difference(event(RECORD | {"created_at": "2026-11-21T13:00:00Z"}), stored(), own_clock=True) == ""


def test_a_record_without_a_time_has_that_of_the_stream() -> None:
    timeless = stored(without("created_at"))
    assert difference(event(without("created_at")), timeless) == ""
    assert difference(event(RECORD), timeless) == ""
    assert fingerprint(event(RECORD)) in fingerprints(timeless)
    later = event(RECORD | {"created_at": moment(NOON.replace(hour=13))})
    assert difference(later, timeless) == "created_at"
    assert fingerprint(later) not in fingerprints(timeless)


def test_another_session_is_another_subject() -> None:
    assert difference(event(RECORD, "s2"), stored()) == "the subject"
    assert fingerprint(event(RECORD, "s2")) not in fingerprints(stored())


def test_what_is_no_json_is_compared_by_its_bytes() -> None:
    broken = replace(stored(), data=b"{")
    assert difference(event(RECORD), broken) == "the bytes"
    assert difference(replace(event(RECORD), data=b"{"), broken) == ""
    assert fingerprint(replace(event(RECORD), data=b"{")) in fingerprints(broken)
