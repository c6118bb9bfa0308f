"""Hints that a record brings are data as long as nobody trusts its source: with them the page is the same, byte for byte."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.hostile_pages import HARMLESS, breadcrumbs, page_of, session
from tests.payloads import PAYLOADS, Payload

FORMS: dict[str, Callable[[str], Any]] = {
    "a template": lambda text: {"transform": {"summary": {"type": "template", "template": text}}, "mode": "replace"},
    "a format": lambda text: {"transform": {"summary": {"type": "format", "format": text}}, "mode": "merge"},
    "a path": lambda text: {"transform": {"summary": {"type": "extract", "value": text}}, "include": [text], "exclude": [text]},
    "a literal": lambda text: {"transform": {"summary": {"type": "literal", "literal": text}}},
    "a program": lambda text: {"transform": {"summary": {"type": "jq", "query": text}}},
    "names": lambda text: {"include": [text], "exclude": ["*"], "transform": {text: {"type": text}}, "mode": text},
    "no object": lambda text: text,
}
"""Where a record's `llm_hints` could hold a source. A further place where templates come from is one more line."""
PLAIN: list[str] = []


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload.id)
async def test_hints_of_a_record_that_nobody_trusts_change_nothing(payload: Payload) -> None:
    PLAIN[:] = PLAIN or [await page_of(breadcrumbs(session(HARMLESS)))]
    forms = list(FORMS.values())
    records = [
        record | {"llm_hints": forms[number % len(forms)](payload.short)} for number, record in enumerate(session(HARMLESS))
    ]
    assert await page_of(breadcrumbs(records)) == PLAIN[0]


@pytest.mark.parametrize("form", FORMS)
async def test_hints_within_a_body_are_shown_where_the_body_is_and_nowhere_else(form: str) -> None:
    records = [record | {"llm_hints": FORMS[form]("{{ 7*191 }}")} for record in session(HARMLESS)]
    records[-1] |= {"context": records[-1]["context"] | {"llm_hints": FORMS[form]("{{ 7*191 }}")}}
    assert await page_of(breadcrumbs(records)) == await page_of(breadcrumbs(session(HARMLESS)))
