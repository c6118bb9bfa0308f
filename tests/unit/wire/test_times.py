"""The clock of a sender: what its times say about it, and that no instant moves."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from time import tzset
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Rejected
from builder.extras.http.bodies import NoteRequest
from builder.remember.decode import decode
from builder.wire.records import make_record, outgoing
from builder.wire.times import aware, clock_offset, moment, read_time

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NAIVE = datetime(2026, 5, 4, 10)  # noqa: DTZ001 - what is tested


def read(record: dict[str, Any], arrival: datetime = NOON) -> Breadcrumb:
    """The record as it comes out of the stream."""
    whole = {"id": "m1", "schema_name": "user.message.v1", "session": "s1", "context": {"content": "Hi."}} | record
    return decode(outgoing(whole, "acme").arrive(Place(1, 1), arrival))


@pytest.mark.parametrize(
    ("created_at", "offset"),
    [
        ("2026-11-21T12:00:00Z", None),
        ("2026-11-21T12:00:00z", None),
        ("2026-11-21T12:00:00-00:00", None),
        ("2026-11-21T12:00:00+00:00", 0),
        ("2026-11-21T14:00:00+02:00", 120),
        ("2026-11-21T08:30:00-03:30", -210),
        ("2026-11-21T17:45:00.5+0545", 345),
        ("2026-11-21T12:19:32+00:19:32", 20),
        ("2026-11-21T11:40:28-00:19:32", -20),
        ("2026-11-21T12:00:29+00:00:29", 0),
        (1_795_262_400, None),
        (None, None),
    ],
)
def test_the_offset_of_a_time_is_kept_in_minutes_and_the_time_in_utc(created_at: Any, offset: int | None) -> None:
    crumb = read({"created_at": created_at})
    assert crumb.utc_offset == offset
    assert crumb.created_at.replace(microsecond=0) == NOON
    assert crumb.created_at.utcoffset() == timedelta(0)


def test_a_record_without_a_time_says_no_offset() -> None:
    assert read({}).utc_offset is None


def test_a_secret_keeps_no_offset_and_of_its_user_what_says_whether_its_own_speaker_sent_it() -> None:
    crumb = read({"created_at": "2026-11-21T14:00:00+02:00", "user_id": "u1", "sensitivity": "secret"})
    assert (crumb.utc_offset, crumb.user_id, crumb.removes) == (None, "u1", "m1")


@pytest.mark.parametrize(
    ("time", "offset"),
    [
        (datetime(2026, 11, 21, 12, 0, tzinfo=UTC), None),
        (datetime(2026, 11, 21, 12, 0), None),  # noqa: DTZ001 - a naive time is what is tested
        (datetime(2026, 7, 1, 12, 0, tzinfo=ZoneInfo("Europe/London")), 60),
        (datetime(2026, 1, 1, 12, 0, tzinfo=ZoneInfo("Europe/London")), 0),
        (datetime(1950, 1, 1, 12, 0, tzinfo=ZoneInfo("Africa/Monrovia")), -45),
        (datetime(2026, 1, 1, 12, 0, tzinfo=timezone(timedelta(hours=23, minutes=59, seconds=59))), 1439),
    ],
)
def test_a_client_sends_the_offset_of_the_time_that_it_is_given(time: datetime, offset: int | None) -> None:
    crumb = read(make_record("user.message.v1", "m1", "s1", {"content": "Hi."}, created_at=time))
    assert (crumb.utc_offset, crumb.created_at) == (offset, aware(time).astimezone(UTC))


def test_a_naive_time_is_utc_wherever_the_client_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    tzset()
    try:
        record = make_record("note.v1", "n1", "s1", {"content": "Hi."}, created_at=NAIVE, ttl=NAIVE)
    finally:
        monkeypatch.undo()
        tzset()
    assert (record["created_at"], record["ttl"]) == ("2026-05-04T10:00:00Z", "2026-05-04T10:00:00Z")


def rows(title: str) -> list[list[str]]:
    """Cells of the rows of a table of the docs, codes as their JSON values."""
    page = (Path(__file__).resolve().parents[3] / "builder" / "docs" / "times.md").read_text("utf-8")
    lines = page.split(title)[1].split("|---|---|\n")[1].split("\n\n")[0].strip().split("\n")
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize(("value", "time"), rows("## Forms"))
def test_the_table_of_the_docs_is_what_is_read_at_each_door(value: str, time: str) -> None:
    sent = read_time(json.loads(value))
    assert (moment(sent.time) if sent else "no time") == time
    crumb = read({"created_at": json.loads(value)})
    assert moment(crumb.created_at) == (time if sent else "2026-11-21T12:00:00Z")
    body = NoteRequest(content="Hi.", created_at=json.loads(value))
    assert (moment(body.created_at) if body.created_at else "no time") == time


@pytest.mark.parametrize("value", [value for (value, _) in rows("## Refused")])
def test_what_the_docs_call_refused_is_refused_with_its_value(value: str) -> None:
    with pytest.raises(Rejected, match=r"^created_at is .*, which is no time; write 2026-11-21T10"):
        read_time(json.loads(value))
    with pytest.raises(Rejected, match="which is no time"):
        read({"created_at": json.loads(value)})
    with pytest.raises(ValidationError, match="which is no time"):
        NoteRequest(content="Hi.", created_at=json.loads(value))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=3))
def test_any_value_is_a_time_or_a_refusal(value: Any) -> None:
    try:
        sent = read_time(value)
    except Rejected:
        return
    assert sent is None or sent.time.astimezone(UTC).utcoffset() == timedelta(0)


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),  # noqa: DTZ001 - Hypothesis wants naive bounds
    st.integers(-86_399, 86_399),
)
def test_written_and_read_again_a_time_is_the_same_instant_by_the_same_clock(time: datetime, seconds: int) -> None:
    sent = time.replace(tzinfo=timezone(timedelta(seconds=seconds)))
    crumb = read(json.loads(json.dumps({"created_at": moment(sent, clock_offset(sent))})), datetime(9999, 1, 1, tzinfo=UTC))
    assert (crumb.created_at, crumb.utc_offset) == (sent.astimezone(UTC), clock_offset(sent))
    assert abs((crumb.utc_offset or 0) * 60 - seconds) <= 30 or abs(crumb.utc_offset or 0) == 1439
    assert moment(crumb.created_at, crumb.utc_offset) == moment(sent, clock_offset(sent))
