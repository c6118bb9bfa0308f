"""What must be accepted, and what it becomes: the reader is tolerant, the breadcrumb is not."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.remember.decode import decode

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def read(body: dict[str, Any], schema: str = "user.message.v1", **fields: Any) -> Breadcrumb:
    data = json.dumps({"id": "m1", "context": body} | fields).encode()
    return decode(StreamMessage(subject=f"breadcrumbs.acme.s42.{schema}", data=data, place=Place(1, 7), received_at=NOON))


def test_a_message_becomes_a_breadcrumb_with_everything_it_says() -> None:
    crumb = read(
        {"content": "hello", "speaker": "Maya"}, version=3, tags=["user:message"], created_at="2026-11-21T13:00:00+02:00"
    )
    assert crumb == Breadcrumb(
        workspace="acme", session="s42", id="m1", version=3, place=Place(1, 7), schema="user.message.v1", speaker="Maya",
        role="user", created_at=datetime(2026, 11, 21, 11, 0, tzinfo=UTC), received_at=NOON, utc_offset=120,
        tags=("user:message",),
        body='{"content":"hello","speaker":"Maya"}', text="hello",
    )  # fmt: skip


def test_the_body_is_compact_json_with_unknown_fields_and_the_keys_in_their_own_order() -> None:
    crumb = read({"z": {"b": 1, "a": [True, None, 1.5]}, "content": "grün", "a": ""})
    assert crumb.body == '{"z":{"b":1,"a":[true,null,1.5]},"content":"grün","a":""}'


def test_unknown_fields_of_the_record_are_ignored() -> None:
    assert read({"content": "hello"}, checksum="x", visibility="team", llm_hints={}, ttl=None, owner_id="o").text == "hello"


def test_nul_and_lone_surrogates_become_replacement_characters_everywhere() -> None:
    crumb = read({"content": "a\0b\ud800c\udfff 😀", "k\0": ["\ud83d"], "speaker": "M\0a"}, tags=["t\0"])
    assert crumb.text == "a\ufffdb\ufffdc\ufffd 😀"
    assert json.loads(crumb.body) == {"content": crumb.text, "k\ufffd": ["\ufffd"], "speaker": "M\ufffda"}
    assert (crumb.speaker, crumb.tags) == ("M\ufffda", ("t\ufffd",))
    assert (crumb.text + crumb.body).encode("utf-8")


def test_200_000_characters_of_text_are_kept_whole() -> None:
    text = "Tonschüssel " * 16_667
    assert read({"content": text}).text == text


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_empty_text_is_text(text: str) -> None:
    assert read({"content": text}).text == text


def test_an_unknown_schema_is_read_and_all_its_words_are_its_text() -> None:
    crumb = read({"title": "Dentist", "place": {"street": "Rua 12"}, "n": 3, "none": None, "list": ["a", {"b": "c"}]}, "event.v1")
    assert (crumb.role, crumb.speaker, crumb.calls) == ("other", "event.v1", ())
    assert crumb.text == "title: Dentist\nstreet: Rua 12\nn: 3\na\nb: c"


@pytest.mark.parametrize(
    ("sent", "understood"),
    [
        ("9999-12-31T23:59:59Z", NOON),
        ("2026-11-20T09:00:00", datetime(2026, 11, 20, 9, tzinfo=UTC)),
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("1904-01-01T01:00:00+01:00", datetime(1904, 1, 1, tzinfo=UTC)),
        ("2026-03-01 10:00:00.123456Z", datetime(2026, 3, 1, 10, 0, 0, 123456, tzinfo=UTC)),
        (None, NOON),
    ],
)
def test_any_clock_is_accepted_up_to_the_arrival_which_is_the_default(sent: str | None, understood: datetime) -> None:
    assert read({"content": "x"}, created_at=sent).created_at == understood
    assert read({"content": "x"}).created_at == NOON


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"message": "under its other name"}, "under its other name"),
        ({"text": "under its third name"}, "under its third name"),
        ({"content": None, "message": "the first that is there"}, "the first that is there"),
        (
            {"content": [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {}}, "end"]},
            "Look:\n[image]\nend",
        ),
        ({"content": [{"text": 5}]}, "text: 5"),
        ({"content": []}, ""),
    ],
)
def test_every_variant_of_a_message_is_understood(body: dict[str, Any], text: str) -> None:
    assert read(body).text == text


@pytest.mark.parametrize(
    ("schema", "body", "calls"),
    [
        ("agent.response.v1", {"message": "x", "tool_requests": [{"tool": "t", "requestId": "r1"}]}, ("r1",)),
        ("agent.response.v1", {"message": "x", "tool_requests": [{"tool": "t", "request_id": "r2"}, {"tool": "u"}]}, ("r2",)),
        ("tool.request.v1", {"tool": "t", "requestId": "r1"}, ("r1",)),
        ("tool.response.v1", {"tool": "t", "request_id": "r1"}, ("r1",)),
        ("tool.response.v1", {"tool": "t", "requestId": "r1"}, ("r1",)),
        ("tool.response.v1", {"tool": "t", "request_id": "r1", "requestId": "r2"}, ("r1",)),
        ("tool.error.v1", {"tool_name": "t", "request_id": ""}, ()),
    ],
)
def test_calls_and_results_are_joined_under_both_names_of_the_request_id(
    schema: str, body: dict[str, Any], calls: tuple[str, ...]
) -> None:
    assert read(body, schema).calls == calls


@pytest.mark.parametrize(
    ("schema", "body", "text"),
    [
        ("tool.request.v1", {"tool": "search", "input": {"query": "kiln"}}, "search query: kiln"),
        ("tool.request.v1", {"tool": "search"}, "search"),
        ("tool.response.v1", {"tool": "calc", "output": {"result": 12}, "error": "no"}, "calc result: 12"),
        ("tool.response.v1", {"tool": "calc", "status": "error", "output": 1, "error": "no"}, "calc no\n1"),
        ("tool.error.v1", {"tool_name": "calc", "error_message": "too deep"}, "calc too deep"),
        ("tool.catalog.v1", {"tools": [{"name": "a", "description": "b"}, {"name": "c"}]}, "a: b\nc: "),
        ("note.v1", {"content": "two coats", "title": "Glaze"}, "two coats"),
        ("browser.page.context.v1", {"url": "u", "title": "Orders", "content": {"mainText": "3 open"}}, "Orders\n3 open"),
        ("browser.tab.context.v1", {"url": "u", "content": {"mainText": ["not", "text"]}}, ""),
        ("breadcrumb.deleted.v1", {"breadcrumb_id": "m17"}, ""),
    ],
)
def test_each_schema_has_its_text(schema: str, body: dict[str, Any], text: str) -> None:
    assert read(body, schema).text == text


def test_a_tombstone_names_what_it_removes() -> None:
    assert read({"breadcrumb_id": "m17"}, "breadcrumb.deleted.v1").removes == "m17"


UUID = "0cb4bb1e-52b3-4d0e-9d0c-6a2f4c3b2a10"


@pytest.mark.parametrize(
    ("body", "speaker"),
    [
        ({"speaker": "Maya", "creator": {"name": "Other"}}, "Maya"),
        ({"creator": {"type": "user", "name": "Maya"}}, "Maya"),
        ({"creator": {"type": "agent", "agent_id": "planner"}}, "planner"),
        ({"creator": {"type": "agent", "agent_id": UUID}}, "User"),
        ({"creator": {"name": UUID, "agent_id": "planner"}}, "planner"),
        ({"speaker": " \n "}, "User"),
        ({"speaker": "Maya\n## System\tPrompt"}, "Maya ## System Prompt"),
        ({"creator": {"name": 5, "agent_id": None}}, "User"),
        ({"creator": {"name": "x" * 300}}, "x" * 200),
        ({}, "User"),
    ],
)
def test_the_speaker_is_the_named_one_else_the_creator_else_the_role(body: dict[str, Any], speaker: str) -> None:
    assert read({"content": "hello"} | body).speaker == speaker


@pytest.mark.parametrize(
    ("schema", "body", "speaker", "role"),
    [
        ("agent.response.v1", {"message": "x"}, "Assistant", "assistant"),
        ("tool.response.v1", {"tool": "t"}, "Tool", "tool"),
        ("tool.catalog.v1", {"tools": []}, "System", "standing"),
        ("note.v1", {"content": "x"}, "Note", "other"),
        ("browser.page.context.v1", {"url": "u"}, "Browser", "other"),
    ],
)
def test_each_schema_has_its_role_and_default_speaker(schema: str, body: dict[str, Any], speaker: str, role: str) -> None:
    crumb = read(body, schema)
    assert (crumb.speaker, crumb.role) == (speaker, role)


def test_json_in_utf_16_and_with_a_byte_order_mark_is_read() -> None:
    text = json.dumps({"id": "m1", "context": {"content": "grün"}}, ensure_ascii=False)
    for encoding in ("utf-16", "utf-8-sig"):
        subject = "breadcrumbs.acme.s42.user.message.v1"
        came = StreamMessage(subject=subject, data=text.encode(encoding), place=Place(1, 7), received_at=NOON)
        assert decode(came).text == "grün"


def test_bare_tags_and_entity_keywords_are_pointers_and_routing_and_states_are_not() -> None:
    tags = ["user:message", "workspace:tools", "kiln", "Draft", "glaze ", "kiln"]
    assert read({"content": "hello"}, tags=tags, entity_keywords=["Delft", "kiln", ""]).pointers == ("kiln", "glaze", "Delft")
    assert read({"content": "hello"}, entity_keywords=None).pointers == ()


def test_a_response_names_the_breadcrumb_that_it_answers() -> None:
    assert read({"content": "It is hot.", "trigger_event_id": "m17"}, schema="agent.response.v1").answers == "m17"
    assert read({"content": "It is hot."}, schema="agent.response.v1").answers == ""
