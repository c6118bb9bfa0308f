"""A hostile text as a value of a profile is refused with a sentence, or stands where it was written and is not evaluated."""

from collections.abc import Callable
from itertools import product
from typing import Any

import yaml

from builder.domain.errors import Misconfigured, Rejected
from builder.domain.profile import Profile
from builder.domain.text import visible
from tests.hostile_pages import HARMLESS, PROFILE, breadcrumbs, labels, page_of, profile_of, session
from tests.payloads import SAMPLE, Payload, leaks, naming

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


async def harmless_page(profile: Profile) -> tuple[str, str]:
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
    page, reason = await harmless_page(profile)
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
    plain = await harmless_page(profile_of())
    for payload in SAMPLE:
        profile, reason = reading(consumer=payload.short)
        assert leaks(reason, payload.text) == [], payload.id
        assert profile is None or await harmless_page(profile) == plain, payload.id
