"""Hints that a record brings are data as long as nobody trusts its source: with them the page is the same, byte for byte."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.hostile_pages import HARMLESS, PROFILE, Record, breadcrumbs, page_of, profile_of, roots, session
from tests.payloads import PAYLOADS, Payload, leaks

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


TRUSTING = profile_of(PROFILE + "trusted_hints: {sessions: any}\n")
RULES = ("a template", "a format", "a path", "a program")
"""Forms in which a trusted record may hold a source that runs."""


def trusted_session(payload: Payload) -> list[Record]:
    """A ticket for each form, and a question."""
    forms = [FORMS[name](payload.short) for name in RULES]
    tickets = [
        {"id": f"t{number}", "schema_name": "ticket.v1", "context": {"title": HARMLESS, "n": number}, "llm_hints": hints}
        for number, hints in enumerate(forms)
    ]
    return [*tickets, {"id": "q", "schema_name": "user.message.v1", "context": {"content": HARMLESS}}]


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload.id)
async def test_hints_of_a_trusted_record_reach_nothing_but_their_own_item(payload: Payload) -> None:
    page = await page_of(breadcrumbs(trusted_session(payload)), TRUSTING)
    assert leaks(page, payload.text + "1337 191191191") == []  # whom a profile trusts may compute
    assert [line for line in roots(page) if line.startswith("#")] == ["## Things", "## Current User Message"]
    assert all(line.startswith(("- ", "## ")) for line in roots(page))
    assert roots(page)[-1] == f"- User: {HARMLESS}"
