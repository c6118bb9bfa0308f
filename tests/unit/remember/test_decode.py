"""Whatever bytes come, the answer is a breadcrumb or a reason that a person can act on."""

import json
import re
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.json_text import one_line
from builder.remember.decode import BODIES, DEFAULT_MAX_BYTES, decode

SUBJECT = "breadcrumbs.acme.s42.user.message.v1"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RECORD: dict[str, Any] = {"id": "m1", "context": {"content": "hello"}}


def arrival(data: bytes, subject: str = SUBJECT) -> StreamMessage:
    return StreamMessage(subject=subject, data=data, place=Place(1, 7), received_at=NOON)


def read(record: Any, subject: str = SUBJECT) -> Breadcrumb:
    return decode(arrival(json.dumps(record).encode(), subject))


def rejection(data: bytes, subject: str = SUBJECT) -> str:
    with pytest.raises(Rejected) as caught:
        decode(arrival(data, subject))
    return str(caught.value)


def nested(levels: int) -> bytes:
    """A record of so many levels: the record and its context are two of them."""
    inner = "[" * (levels - 2) + "]" * (levels - 2)
    return f'{{"id":"m1","context":{{"content":"x","deep":{inner}}}}}'.encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the breadcrumb is not readable JSON: Expecting value"),
        (b"hello", "the breadcrumb is not readable JSON: Expecting value"),
        (b'{"id": "m1"', "the breadcrumb is not readable JSON: Expecting ',' delimiter"),
        (b"\xff\xfe\xfd", "the breadcrumb is not readable JSON: 'utf-16-le' codec can't decode"),
        (b'{"id": "\xc3\x28"}', "the breadcrumb is not readable JSON: 'utf-8' codec can't decode byte 0xc3"),
        (b"[1, 2]", "it is a JSON list; send one UTF-8 JSON object"),
        (b'"text"', "it is a JSON str; send one UTF-8 JSON object"),
        (b"null", "it is a JSON NoneType; send one UTF-8 JSON object"),
        (b'{"id":"m1","context":{"content":NaN}}', "NaN is not a JSON number"),
        (b'{"id":"m1","context":{"content":"x","n":-Infinity}}', "-Infinity is not a JSON number"),
        (b'{"id":"m1","context":{"content":"x","n":1e400}}', "a number of 5 characters is too large"),
        (b'{"id":"m1","context":{"content":"x","n":' + b"9" * 5000 + b"}}", "Exceeds the limit .* for integer string conversion"),
        (nested(65), "it is nested deeper than 64 levels; flatten it or send it as text"),
        (nested(100_000), "it is nested deeper than 64 levels; flatten it or send it as text"),
    ],
)
def test_what_is_no_json_object_is_rejected_with_what_to_send(data: bytes, reason: str) -> None:
    message = rejection(data)
    assert re.search(reason, message)
    assert message.endswith("send one UTF-8 JSON object")


