"""Exports of other programs are known by their fields."""

from typing import Any

import pytest

from builder.chat_files.refusals import EXPORTS, known_export, known_text, refusal

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
    "an export of Telegram": {
        "chats": {"list": [{"type": "personal_chat", "messages": [{"from": "Mia", "from_id": "u1", "text": "Hot?"}]}]}
    },
    "an export of Teams": {
        "value": [{"messageType": "message", "createdDateTime": "2026-05-04T10:00:00Z", "body": {"content": "Hot?"}}]
    },
    "an export of GitHub Copilot": {"responderUsername": "Copilot", "requests": [{"message": {"text": "Hot?"}}]},
    "an export of Cursor": {"composerId": "c", "conversation": [{"type": 1, "text": "Hot?"}]},
    "an export of Google Takeout": {"header": "Gemini Apps", "title": "Prompted Hot?", "products": ["Gemini Apps"]},
    "an export of LibreChat": {"conversationId": "c", "messages": [{"messageId": "m", "text": "Hot?", "isCreatedByUser": True}]},
    "an export of Matrix": {
        "messages": [{"sender": "@mia:x.org", "content": {"body": "Hot?"}, "origin_server_ts": 1777888000123}]
    },
    "a chat of SillyTavern": {"name": "Mia", "is_user": True, "mes": "Hot?"},
    "a history of AutoGen": {"source": "user", "content": "Hot?", "models_usage": None},
    "a list of prompts of Codex": {"session_id": "s", "ts": 1777888000, "text": "Hot?"},
}


@pytest.mark.parametrize("name", [name for name, _ in EXPORTS])
def test_an_export_is_named_as_what_it_is_and_as_nothing_else(name: str) -> None:
    assert [other for other, is_of in EXPORTS if is_of(EXAMPLES[name])] == [name]
    assert refusal(known_export(EXAMPLES[name])).startswith(
        f"this is {name}, which is not read yet; write its messages as lines of "
    )


def test_a_log_of_gemini_cli_is_none_of_claude_code_and_a_chat_of_whatsapp_is_known_by_its_lines() -> None:
    log = {"sessionId": "s", "messageId": 0, "type": "user", "message": "Hot?"}
    assert known_export(log) == "a transcript of Gemini CLI"
    for line in ("04.05.26, 10:00 - Mia: Hot?", "[04/05/2026, 10:00:11 PM] Mia: Hot?"):
        assert known_text(line) == "an export of WhatsApp"
    assert known_text("04.05.26 at ten") == known_export({"schema_name": "x", "context": EXAMPLES["an export of Teams"]}) == ""


@pytest.mark.parametrize(
    "value",
    [{}, [], None, {"type": "note", "data": 5}, {"messages": [{"text": "x"}]}, {"kind": "request"}, {"type": []}, {"kind": {}}],
)
def test_other_values_are_of_no_program(value: Any) -> None:
    assert known_export(value) == ""
