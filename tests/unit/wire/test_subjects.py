"""Subjects say who speaks for which workspace and session; only what fits a subject gets into one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.domain.errors import Rejected
from builder.wire.subjects import (
    SubjectParts,
    breadcrumb_subject,
    check_schema,
    check_token,
    context_subject,
    message_id,
    parse_breadcrumb_subject,
    session_subject,
)

tokens = st.from_regex(r"[A-Za-z0-9_-]{1,128}", fullmatch=True)
schemas = st.from_regex(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}", fullmatch=True)


@given(tokens, tokens, schemas)
def test_what_a_subject_was_made_of_is_read_from_it(workspace: str, session: str, schema: str) -> None:
    subject = breadcrumb_subject(workspace, session, schema)
    assert parse_breadcrumb_subject(subject) == SubjectParts(workspace, session, schema)
    assert subject.startswith(session_subject(workspace, session).removesuffix(">"))


@given(st.text())
def test_any_text_is_a_subject_of_ours_or_rejected(subject: str) -> None:
    try:
        address = parse_breadcrumb_subject(subject)
    except Rejected:
        return
    assert breadcrumb_subject(address.workspace, address.session, address.schema) == subject


@pytest.mark.parametrize("value", ["", " ", "a.b", "a b", "a*", ">", "ä", "a\n", "x" * 129, "a/b", "\0"])
def test_what_would_break_a_subject_is_no_token(value: str) -> None:
    with pytest.raises(Rejected, match="does not fit a NATS subject; use 1 to 128 of the characters"):
        check_token(value, "session")


@pytest.mark.parametrize("value", ["", ".", "a..b", ".a", "a.", "a.*", "a.>", "a b.v1", "a\n", ".".join("abcdefghi"), "x" * 65])
def test_what_would_break_a_subject_is_no_schema(value: str) -> None:
    with pytest.raises(Rejected, match="does not fit a NATS subject; use words joined by dots"):
        check_schema(value)


def test_the_message_names_the_part_and_the_value_and_stays_short() -> None:
    with pytest.raises(Rejected, match=r"session 'my session' does not fit") as caught:
        breadcrumb_subject("acme", "my session", "note.v1")
    assert len(str(caught.value)) < 200
    with pytest.raises(Rejected) as caught:
        check_token("x" * 100_000, "workspace")
    assert len(str(caught.value)) < 300


def test_a_context_has_a_subject_of_its_own() -> None:
    assert context_subject("acme", "my-agent", "s42", "8c1c") == "contexts.acme.my-agent.s42.8c1c"
    with pytest.raises(Rejected, match=r"consumer 'my\.agent' does not fit"):
        context_subject("acme", "my.agent", "s42", "8c1c")


@pytest.mark.parametrize(
    ("breadcrumb", "header"),
    [
        ("m-1_x.y", "acme:m-1_x.y:2"),
        ("a b\r\nX: y", "acme:a%20b%0D%0AX:%20y:2"),
        ("问", "acme:%E9%97%AE:2"),
        ("a\ud800", "acme:a%EF%BF%BD:2"),
        ("50%", "acme:50%25:2"),
    ],
)
def test_a_message_id_is_one_line_of_ascii(breadcrumb: str, header: str) -> None:
    assert message_id("acme", breadcrumb, 2) == header


@given(st.text(), st.text())
def test_two_ids_share_a_message_id_only_if_they_are_stored_under_one_id(first: str, second: str) -> None:
    stored = [one.replace("\0", "\ufffd") for one in (first, second)]
    assert (message_id("acme", first, 1) == message_id("acme", second, 1)) == (stored[0] == stored[1])
