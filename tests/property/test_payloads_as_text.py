"""A hostile text in every body stands on the page as it is: nothing is evaluated, and no structure is changed."""

import re

import pytest

from builder.assemble.items.forms import WHOLE
from builder.assemble.items.list_items import spoken
from builder.domain.control_text import visible
from tests.factories import make_rendering
from tests.hostile_pages import HARMLESS, PROFILE, breadcrumbs, labels, outline, page_of, profile_of, roots, session
from tests.payloads import PAYLOADS, Payload, leaks

each_payload = pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload.id)
LABELS: dict[str, list[str]] = {}
OUTLINES: dict[str, list[str]] = {}


async def harmless_labels(style: str) -> list[str]:
    if style not in LABELS:
        page = await page_of(breadcrumbs(session(HARMLESS)), profile_of(PROFILE + f"page: {style}\n"))
        LABELS[style], OUTLINES[style] = labels(page), outline(page)
    return LABELS[style]


@pytest.mark.parametrize("style", ["default", "xml"])
@each_payload
async def test_in_every_body_it_changes_no_structure_and_evaluates_nothing(payload: Payload, style: str) -> None:
    expected = await harmless_labels(style)
    text = payload.short
    page = await page_of(breadcrumbs(session(text)), profile_of(PROFILE + f"page: {style}\n"))
    assert leaks(page, text) == []
    lines = roots(page)
    assert [line for line, label in zip(lines, expected, strict=True) if not line.startswith(label)] == []
    if style == "default":
        assert outline(page) == OUTLINES[style]


@each_payload
def test_a_message_reads_back_word_for_word_but_for_control_text(payload: Payload) -> None:
    (crumb,) = breadcrumbs([{"id": "m1", "schema_name": "user.message.v1", "context": {"content": payload.text}}])
    fragment = make_rendering().fragment(crumb, WHOLE, "User")
    assert fragment.failed == ""
    said = visible(re.sub("\r\n?", "\n", crumb.text)).rstrip(" \t\n")
    assert spoken(fragment.text, "User") == said or not said.strip()


def test_the_harmless_session_shows_the_text_of_every_schema() -> None:
    shown = {crumb.schema for crumb in breadcrumbs(session(HARMLESS))}
    assert len(shown) == 13
