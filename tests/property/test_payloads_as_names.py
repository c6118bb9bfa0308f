"""A hostile text as a name, an id, a title or a value of a profile is rejected, or stays where it stands and is not evaluated."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import yaml

from builder.adapters.templates.folder import TemplateSet, parse_phrases, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.forms import WHOLE
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.errors import BuilderError, Misconfigured, Rejected
from builder.domain.profile import Profile
from builder.language.names import is_plain
from builder.remember.decode import decode
from builder.wire.records import outgoing
from tests.factories import MORNING, PHRASES, make_breadcrumb, make_place
from tests.hostile_pages import HARMLESS, PROFILE, breadcrumbs, labels, outline, page_of, profile_of, roots, session
from tests.payloads import SAMPLE, Payload, leaks, naming

HINTS, PAGES, LANGUAGES = templates_of(read_layers((bundled_folder("templates"),)))
BUNDLED = TemplateSet(HINTS, PAGES, LANGUAGES)
FIELDS = ("id", "schema_name", "session", "version", "user_id", "created_at", "ttl", "sensitivity", "workspace", "tags")
NAMED = {"user", "assistant", "title_recent", "repeats", "tool_answered", "no_tools", "months", "day", "characters_left_out_of"}
"""Phrases that a page shows in different places."""


def naming_session(name: str) -> list[dict[str, Any]]:
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
    page = await page_of(breadcrumbs(naming_session(name)))
    assert leaks(page, name) == []
    kinds = [kind for kind in outline(page) if kind.endswith("_open")]
    assert kinds == [kind for kind in outline(plain) if kind.endswith("_open")]
    tools, catalogue, *conversation = roots(page)
    assert (tools, catalogue[:2]) == ("## Available Tools", "- ")
    names = [" ".join(name[:200].split()), name]
    own = tuple(f"- {each}:" for each in names if is_plain(each))
    labels = ("## Conversation", "## Recent Conversation", "## Current User Message", "- User", "- Assistant", "- Call ", *own)
    dates = r"\[\d+ [A-Z][a-z]+ \d{4}\]"
    goes_on = f"- {HARMLESS}"  # the same speaker
    others = [line for line in conversation if not line.startswith(labels) and line != goes_on]
    assert [line for line in others if not re.fullmatch(dates, line)] == []
    assert [line for line in conversation if re.match(r'- (User|Assistant)(?!: | "|:$)', line)] == []


async def test_a_name_is_no_label_and_opens_nothing() -> None:
    plain = await page_of(breadcrumbs(naming_session("Zoe *")))
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


BASE: dict[str, Any] = yaml.safe_load(PROFILE) | {"retrieval": {"scope": "session", "schemas": ["user.message.v1"]}}
Change = Callable[[str], dict[str, Any]]


def with_section(**changes: Any) -> dict[str, Any]:
    """The profile's third section with other settings."""
    return {"sections": [section | changes if section["name"] == "recent" else section for section in BASE["sections"]]}


PLACES: dict[str, Change] = {
    "page": lambda text: {"page": text},
    "language": lambda text: {"language": text},
    "model": lambda text: {"model": text},
    "extends": lambda text: {"extends": text},
    "encoding": lambda text: {"encoding": text},
    "budget": lambda text: {"budget": text},
    "time zone": lambda text: {"time_zone": text},
    "section name": lambda text: with_section(name=text),
    "section title": lambda text: with_section(title=text),
    "section source": lambda text: with_section(source=text),
    "system prompt": lambda text: {"system_prompt": text},
    "reminder": lambda text: {"reminders": [{"section": "recent", "text": text}]},
    "section of a reminder": lambda text: {"reminders": [{"section": text, "text": "x"}]},
    "query text": lambda text: {"retrieval": BASE["retrieval"] | {"query": "custom", "query_text": text}},
    "retrieved schema": lambda text: {"retrieval": BASE["retrieval"] | {"schemas": [text]}},
    "pinned schema": lambda text: {"pinned": [{"schemas": [text], "section": "things"}]},
    "pinned tag": lambda text: {"pinned": [{"any_tags": [text], "section": "things"}]},
    "tool": lambda text: {"tool_output": {"per_tool": {text: {"results": 1}}}},
    "a setting": lambda text: {text: 1},
}
SHOWN = ("system prompt", "reminder", "query text", "pinned tag", "tool")
"""Places where any text may stand, or most; beside the title of a section."""


def source_of(place: str, text: str) -> str:
    return yaml.safe_dump(BASE | PLACES[place](text), allow_unicode=True)


def reading(source: str = PROFILE, consumer: str = "agent") -> tuple[Profile | None, str]:
    """The profile, or why it is refused."""
    try:
        return profile_of(source, consumer), ""
    except Misconfigured as error:
        return None, str(error)


async def page_of_profile(profile: Profile) -> tuple[str, str]:
    """The page of a harmless session, or why there is none."""
    try:
        return await page_of(breadcrumbs(session(HARMLESS)), profile), ""
    except Rejected as error:
        return "", str(error)


def test_a_value_is_refused_with_a_sentence_or_taken_as_it_is() -> None:
    for payload, place in product(SAMPLE, PLACES):
        profile, reason = reading(source_of(place, payload.short))
        assert profile or "; " in reason, (payload.id, place)
        assert leaks(reason, payload.text) == [], (payload.id, place)


async def check_words_of_a_profile(payload: Payload) -> None:
    text = payload.short
    changes: dict[str, Any] = {}
    for place in SHOWN:
        changes |= PLACES[place](text) if reading(source_of(place, text))[0] else {}
    sections = with_section(title=f"T {text}")["sections"]
    profile = profile_of(yaml.safe_dump(BASE | changes | {"sections": sections}, allow_unicode=True))
    page, reason = await page_of_profile(profile)
    assert leaks(page + reason, text) == []
    if reason:
        return
    for words in (profile.system_prompt, *(reminder.text for reminder in profile.reminders)):
        assert visible(words) in page
    (heading,) = [line for line in page.split("\n") if line.startswith("## T ")]
    assert len(heading) <= 10 * len(text) + 10
    front, _, behind = page.partition(heading)
    assert [line for line in labels(front) + labels(behind) if line.startswith("## ")][-1] == "## Current User Message"


async def test_words_of_a_profile_stand_on_the_page_and_nothing_else_changes() -> None:
    for payload in SAMPLE:
        with naming(payload):
            await check_words_of_a_profile(payload)


async def test_a_name_of_a_consumer_is_refused_or_is_no_more_than_a_name() -> None:
    plain = await page_of_profile(profile_of())
    for payload in SAMPLE:
        profile, reason = reading(consumer=payload.short)
        assert leaks(reason, payload.text) == [], payload.id
        assert profile is None or await page_of_profile(profile) == plain, payload.id
