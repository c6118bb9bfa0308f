"""Subjects say who speaks for which workspace and session; only what fits a subject gets into one."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builder.domain.errors import Rejected
from builder.wire.subjects import (
    MAX_TOKEN_CHARS,
    SubjectParts,
    breadcrumb_subject,
    check_schema,
    check_token,
    context_subject,
    is_token,
    message_id,
    optional_token,
    parse_breadcrumb_subject,
    session_subject,
    session_text,
    session_token,
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


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.text("_x-h2Eab.", min_size=1)


@pytest.mark.parametrize("name", ["s1", "_", "a-b_c", "A" * 128, "_x-foo", "_x-a_2eb", "_x-_", "_x-", "_h-", "_x-_FF"])
def test_what_fits_a_subject_stays_as_it_is(name: str) -> None:
    assert session_token(name) == name == session_text(name)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("maya@example.com", "_x-maya_40example_2Ecom"),
        ("a.b", "_x-a_2Eb"),
        ("user:1", "_x-user_3A1"),
        ("会话", "_x-_E4_BC_9A_E8_AF_9D"),
        ("*", "_x-_2A"),
        ("two words", "_x-two_20words"),
        ("_x-a_2Eb", "_x-_5Fx-a_5F2Eb"),
    ],
)
def test_other_texts_are_quoted_and_read_back(text: str, token: str) -> None:
    assert (session_token(text), session_text(token)) == (token, text)


def test_a_text_that_is_too_long_is_hashed_and_its_token_stands_for_itself() -> None:
    name = session_token("x" * 129)
    assert name == "_h-0ec9eb33e74510bcdd1f2ea55206e82f21649c5c"
    assert session_token(name) == name == session_text(name)
    assert session_token("x" * 130) != name


@given(TEXTS)
@example("_x-_5Fx-a_5F2Eb")
@example("." * 41)
@example("." * 42)
def test_every_text_has_a_token_that_leads_back_unless_it_is_a_hash(text: str) -> None:
    token = session_token(text)
    assert is_token(token)
    assert len(token) <= MAX_TOKEN_CHARS
    assert session_text(token) == (token if token.startswith("_h-") else text)


@given(TEXTS, TEXTS)
def test_two_texts_share_no_token(one: str, other: str) -> None:
    assert (session_token(one) == session_token(other)) == (one == other)


@pytest.mark.parametrize("text", ["", "\ud800", 7, None])
def test_no_text_and_half_of_a_character_are_rejected(text: str) -> None:
    with pytest.raises(Rejected, match="session "):
        session_token(text)


def test_a_session_that_is_left_out_has_the_empty_token() -> None:
    assert (optional_token(""), optional_token("a.b")) == ("", session_token("a.b"))
