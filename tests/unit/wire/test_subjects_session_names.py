"""Sessions of any text as tokens of subjects."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builder.domain.errors import Rejected
from builder.wire.subjects import MAX_TOKEN_CHARS, is_token, optional_token, session_text, session_token

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
