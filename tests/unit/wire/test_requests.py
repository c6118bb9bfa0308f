"""A wrong request is rejected with the field at fault."""

import json

import pytest

from builder.domain.errors import Rejected
from builder.wire.forgetting import ForgetRequest
from builder.wire.requests import (
    MAX_FILE_CHARS,
    MAX_FILES,
    MAX_HISTORY_PAGE,
    ConsumersRequest,
    FetchRequest,
    HistoryRequest,
    PersonRequest,
    ReplayRequest,
    SearchRequest,
    SessionsRequest,
    _warn_of_user,
    read_request,
)


def test_an_empty_request_is_an_empty_object() -> None:
    assert read_request(ConsumersRequest, b"") == ConsumersRequest()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"id": ""}', "id: String should have at least 1 character"),
        (b'{"id": "m1", "colour": 1}', "colour: Extra inputs"),
        (b'{"id": "m1", "version": 0}', "version: .*, got a number"),
        (b"[1]", "the request: "),
        (b"{", "not readable JSON"),
    ],
)
def test_a_wrong_request_is_rejected_with_its_field(data: bytes, reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        read_request(FetchRequest, data)


def test_a_page_of_a_history_is_bounded() -> None:
    assert (
        read_request(HistoryRequest, json.dumps({"session": "s42", "limit": MAX_HISTORY_PAGE}).encode()).limit == MAX_HISTORY_PAGE
    )
    with pytest.raises(Rejected, match="limit"):
        read_request(HistoryRequest, json.dumps({"session": "s42", "limit": MAX_HISTORY_PAGE + 1}).encode())


@pytest.mark.parametrize(
    "files", [{f"hints/n{n}.md.j2": "" for n in range(MAX_FILES + 1)}, {"hints/a.md.j2": "a" * (MAX_FILE_CHARS + 1)}]
)
def test_a_replay_with_too_many_or_too_large_files_is_refused_with_what_is_allowed(files: dict[str, str]) -> None:
    with pytest.raises(Rejected, match=r"files: .* allowed are 200 of 500,000 together, so send those that differ"):
        read_request(ReplayRequest, json.dumps({"trigger": "m1", "files": files}).encode())


@pytest.mark.parametrize("model", [HistoryRequest, SearchRequest, SessionsRequest, ForgetRequest])
def test_a_person_has_the_former_name_for_one_release_and_the_log_says_so_once(
    model: type[PersonRequest], caplog: pytest.LogCaptureFixture
) -> None:
    _warn_of_user.cache_clear()
    text = {"text": "Which kiln?"} if model is SearchRequest else {}
    for _ in range(2):
        assert read_request(model, json.dumps({"user": "ada", **text}).encode()).user_id == "ada"
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == ["a request names a person as `user`"]
    assert read_request(model, json.dumps({"user_id": "ada", **text}).encode()).user_id == "ada"
    with pytest.raises(Rejected, match="user: Extra inputs"):
        read_request(model, json.dumps({"user_id": "ada", "user": "ada", **text}).encode())
