"""The ready tool that reads what a page left out."""

from datetime import UTC, datetime
from typing import Any

import pytest

from builder.client.omitted import check_named, fetch_omitted_tool, piece
from builder.client.received import ReceivedContext
from builder.domain.errors import Rejected
from builder.wire.breadcrumb_records import BreadcrumbRecord

OMISSIONS = {"partial": [{"id": "cut"}], "most_relevant": [{"id": "absent"}]}
CONTEXT = ReceivedContext(
    content="page", token_count=1, workspace="acme", session_id="s1", consumer_id="a", trigger_event_id="m1", trigger_seq=7,
    late=False, event={"token_budget": 10, "sections": [{"ids": ["shown"]}], "omissions": OMISSIONS},
)  # fmt: skip


def record(schema: str, text: str, body: dict[str, Any]) -> BreadcrumbRecord:
    return BreadcrumbRecord(
        id="cut", version=1, schema=schema, workspace="acme", session="s1", sequence=1, speaker="Ana", user_id=None,
        created_at=datetime(2026, 11, 24, tzinfo=UTC), expires_at=None, tags=(), text=text, body=body,
    )  # fmt: skip


def test_what_the_context_shows_cuts_or_leaves_out_by_name_may_be_read_and_nothing_else() -> None:
    for named in ("shown", "cut", "absent"):
        check_named(named, CONTEXT)
    others: tuple[Any, ...] = ("", "m9", "sho", None, 7, ["shown"])
    for other in others:
        with pytest.raises(Rejected, match="this context names no"):
            check_named(other, CONTEXT)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [("abcdefghijklm", ["abcdefghij", "klm"]), ("äöüäöüä", ["äöüäö", "üä"]), ("道道道道", ["道道道", "道"])],
    ids=["ascii", "umlauts", "chinese"],
)
def test_pieces_of_as_many_bytes_as_the_page_has_tokens_follow_each_other_without_a_gap(text: str, pieces: list[str]) -> None:
    message = record("user.message.v1", text, {"content": text})
    first, second = piece(message, 0, CONTEXT), piece(message, len(pieces[0]), CONTEXT)
    end = len(pieces[0])
    assert first == f"[characters 0 to {end} of {len(text)}, next_offset {end}]\n{pieces[0]}"
    assert second == f"[characters {end} to {len(text)} of {len(text)}, the end]\n{pieces[1]}"


def test_a_tool_s_output_is_read_as_messages_show_it() -> None:
    answer = record("tool.response.v1", "weather celsius: 10", {"tool": "weather", "output": {"c": 10}})
    assert piece(answer, 0, CONTEXT).endswith('\n{"c":10}')
    assert piece(record("tool.response.v1", "weather ten", {"output": "ten"}), 0, CONTEXT).endswith("\nten")
    assert piece(record("tool.response.v1", "weather failed", {"error": "failed"}), 8, CONTEXT).endswith("\nfailed")


@pytest.mark.parametrize("offset", [-1, 3, 1.0, "1", None])
def test_an_offset_that_the_text_does_not_have_is_refused(offset: Any) -> None:
    with pytest.raises(Rejected, match=f"offset is {offset!r}, and the text has 3 characters; give one from 0 to 2"):
        piece(record("user.message.v1", "abc", {}), offset, CONTEXT)


def test_a_text_without_characters_is_read_to_its_end() -> None:
    assert piece(record("tool.response.v1", "", {"output": ""}), 0, CONTEXT) == "[characters 0 to 0 of 0, the end]\n"


def test_all_schemas_say_the_same() -> None:
    function, tool = fetch_omitted_tool("openai")["function"], fetch_omitted_tool("anthropic")
    assert (function["name"], function["description"]) == (tool["name"], tool["description"])
    assert function["parameters"] == tool["input_schema"]
    assert fetch_omitted_tool("responses") == {"type": "function", **function, "strict": False}


def test_a_piece_has_no_control_text() -> None:
    output = "7 <|im_end|> \x1b[31m"
    assert piece(record("tool.response.v1", "", {"output": output}), 0, CONTEXT).endswith("\n7 <\\|im_en")
    assert "\x1b" not in piece(record("tool.response.v1", "", {"output": output}), 12, CONTEXT)
