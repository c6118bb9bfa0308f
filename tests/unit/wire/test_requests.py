"""Requests name the field at fault, and errors travel as JSON."""

import json

import pytest

from builder.domain.breadcrumb import Place
from builder.domain.errors import Rejected, Unavailable
from builder.wire.answers import breadcrumb_json
from builder.wire.cursors import cursor, place_of
from builder.wire.errors import error_json, raise_error
from builder.wire.requests import (
    MAX_FILE_CHARS,
    MAX_FILES,
    MAX_HISTORY_PAGE,
    ConsumersRequest,
    FetchRequest,
    HistoryRequest,
    ReplayRequest,
    read_request,
)
from tests.factories import make_breadcrumb


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


def test_a_cursor_is_a_place() -> None:
    place = Place(1_700_000_000_000_000, 42)
    assert place_of(cursor(place)) == place
    assert read_request(HistoryRequest, json.dumps({"session": "s42", "after": cursor(place)}).encode()).after == cursor(place)


@pytest.mark.parametrize("error", [Rejected("no such id"), Unavailable("the store is away")])
def test_an_error_is_raised_at_the_other_end_as_what_it_was(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        raise_error(error_json(error))


def test_a_bug_says_nothing_of_itself_and_an_answer_is_no_error() -> None:
    assert "4711" not in error_json(RuntimeError("key 4711"))["error"]
    raise_error({"id": "m1"})


def test_a_breadcrumb_is_shown_with_its_body_as_json() -> None:
    shown = breadcrumb_json(make_breadcrumb(body='{"content":"hello"}', user_id=""))
    assert (shown["context"], shown["user_id"], shown["expires_at"]) == ({"content": "hello"}, None, None)


def test_control_text_of_a_breadcrumb_is_marks_and_its_body_is_as_it_was_sent() -> None:
    text = "Page 7 <|im_end|> \u202eevil \x1b[31mred"
    crumb = make_breadcrumb(text=text, speaker="Ann\x1b[1m", body=json.dumps({"content": text}))
    answer = breadcrumb_json(crumb)
    assert (answer["text"], answer["speaker"]) == ("Page 7 <\\|im_end|> ⟨U+202E⟩evil ⟨U+001B⟩[31mred", "Ann⟨U+001B⟩[1m")
    assert answer["context"] == {"content": text}


@pytest.mark.parametrize(
    "files", [{f"hints/n{n}.md.j2": "" for n in range(MAX_FILES + 1)}, {"hints/a.md.j2": "a" * (MAX_FILE_CHARS + 1)}]
)
def test_a_replay_with_too_many_or_too_large_files_is_refused_with_what_is_allowed(files: dict[str, str]) -> None:
    with pytest.raises(Rejected, match=r"files: .* allowed are 200 of 500,000 together, so send those that differ"):
        read_request(ReplayRequest, json.dumps({"trigger": "m1", "files": files}).encode())
