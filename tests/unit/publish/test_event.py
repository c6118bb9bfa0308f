"""A context as an event: readers of RCRT and of this project find what they look for, and the broker takes it."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator

from builder.app.config import bundled_folder
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Breakpoint, Context, Omission, Section
from builder.domain.errors import Rejected
from builder.publish.event import DEFAULT_MAX_BYTES, encode
from tests.factories import make_breadcrumb, make_context, make_profile, make_remembered
from tests.property.sessions import hear

SCHEMA = json.loads((bundled_folder("schemas") / "agent.context.v1.json").read_text("utf-8"))


def context(trigger: Breadcrumb | None = None, **changes: Any) -> Context:
    """A page of a message in Chinese. changes: any field."""
    fields: dict[str, Any] = {
        "trigger": trigger or make_breadcrumb("釉料", sequence=7, id="问题-1"),
        "consumer": "default",
        "agent": "default",
        "assembled_at": datetime(2026, 11, 21, 12, 0, tzinfo=UTC),
        "markdown": "## Tools\n- 计算器\n\n## Current User Message\n- User: 釉料\n",
        "breakpoints": (Breakpoint(name="static", characters=18, tokens=8, prefix="0a"),),
        "tokens": 17,
        "budget": 4000,
        "margin": 0.25,
        "encoding": "o200k_base",
        "profile_revision": "0a1b2c3d",
        "template_revision": "4e5f6a7b",
        "model": "m",
        "flags": (),
        "sections": (
            Section(name="tools", section_class="static", tokens=8, tokens_by_id={"catalog": 5}, probability_by_id={}),
            Section(
                name="current", section_class="turn", tokens=9, tokens_by_id={"问题-1": 6, "catalog": 0}, probability_by_id={}
            ),
        ),
        "partial": (Omission(id="catalog", reason="cut to what has room", tokens=40, tokens_shown=5),),
        "omissions": (Omission(id="m2", reason="repeat"), Omission(id="m3", reason="over budget", tokens=12, probability=0.04)),
        "left_out": {"repeat": 60, "over budget": 30},
        "left_out_tokens": 3401,
    }
    return Context(**(fields | changes))


def event(source: Context, max_bytes: int = DEFAULT_MAX_BYTES) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(encode(source, max_bytes))
    return found


def test_assembly_comes_first_and_the_first_200_bytes_are_ascii_whatever_is_said() -> None:
    data = encode(context())
    assert data.startswith(b'{"assembly":{"profile":"0a1b2c3d",')
    assert data[:200].isascii()
    assert not data.isascii()


def test_the_shortest_names_that_there_can_be_still_leave_200_bytes_of_ascii() -> None:
    trigger = make_breadcrumb(workspace="a", session="s", id="ü", sequence=1)
    short = context(trigger, consumer="c", encoding="", profile_revision="", template_revision="", model="", budget=1)
    assert encode(short)[:200].isascii()


def test_a_model_from_a_folder_with_accents_leaves_as_ascii() -> None:
    data = encode(context(model="modèle/fp32/0a1b2c3d4e5f"))
    assert data[:200].isascii()
    assert json.loads(data)["assembly"]["model"] == r"mod\xe8le/fp32/0a1b2c3d4e5f"


def test_the_event_says_who_asked_for_whom_and_when() -> None:
    found = event(context())
    assert UUID(found["id"]) == context().id
    assert found["schema_name"] == "agent.context.v1"
    assert (found["workspace"], found["consumer_id"], found["session_id"]) == ("acme", "default", "s42")
    assert (found["trigger_event_id"], found["trigger_seq"]) == ("问题-1", 7)
    assert found["assembled_at"] == "2026-11-21T12:00:00Z"
    assert [(section["class"], section["tokens_by_id"]) for section in found["sections"]] == [
        ("static", {"catalog": 5}),
        ("turn", {"问题-1": 6, "catalog": 0}),
    ]
    assert (found["breadcrumb_count"], found["sources_assembled"]) == (2, 2)


def test_times_leave_in_utc() -> None:
    there = datetime(2026, 11, 21, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    assert event(context(assembled_at=there))["assembled_at"] == "2026-11-21T12:00:00Z"


def test_the_estimate_is_the_true_count_and_both_names_of_the_page_hold_the_page() -> None:
    found = event(context())
    assert found["token_estimate"] == found["token_count"] == 17
    assert found["content"] == found["formatted_context"] == context().markdown


def test_the_prefix_hash_is_that_of_the_last_breakpoint_in_front_of_what_is_per_turn() -> None:
    slow = Breakpoint(name="slow", characters=30, tokens=12, prefix="1b")
    recent = Breakpoint(name="recent", characters=40, tokens=14, prefix="2c")
    assert event(context())["assembly"]["prefix"] == "0a"
    assert event(context(breakpoints=(*context().breakpoints, slow, recent)))["assembly"]["prefix"] == "1b"
    assert event(context(breakpoints=(recent,)))["assembly"]["prefix"] == event(context(breakpoints=()))["assembly"]["prefix"]
    assert event(context())["breakpoints"] == [{"name": "static", "characters": 18, "tokens": 8, "prefix": "0a"}]


@pytest.mark.parametrize("omissions", [(), context().omissions])
def test_the_event_fits_its_schema(omissions: tuple[Omission, ...]) -> None:
    validator = Draft202012Validator(SCHEMA)
    validator.validate(event(context(omissions=omissions)))
    validator.validate(event(context(), max_bytes=len(encode(context())) - 1))


def test_the_context_of_a_real_assembly_fits_its_schema() -> None:
    rows = [f"Message number {number} about glaze." for number in range(1, 30)]
    built = make_context(make_remembered("Which glaze?", 40), rows)
    Draft202012Validator(SCHEMA).validate(event(built))


def test_what_is_shown_in_part_and_what_is_not_shown_are_told_apart_and_all_are_counted_by_reason() -> None:
    found = event(context())["omissions"]
    assert found["partial"] == [{"id": "catalog", "reason": "cut to what has room", "tokens": 40, "shown": 5}]
    assert [(held["id"], held["reason"], held["tokens"]) for held in found["most_relevant"]] == [
        ("m2", "repeat", 0),
        ("m3", "over budget", 12),
    ]
    assert [held.get("probability") for held in found["most_relevant"]] == [None, 0.04]
    assert (found["count"], found["tokens"]) == (90, 3401)
    assert found["by_reason"] == {"cut to what has room": 1, "over budget": 30, "repeat": 60}


@pytest.mark.parametrize("shape", ["openai", "responses"])
def test_an_event_that_is_too_large_drops_images_then_messages_then_the_second_copy_of_the_page_and_nothing_else(
    shape: str,
) -> None:
    picture = "iVBORw0KGgoA" * 300
    content = [{"type": "text", "text": "This?"}, {"type": "image", "mimeType": "image/png", "data": picture}]
    source = make_context(hear(9, "user.message.v1", {"content": content}), [], make_profile(chat_format=shape))
    encodings = [encode(source)]
    while len(encodings) < 4:
        assert encode(source, len(encodings[-1])) == encodings[-1]
        encodings.append(encode(source, len(encodings[-1]) - 1))
    whole, without_images, without_messages, least = map(json.loads, encodings)
    assert [picture in json.dumps(each) for each in (whole, without_images)] == [True, False]
    assert without_messages == {key: value for key, value in without_images.items() if key != "messages"}
    assert least == {key: value for key, value in without_messages.items() if key != "formatted_context"}


def test_an_event_that_is_still_too_large_is_rejected_with_both_sizes_and_what_to_do() -> None:
    least = len(encode(context(), len(encode(context())) - 1))
    with pytest.raises(Rejected, match=rf"the context has {least:,} bytes, the broker takes {least - 1:,}; lower the profile's"):
        encode(context(), least - 1)
