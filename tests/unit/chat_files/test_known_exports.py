"""Exports of other programs are known by their fields."""

from typing import Any

import pytest

from builder.chat_files.known_exports import EXPORTS, known_export, refusal

EXAMPLES: dict[str, Any] = {
    "an export of ChatGPT": {"title": "Kiln", "current_node": "n", "mapping": {"n": {"message": None}}},
    "an export of Claude": {"uuid": "c", "name": "Kiln", "chat_messages": [{"sender": "human", "text": "Hot?"}]},
    "a transcript of Claude Code": {"type": "user", "sessionId": "s", "uuid": "u", "message": {"content": "Hot?"}},
    "a transcript of Codex": {"timestamp": "2026-05-04T10:00:00Z", "type": "response_item", "payload": {"type": "message"}},
    "a transcript of Gemini CLI": {"sessionId": "s", "projectHash": "h", "messages": [{"type": "gemini", "content": "Hot."}]},
    "an export of Open WebUI": {"id": "c", "title": "Kiln", "chat": {"history": {"messages": {}}}},
    "an export of Slack": {"type": "message", "user": "U1", "text": "Hot?", "ts": "1777888000.000100"},
    "an export of Discord": {"guild": {}, "channel": {}, "messages": [{"author": {"name": "mia"}, "content": "Hot?"}]},
    "a history of LangChain": {"type": "human", "data": {"content": "Hot?"}},
    "a history of Pydantic AI": {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hot?"}]},
    "a conversation of ShareGPT": {"conversations": [{"from": "human", "value": "Hot?"}]},
}


@pytest.mark.parametrize("name", [name for name, _ in EXPORTS])
def test_an_export_is_named_as_what_it_is_and_as_nothing_else(name: str) -> None:
    assert [other for other, is_of in EXPORTS if is_of(EXAMPLES[name])] == [name]
    assert refusal(known_export(EXAMPLES[name])).startswith(
        f"this is {name}, which is not read yet; write its messages as lines of "
    )


@pytest.mark.parametrize("value", [{}, [], None, {"type": "note", "data": 5}, {"messages": [{"text": "x"}]}, {"kind": "request"}])
def test_other_values_are_of_no_program(value: Any) -> None:
    assert known_export(value) == ""
