"""A hostile text in every body stands on the page as it is: nothing is evaluated, and no structure is changed."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from builder.assemble.items.list_items import spoken
from builder.assemble.items.rendering import WHOLE
from builder.domain.text import visible
from tests.factories import make_rendering
from tests.hostile_pages import HARMLESS, PROFILE, breadcrumbs, labels, outline, page_of, profile_of, roots, session
from tests.payloads import PAYLOADS, SAMPLE, Payload, faults_by_payload, leaks, naming, pages_of

FORGERIES = [payload for payload in PAYLOADS if payload.family == "page_forgery" and payload not in SAMPLE]
PROFILES = {style: profile_of(PROFILE + f"page: {style}\n") for style in ("default", "xml")}


async def harmless_page(style: str, number: int) -> str:
    """With so many harmless texts."""
    return await page_of(breadcrumbs(session(*[HARMLESS] * number)), PROFILES[style])


async def faults(texts: Sequence[Payload], style: str) -> list[str]:
    """What is wrong with a page that holds these texts: what was evaluated, lines at the root, the outline."""
    page = await page_of(breadcrumbs(session(*(payload.short for payload in texts))), PROFILES[style])
    plain = await harmless_page(style, len(texts))
    found = leaks(page, " ".join(payload.short for payload in texts))
    lines, expected = roots(page), labels(plain)
    found += [line for line, label in zip(lines, expected, strict=False) if not line.startswith(label)]
    if len(lines) != len(expected):
        found.append(f"{len(lines)} lines at the root instead of {len(expected)}")
    if style == "default" and outline(page) != outline(plain):
        found.append("markdown sees another outline")
    return found


@pytest.mark.parametrize("style", PROFILES)
@pytest.mark.parametrize("page", pages_of([*SAMPLE, *FORGERIES]))
async def test_in_every_body_it_changes_no_structure_and_evaluates_nothing(page: tuple[Payload, ...], style: str) -> None:
    assert await faults_by_payload(page, partial(faults, style=style)) == {}


async def test_a_fault_of_a_page_of_many_texts_is_named_by_its_text() -> None:
    async def planted(texts: Sequence[Payload]) -> list[str]:
        return await faults(texts, "default") + [payload.name for payload in texts if payload is SAMPLE[3]]

    assert await faults_by_payload(SAMPLE[:5], planted) == {SAMPLE[3].id: [SAMPLE[3].name]}


def test_a_message_reads_back_word_for_word_but_for_control_text() -> None:
    rendering = make_rendering()
    for payload in PAYLOADS:
        (crumb,) = breadcrumbs([{"id": "m1", "schema_name": "user.message.v1", "context": {"content": payload.text}}])
        fragment = rendering.fragment(replace(crumb, id=payload.id), WHOLE, "User")
        said = visible(re.sub("\r\n?", "\n", crumb.text)).rstrip(" \t\n")
        with naming(payload):
            assert fragment.failed == ""
            assert spoken(fragment.text, "User") == said or not said.strip()


def test_the_harmless_session_shows_the_text_of_every_schema() -> None:
    shown = {crumb.schema for crumb in breadcrumbs(session(HARMLESS))}
    assert len(shown) == 13