def test_a_record_of_64_levels_is_read() -> None:
    assert decode(arrival(nested(64))).text == "x"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": None}, "user.message.v1: Input should be a valid string at /id, got null; see schemas/record.json"),
        ({"id": ""}, "String should have at least 1 character at /id, got a text of [0-9]+ characters; see schemas/record.json"),
        ({"id": "a b"}, "String should match pattern .* at /id, got a text of [0-9]+ characters; see"),
        ({"id": "a\u2003b"}, "String should match pattern .* at /id"),
        ({"id": "a\n"}, "String should match pattern .* at /id"),
        ({"id": "x" * 257}, "String should have at most 256 characters at /id, got a text of 257 characters; see"),
        ({"version": 0}, "Input should be greater than or equal to 1 at /version, got a number; see"),
        ({"version": True}, "Input should be a valid integer at /version, got a boolean; see"),
        ({"version": "1"}, "Input should be a valid integer at /version, got a text of [0-9]+ characters; see"),
        ({"version": 1.5}, "Input should be a valid integer at /version, got a number; see"),
        ({"version": 10**30}, "Input should be less than or equal to 2147483647 at /version, got a number; see"),
        (
            {"created_at": "yesterday"},
            "created_at is 'yesterday', which is no time; .* at /created_at, got a text of 9 characters; see",
        ),
        ({"created_at": "9999-12-31T23:59:59-05:00"}, "in UTC it lies outside the years 1 to 9999; .* at /created_at"),
        ({"created_at": "0001-01-01T00:00:00+05:00"}, "in UTC it lies outside the years 1 to 9999; .* at /created_at"),
        ({"created_at": True}, "created_at is True, which is no time"),
        ({"created_at": 1e20}, "created_at is 1e.20, which is no time"),
        ({"tags": "chat"}, "Input should be a valid tuple at /tags, got a text of [0-9]+ characters; see"),
        ({"tags": ["a", 5]}, "Input should be a valid string at /tags/1, got a number; see"),
        (
            {"context": "hello"},
            "Input should be a valid dictionary at /context, got a text of 5 characters",
        ),
        ({"context": {}}, r"no text: send it as `content` .* at /context, got an object of 0; see schemas/user.message.v1.json"),
        ({"context": {"content": None}}, "no text: send it as `content` .* at /context, got"),
        (
            {"context": {"content": 5}},
            "Input should be a valid string at /context/content, got a number; see",
        ),
        ({"context": {"content": [5]}}, "a content part is int; use text or an object .* at /context/content, got"),
        ({"context": {"content": "x", "speaker": 5}}, "Input should be a valid string at /context/speaker, got a number; see"),
    ],
)
def test_a_wrong_value_is_rejected_with_its_place_the_value_and_where_the_rule_stands(
    change: dict[str, Any], reason: str
) -> None:
    assert re.search(reason, rejection(json.dumps(RECORD | change).encode()))


def test_a_missing_context_is_named_and_further_mistakes_are_counted() -> None:
    message = rejection(b'{"version": 0}')
    assert message.startswith("user.message.v1: Field required at /id")
    assert "(and 2 more); see schemas/record.json" in message


def test_the_reason_for_an_unknown_schema_names_a_schema_file_that_exists() -> None:
    assert rejection(b'{"id":"m1"}', "breadcrumbs.acme.s42.calendar.event.v1").endswith("see schemas/record.json")


def test_a_body_above_the_limit_is_rejected_with_its_size_and_the_limit() -> None:
    data = json.dumps(RECORD | {"context": {"content": "x" * DEFAULT_MAX_BYTES}}).encode()
    message = rejection(data)
    assert f"{len(data):,} bytes, allowed are 1,048,576" in message
    assert "send a link, or raise CONTEXT_BUILDER_WORKER__MAX_BODY_BYTES" in message


def test_a_body_of_exactly_the_limit_is_read() -> None:
    data = json.dumps(RECORD).encode()
    assert decode(arrival(data), max_bytes=len(data)).text == "hello"


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("messages.acme.s42.user.message.v1", "is not breadcrumbs.WORKSPACE.SESSION.SCHEMA"),
        ("breadcrumbs.acme.s42", "is not breadcrumbs.WORKSPACE.SESSION.SCHEMA"),
        ("breadcrumbs", "is not breadcrumbs.WORKSPACE.SESSION.SCHEMA"),
        ("breadcrumbs.ac me.s42.note.v1", "workspace 'ac me' does not fit a NATS subject; use 1 to 128 of"),
        ("breadcrumbs.acme.sitzung-ü.note.v1", "session 'sitzung-ü' does not fit a NATS subject"),
        (f"breadcrumbs.acme.{'s' * 129}.note.v1", "session 's+' does not fit"),
        ("breadcrumbs..s42.note.v1", "workspace '' does not fit"),
        ("breadcrumbs.acme.s42.note..v1", "schema name 'note..v1' does not fit a NATS subject; use words joined by dots"),
        ("breadcrumbs.acme.s42.", "schema name '' does not fit"),
    ],
)
def test_a_subject_of_another_form_is_rejected(subject: str, reason: str) -> None:
    assert re.search(reason, rejection(json.dumps(RECORD).encode(), subject))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"workspace": "other"}, "workspace is not 'acme', which the subject says; publish it on its own subject"),
        ({"session": "s43"}, "session is not 's42', which the subject says"),
        ({"context": {"content": "x", "session_id": "s43"}}, "session_id is not 's42', which the subject says"),
        ({"schema_name": "note.v1"}, "schema_name is not 'user.message.v1', which the subject says"),
    ],
)
def test_a_body_that_contradicts_its_subject_is_rejected(change: dict[str, Any], reason: str) -> None:
    assert reason in rejection(json.dumps(RECORD | change).encode())


