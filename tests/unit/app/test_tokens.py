"""The file of tokens, and the token of a machine."""

from pathlib import Path

import pytest

from builder.app.tokens import EVERY_RIGHT, Tokens, own_token
from builder.domain.errors import Misconfigured
from tests.http_api import write_tokens


def test_a_token_stands_for_its_caller_and_a_forged_one_for_nobody(tmp_path: Path) -> None:
    tokens = Tokens(write_tokens(tmp_path / "t.yaml", {"a": {"workspace": "acme", "user": "ada", "rights": ["read"]}, "b": {}}))
    caller = tokens.caller("a")
    assert caller is not None
    assert (caller.name, caller.workspace, caller.user, caller.rights) == ("a", "acme", "ada", frozenset({"read"}))
    assert [tokens.caller(each) for each in ("", "A", "ab", "\udc80")] == [None] * 4


def test_an_edit_is_read_and_one_that_is_wrong_leaves_the_tokens_before_in_force(tmp_path: Path) -> None:
    file = write_tokens(tmp_path / "t.yaml", {"a": {}})
    tokens = Tokens(file)
    write_tokens(file, {"b": {}})
    assert (tokens.caller("a"), tokens.caller("b") is not None) == (None, True)
    file.write_text("- {name: c}", "utf-8")
    assert tokens.caller("b")
    file.unlink()
    assert tokens.caller("b")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file of "),
        ("[]", "at least 1 item"),
        ("- {name: a, sha256: x, rights: [read]}", r"0\.sha256 of "),
        ("- {name: a, sha256: " + "a" * 64 + ", rights: [reed]}", r"0\.rights\.0 of .*, got a text of 4 characters"),
        ("- [", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "t.yaml").write_text(text, "utf-8")
    with pytest.raises(Misconfigured, match=sentence):
        Tokens(tmp_path / "t.yaml")
    with pytest.raises(Misconfigured, match="cannot be read: No such file"):
        Tokens(tmp_path / "nowhere.yaml")


def test_the_token_of_a_machine_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    token = own_token(tmp_path / "data")
    assert len(token) >= 40
    assert own_token(tmp_path / "data") == token
    assert (tmp_path / "data" / "http-token").stat().st_mode & 0o777 == 0o600
    caller = Tokens(None, token, "acme").caller(token)
    assert caller is not None
    assert (caller.workspace, caller.rights) == ("acme", EVERY_RIGHT)
