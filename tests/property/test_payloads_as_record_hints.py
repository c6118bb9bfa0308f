"""Hints that a record brings are data as long as nobody trusts its source: with them the page is the same, byte for byte."""

import re
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import pytest

from tests.hostile_pages import HARMLESS, PROFILE, Record, breadcrumbs, page_of, profile_of, roots, session
from tests.payloads import PAGES, Payload, faults_by_payload, leaks

FORMS: dict[str, Callable[[str], Any]] = {
    "a template": lambda text: {"transform": {"summary": {"type": "template", "template": text}}, "mode": "replace"},
    "a format": lambda text: {"transform": {"summary": {"type": "format", "format": text}}, "mode": "merge"},
    "a path": lambda text: {"transform": {"summary": {"type": "extract", "value": text}}, "include": [text], "exclude": [text]},
    "a literal": lambda text: {"transform": {"summary": {"type": "literal", "literal": text}}},
    "names": lambda text: {"include": [text], "exclude": ["*"], "transform": {text: {"type": text}}, "mode": text},
    "no object": lambda text: text,
}
"""Where a record's `llm_hints` could hold a source. A further place where templates come from is one more line."""
RECORDS = len(session(HARMLESS)) - 1
"""Records of a text, beside the catalog of all."""


async def changes(texts: Sequence[Payload]) -> list[str]:
    """Whether each form of each text, in turn through the schemas, changes a page."""
    hints = [FORMS[form](payload.short) for payload in texts for form in FORMS]
    plain = session(*[HARMLESS] * -(-len(hints) // RECORDS))
    records = [record | {"llm_hints": hint} for record, hint in zip(plain, cycle(hints), strict=False)]
    page, expected = await page_of(breadcrumbs(records)), await page_of(breadcrumbs(plain))
    return [] if page == expected else [line for line in page.split("\n") if line not in expected] or ["lines are missing"]


@pytest.mark.parametrize("page", PAGES)
async def test_hints_of_a_record_that_nobody_trusts_change_nothing(page: tuple[Payload, ...]) -> None:
    assert await faults_by_payload(page, changes) == {}


@pytest.mark.parametrize("form", FORMS)
async def test_hints_within_a_body_are_shown_where_the_body_is_and_nowhere_else(form: str) -> None:
    records = [record | {"llm_hints": FORMS[form]("{{ 7*191 }}")} for record in session(HARMLESS)]
    records[-1] |= {"context": records[-1]["context"] | {"llm_hints": FORMS[form]("{{ 7*191 }}")}}
    assert await page_of(breadcrumbs(records)) == await page_of(breadcrumbs(session(HARMLESS)))


TRUSTING = profile_of(PROFILE + "trusted_hints: {sessions: any}\n")
RULES = ("a template", "a format", "a path")
"""Forms in which a trusted record may hold a source that runs."""


def trusted_session(texts: Sequence[Payload]) -> list[Record]:
    """A ticket for each form and text, and a question."""
    hints = [FORMS[name](payload.short) for payload in texts for name in RULES]
    tickets = [
        {"id": f"t{number}", "schema_name": "ticket.v1", "context": {"title": HARMLESS, "n": number}, "llm_hints": each}
        for number, each in enumerate(hints)
    ]
    return [*tickets, {"id": "q", "schema_name": "user.message.v1", "context": {"content": HARMLESS}}]


async def faults(texts: Sequence[Payload]) -> list[str]:
    """What the hints of trusted records did beyond their own items."""
    page = await page_of(breadcrumbs(trusted_session(texts)), TRUSTING)
    written = " ".join(payload.text for payload in texts)
    found = leaks(page, written + "1337 191191191")  # whom a profile trusts may compute
    *lines, last = (line for line in roots(page) if not re.fullmatch(r"\[\d+ [A-Z][a-z]+ \d{4}\]", line))
    headings = [line for line in lines if line.startswith("#")]
    if headings != ["## Things", "## Current User Message"]:
        found += headings
    found += [line for line in lines if not line.startswith(("- ", "## "))]
    return found if last == f"- User: {HARMLESS}" else [*found, last]


@pytest.mark.parametrize("page", PAGES)
async def test_hints_of_a_trusted_record_reach_nothing_but_their_own_item(page: tuple[Payload, ...]) -> None:
    assert await faults_by_payload(page, faults) == {}
