"""Records in files: a line a record, addressed, and mistakes named by their line."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.errors import Rejected
from builder.remember.decode import decode
from builder.wire.records import difference, fingerprint, fingerprints, line_of, make_record, outgoing, read_lines

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RECORD: dict[str, Any] = {"id": "m1", "schema_name": "user.message.v1", "context": {"content": "hello"}}


def line(**changes: Any) -> str:
    return json.dumps(RECORD | changes)


def test_a_line_is_addressed_by_the_given_workspace_and_session() -> None:
    (read,) = read_lines([line()], "acme", "s42")
    assert read.subject == "breadcrumbs.acme.s42.user.message.v1"
    assert read.message_id == "acme:m1:1"
    assert json.loads(read.data) == RECORD


def test_a_record_s_own_workspace_session_and_version_win() -> None:
    (read,) = read_lines([line(workspace="other", session="mine", version=3)], "acme", "s42")
    assert (read.subject, read.message_id) == ("breadcrumbs.other.mine.user.message.v1", "other:m1:3")


def test_the_session_may_stand_in_the_body() -> None:
    (read,) = read_lines([line(context={"content": "x", "session_id": "inner"})], "acme", "s42")
    assert read.subject == "breadcrumbs.acme.inner.user.message.v1"


def test_empty_lines_are_passed_over_and_still_counted() -> None:
    lines = ["", line(), "  \n", line(id="m2"), "oops"]
    read = read_lines(lines, "acme", "s42")
    assert [next(read).message_id, next(read).message_id] == ["acme:m1:1", "acme:m2:1"]
    with pytest.raises(Rejected, match=r"line 5: Expecting value"):
        next(read)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "line 1: Expecting property name"),
        ("[1]", "line 1: a record is a JSON object, got list"),
        (line(id="", session="s"), "line 1: the record has no id; give every record an id, a schema_name and a session"),
        ("{}", "line 1: the record has no id and no schema_name and no session; give every record"),
        (line(schema_name="note..v1", session="s"), r"line 1: schema name 'note\.\.v1' does not fit"),
        (line(workspace="a.b", session="s"), "line 1: workspace 'a.b' does not fit"),
        ('{"n": NaN}', "line 1: NaN is not a JSON number"),
        ('{"n": ' + "9" * 5000 + "}", "line 1: Exceeds the limit"),
        ("[" * 100_000 + "]" * 100_000, "line 1: it is nested deeper than 64 levels"),
    ],
)
def test_a_mistake_is_rejected_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        list(read_lines([text], "acme"))


def test_what_is_read_is_what_the_service_decodes() -> None:
    (read,) = read_lines([line(context={"content": "a\ud800b\0 grün"}, tags=["t"])], "acme", "s42")
    crumb = decode(read.arrive(Place(1, 1), NOON))
    assert (crumb.workspace, crumb.session, crumb.text, crumb.tags) == ("acme", "s42", "a\ufffdb\ufffd grün", ("t",))
    assert (crumb.created_at, crumb.received_at, crumb.place) == (NOON, NOON, Place(1, 1))


def test_a_made_record_has_what_a_client_must_send() -> None:
    there = datetime(2026, 11, 21, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    record = make_record("note.v1", "n1", "s42", {"content": "two coats"}, created_at=there, version=2)
    crumb = decode(outgoing(record, "acme").arrive(Place(1, 1), NOON))
    assert (crumb.id, crumb.version, crumb.schema, crumb.session, crumb.created_at) == ("n1", 2, "note.v1", "s42", NOON)


def test_a_made_record_is_of_now_by_default() -> None:
    before = datetime.now(UTC)
    made = datetime.fromisoformat(make_record("note.v1", "n1", "s42", {})["created_at"])
    assert before <= made <= datetime.now(UTC)


@given(st.text())
def test_any_text_is_read_line_by_line_or_rejected(text: str) -> None:
    try:
        list(read_lines(text.split("\n"), "acme", "s42"))
    except Rejected as error:
        assert str(error).startswith("line ")  # noqa: PT017 - either outcome is right


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
broken = st.text(st.characters(categories=["Cs", "Ll", "Zl", "Cc"]), max_size=5)
"""Lone surrogates, line separators, controls."""
records = st.fixed_dictionaries(
    {
        "id": st.from_regex(r"[a-zé:-]{1,9}", fullmatch=True),
        "context": st.dictionaries(st.text(max_size=5), json_values | broken),
    },
    optional={
        "version": st.integers(1, 9),
        "tags": st.lists(st.text(max_size=4), max_size=3),
        "title": st.none() | st.text(),
        "unknown": json_values,
        "created_at": st.datetimes(max_value=datetime(2026, 11, 21), timezones=st.just(UTC)).map(datetime.isoformat),  # noqa: DTZ001
    },
)


@given(records, st.sampled_from(("s42", "_")))
def test_an_exported_line_is_read_back_without_loss_and_exported_again_as_it_was(record: dict[str, Any], session: str) -> None:
    record["context"].pop("session_id", None)
    record = json.loads(json.dumps(record))  # two halves of a surrogate pair in a row are one character in JSON
    subject = f"breadcrumbs.acme.{session}.agent.plan.v1"
    arrival = StreamMessage(subject=subject, data=json.dumps(record).encode(), place=Place(1, 7), received_at=NOON)
    line = line_of(arrival)
    (again,) = read_lines(line.encode("utf-8").decode("utf-8").split("\n"), "acme")
    assert again.subject == subject
    assert line.splitlines() == [line]
    copy = json.loads(again.data)
    assert {name: copy[name] for name in record if record[name] is not None} == {
        name: value for name, value in record.items() if value is not None
    }
    later = again.arrive(Place(2, 1), NOON + timedelta(days=9))
    first, second = decode(arrival), decode(later)
    assert replace(second, place=first.place, received_at=first.received_at) == first
    assert line_of(later) == line


def test_a_session_that_fits_no_subject_becomes_a_token_and_a_token_stays() -> None:
    subjects = [event.subject for event in read_lines([line(session="my session"), line(session="_x-my_20session")], "w")]
    assert subjects == ["breadcrumbs.w._x-my_20session.user.message.v1"] * 2


def test_a_record_says_only_what_was_given() -> None:
    plain = make_record("note.v1", "n1", "s1", {})
    assert plain.keys() == {"id", "schema_name", "version", "session", "context", "created_at"}
    full = make_record("note.v1", "n1", "s1", {}, tags=("a",), ttl=timedelta(hours=1), memory=False, user_id="u7")
    assert {name: full[name] for name in full.keys() - plain.keys()} == {
        "tags": ["a"], "ttl": 3600.0, "memory": False, "user_id": "u7",
    }  # fmt: skip
    assert make_record("note.v1", "n1", "s1", {}, ttl=datetime(2027, 1, 1, tzinfo=UTC))["ttl"] == "2027-01-01T00:00:00Z"


def test_an_exported_line_has_no_time_later_than_the_arrival_and_is_the_same_message_still() -> None:
    (read,) = read_lines([line(created_at="2099-01-01T00:00:00Z")], "acme", "s42")
    stored = read.arrive(Place(1, 1), NOON)
    (exported,) = read_lines([line_of(stored)], "acme", "s42")
    assert json.loads(exported.data)["created_at"] == "2026-11-21T12:00:00Z"
    assert difference(exported, stored) == difference(read, stored) == ""
    assert {fingerprint(exported), fingerprint(read)} <= fingerprints(stored)
