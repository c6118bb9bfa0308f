"""A hostile text as a name, an id, a tag, a title or a word of the page is rejected, or stays inside its item."""

import re
from itertools import product
from typing import Any

import pytest
import yaml

from builder.adapters.templates.folder import TemplateSet, parse_phrases, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.rendering import WHOLE
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import BuilderError, Misconfigured, Rejected
from builder.language.words import is_plain
from builder.remember.decode import decode
from builder.wire.records import outgoing
from tests.factories import MORNING, PHRASES, make_breadcrumb, make_place
from tests.hostile_pages import HARMLESS, breadcrumbs, outline, page_of, roots
from tests.payloads import SAMPLE, Payload, leaks, naming

HINTS, PAGES, LANGUAGES = templates_of(read_layers((bundled_folder("templates"),)))
BUNDLED = TemplateSet(HINTS, PAGES, LANGUAGES)
FIELDS = ("id", "schema_name", "session", "version", "user_id", "created_at", "ttl", "sensitivity", "workspace", "tags")
NAMED = {"user", "assistant", "title_recent", "repeats", "tool_answered", "no_tools", "months", "day", "characters_left_out_of"}
"""Phrases that a page shows in different places."""


def session(name: str) -> list[dict[str, Any]]:
    """Records with this text wherever a sender names something; the last one asks."""
    call = {"tool": name, "input": {name[:50] or "x": 1}, "requestId": "r1"}
    common = {"tags": [name[:200]], "title": name, "entity_keywords": [name[:200]]}
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("tool.catalog.v1", {"tools": [{"name": name, "category": name, "inputSchema": {"properties": {name: {}}}}]}),
        ("user.message.v1", {"content": HARMLESS, "speaker": name[:200], "user_id": name[:200]}),
        ("agent.response.v1", {"message": HARMLESS, "speaker": name[:200], "creator": {"type": "agent", "name": name[:200]}}),
        ("agent.response.v1", {"message": HARMLESS, "tool_requests": [call]}),
        ("tool.response.v1", {"tool": name, "status": "success", "output": HARMLESS, "request_id": "r1"}),
        ("user.message.v1", {"content": HARMLESS, "speaker": name[:200], "task_id": name[:200]}),
    ]
    return [
        {"id": f"m{number}", "schema_name": schema, "context": body, "created_at": f"2026-09-14T09:{number:02}:00Z"} | common
        for number, (schema, body) in enumerate(bodies, 1)
    ]


async def check_as_a_name(payload: Payload, plain: str) -> None:
    """plain: the page of a harmless name."""
    name = payload.short.replace("\n", " ") if payload.family == "compile_bombs" else payload.short
    page = await page_of(breadcrumbs(session(name)))
    assert leaks(page, name) == []
    kinds = [kind for kind in outline(page) if kind.endswith("_open")]
    assert kinds == [kind for kind in outline(plain) if kind.endswith("_open")]
    tools, catalogue, *conversation = roots(page)
    assert (tools, catalogue[:2]) == ("## Available Tools", "- ")
    names = [" ".join(name[:200].split()), name]
    own = tuple(f"- {each}:" for each in names if is_plain(each))
    labels = ("## Recent Conversation", "## Current User Message", "- User", "- Assistant", "- Call ", *own)
    assert [line for line in conversation if not line.startswith(labels)] == []
    assert [line for line in conversation if re.match(r'- (User|Assistant)(?!: | "|:$)', line)] == []


async def test_a_name_is_no_label_and_opens_nothing() -> None:
    plain = await page_of(breadcrumbs(session("Zoe *")))
    for payload in SAMPLE:
        with naming(payload):
            await check_as_a_name(payload, plain)


def received(record: dict[str, Any]) -> tuple[Breadcrumb | None, str]:
    """The breadcrumb, or why the record is rejected."""
    try:
        return decode(outgoing(record, "acme").arrive(make_place(1), MORNING)), ""
    except Rejected as error:
        return None, str(error)


def test_a_field_of_the_record_is_rejected_or_is_data() -> None:
    record = {"id": "m1", "schema_name": "user.message.v1", "context": {"content": HARMLESS}, "session": "s1"}
    for payload, field in product(SAMPLE, FIELDS):
        crumb, shown = received(record | {field: payload.short})
        fragment = JinjaRendering(BUNDLED, len).fragment(crumb, WHOLE, "User") if crumb else None
        shown += fragment.text + fragment.failed if fragment else ""
        assert leaks(shown, payload.text) == [], (payload.id, field)


def worded(words: dict[str, str]) -> str:
    """A message and a result in these words, or why there is none."""
    hints = {name: HINTS[name] for name in ("generic", "user.message.v1", "tool.response.v1")}
    rendering = JinjaRendering(TemplateSet(hints, {}, {"en": {**PHRASES.entries, **words}}), len)
    try:
        crumbs = [make_breadcrumb(HARMLESS, schema=schema) for schema in ("user.message.v1", "tool.response.v1")]
        fragments = [rendering.fragment(crumb, WHOLE, "User", cap=2_000) for crumb in crumbs]
    except BuilderError as error:
        return str(error)
    return "".join(fragment.text + fragment.failed for fragment in fragments)


def test_a_word_of_the_page_is_refused_or_is_a_word() -> None:
    for payload in SAMPLE:
        words: dict[str, str] = {}
        shown = ""
        for name in NAMED:
            try:
                words |= parse_phrases(yaml.safe_dump({name: payload.short}), PHRASES.entries)
            except Misconfigured as error:
                shown += str(error)
        shown += worded(words)
        assert leaks(shown, payload.text) == [], payload.id
        assert len(shown) <= 50_000, payload.id


@pytest.mark.parametrize(
    "text", ["{number:1000000000}", "{number!r}", "{number:{number}}", "{number.__class__}", "{number[0]}", "{0}"]
)
def test_a_field_of_a_phrase_is_a_name_and_nothing_else(text: str) -> None:
    with pytest.raises(Misconfigured, match="; "):
        parse_phrases(yaml.safe_dump({"repeats": text}), PHRASES.entries)