def test_an_unknown_body_that_claims_another_session_is_rejected_too() -> None:
    record = RECORD | {"context": {"session_id": 42}}
    assert "session_id is not 's42'" in rejection(json.dumps(record).encode(), "breadcrumbs.acme.s42.calendar.event.v1")


def test_a_body_that_agrees_with_its_subject_is_read() -> None:
    claims = {"workspace": "acme", "session": "s42", "schema_name": "user.message.v1"}
    crumb = read(RECORD | claims | {"context": {"content": "hello", "session_id": "s42"}})
    assert (crumb.workspace, crumb.session, crumb.schema) == ("acme", "s42", "user.message.v1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text() | st.datetimes().map(str),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = sorted({"id", "version", "context", "tags", "created_at"} | {f for body in BODIES.values() for f in body.model_fields})
objects = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), json_values, max_size=8)
subjects = st.sampled_from([f"breadcrumbs.acme.s42.{schema}" for schema in (*BODIES, "calendar.event.v1")])


def test_a_session_that_is_quoted_in_the_subject_may_stand_in_the_record_by_its_text() -> None:
    subject = "breadcrumbs.acme._x-a_2Eb.note.v1"
    for session in ("a.b", "_x-a_2Eb"):
        record = {"id": "n1", "session": session, "context": {"content": "x", "session_id": session}}
        assert read(record, subject).session == "_x-a_2Eb"
    assert "session is not '_x-a_2Eb'" in rejection(
        json.dumps({"id": "n1", "session": "a_b", "context": {"content": "x"}}).encode(), subject
    )


def is_read_or_rejected(data: bytes, subject: str) -> None:
    try:
        crumb = decode(arrival(data, subject))
    except Rejected:
        return
    assert one_line(json.loads(crumb.body)) == crumb.body
    for text in (crumb.text, crumb.body, crumb.speaker, crumb.id, *crumb.tags, *crumb.calls, crumb.removes):
        assert "\0" not in text
        assert text.encode("utf-8").decode("utf-8") == text
    assert crumb.created_at.tzinfo is UTC


@given(st.binary(max_size=200), subjects | st.text(max_size=60))
def test_random_bytes_on_random_subjects_are_read_or_rejected(data: bytes, subject: str) -> None:
    is_read_or_rejected(data, subject)


@given(json_values, subjects)
def test_random_json_is_read_or_rejected(value: Any, subject: str) -> None:
    is_read_or_rejected(json.dumps(value).encode(), subject)


@given(objects, objects, subjects)
def test_random_records_with_random_bodies_are_read_or_rejected(
    record: dict[str, Any], body: dict[str, Any], subject: str
) -> None:
    is_read_or_rejected(json.dumps({"id": "m1"} | record | {"context": body}).encode(), subject)


def test_fuzzing_runs_with_the_limit_on_integer_digits_that_the_service_has() -> None:
    assert sys.get_int_max_str_digits() == 4300


WORDS = "hunter2 is what I use everywhere"
spoken_values = st.recursive(
    st.just(WORDS) | st.none() | st.integers() | st.just(float("nan")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(FIELDS), spoken_values, max_size=6),
    st.dictionaries(st.sampled_from(FIELDS), spoken_values, max_size=6),
    subjects,
)
def test_no_reason_holds_a_word_of_what_people_wrote(record: dict[str, Any], body: dict[str, Any], subject: str) -> None:
    data = json.dumps({"id": "m1", "context": body} | record).encode()
    reason = ""
    try:
        decode(arrival(data, subject))
    except Rejected as error:
        reason = str(error)
    assert "hunter2" not in reason


@pytest.mark.parametrize(("to", "agents"), [("critic", ("critic",)), (["critic", "coder"], ("critic", "coder")), ([], ())])
def test_a_breadcrumb_is_addressed_to_an_agent_or_several(to: Any, agents: tuple[str, ...]) -> None:
    assert read(RECORD | {"to": to}).to == agents


@pytest.mark.parametrize("to", ["", [""], 7, ["critic", None], {"agent": "critic"}])
def test_an_address_that_names_no_agent_is_rejected_rather_than_read_by_everybody(to: Any) -> None:
    with pytest.raises(Rejected, match="/to"):
        read(RECORD | {"to": to})
