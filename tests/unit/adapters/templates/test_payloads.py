"""Every hostile text, as the source of a hint and of a page: refused when it is read, or it fails within its limits."""

import math
from collections import Counter

import pytest

from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.sandbox.runtime import Limits
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.forms import WHOLE
from builder.assemble.items.rendering import Group, PageSection
from builder.domain.errors import Misconfigured
from builder.extras.workshop.template_lint import lint_templates
from tests.examples import is_full
from tests.factories import make_breadcrumb
from tests.payloads import CANARY, FAMILIES, PAYLOADS, SAMPLE, Payload, leaks, naming

MESSAGE = "Where does the API key go? " * 5
CRUMB = make_breadcrumb(MESSAGE, body='{"content": "Where does the API key go?", "list": [1], "x": {"y": "z"}}')
FRAGMENT = "- User: Where does the API key go?"
SECTIONS = (PageSection(name="x", title="Title", groups=(Group(date="", fragments=(FRAGMENT,)),)),)
BUNDLED = TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
LIMITS = Limits(seconds=math.inf)
"""Counted limits alone: without them it is hours or for ever, and the clock, the last resort, is not there."""
MOST_CHARS = LIMITS.characters + LIMITS.characters_each * 10 * len(MESSAGE)
STEPS = {"compile_bombs": 4}
"""One in so many of a family whose texts cost seconds."""
BOMBS = [payload for payload in PAYLOADS if payload.family == "run_bombs"]
VALUES = "{% set text = sections[0].title %}{% set body = {'content': text, 'list': [1]} %}{% set tags = ('a',) %}"
"""What a hint has, made of what a page has."""


def refusal(hints: dict[str, str], pages: dict[str, str]) -> str | None:
    """Why templates are refused; None when they are not."""
    try:
        TemplateSet({"generic": "{{ schema }}"} | hints, pages)
    except Misconfigured as error:
        return str(error)
    return None


def test_there_are_many_of_each_family_and_no_two_are_the_same() -> None:
    assert len({payload.text for payload in PAYLOADS}) == len({payload.id for payload in PAYLOADS}) == len(PAYLOADS) >= 500
    assert min(Counter(payload.family for payload in PAYLOADS).values()) >= 18


def check_as_a_hint(payload: Payload) -> None:
    reason = refusal({"user.message.v1": payload.text}, {})
    if reason is not None:
        assert payload.stops == "refused"
        assert reason.startswith("hints/user.message.v1.md.j2")
        assert "; " in reason
        assert "mend the template" not in reason or "line" in reason, "it says where"
        assert leaks(reason, payload.text) == []
        return
    templates = TemplateSet({"generic": "{{ schema }}", "user.message.v1": payload.text}, {}, limits=LIMITS)
    fragment = JinjaRendering(templates, len).fragment(CRUMB, WHOLE, "User")
    assert len(fragment.text) <= MOST_CHARS
    assert leaks(fragment.failed, payload.text) == []
    if payload.stops == "fails":
        assert fragment.failed.startswith("hint failed, the generic hint is shown: hints/user.message.v1.md.j2 ")
        assert fragment.text == "- user.message.v1"
    elif payload.stops == "harmless":  # it may compute with numbers and texts of its own
        assert leaks(fragment.text, payload.text + "1337 191191191") == []
    else:
        assert payload.stops == "text"
        assert leaks(fragment.text, payload.text) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_as_a_hint_it_is_refused_with_a_sentence_or_costs_its_fragment_alone(family: str) -> None:
    of_family = [payload for payload in PAYLOADS if payload.family == family]
    for payload in of_family if is_full() else of_family[:: STEPS.get(family, 1)]:
        with naming(payload):
            check_as_a_hint(payload)


def check_as_a_page(payload: Payload) -> None:
    source = VALUES + payload.text
    reason = refusal({}, {"mine": source})
    if reason is not None:
        assert leaks(reason, payload.text) == []
        return
    templates = TemplateSet({"generic": "{{ schema }}"}, {"mine": source}, limits=LIMITS)
    layout = JinjaRendering(templates, len, BUNDLED).page("mine", SECTIONS)
    assert len(layout.text) <= MOST_CHARS
    assert leaks(layout.text, payload.text + "1337 191191191") == []
    if layout.failed:
        assert FRAGMENT in layout.text


def test_as_a_page_it_is_refused_or_the_bundled_page_steps_in() -> None:
    for payload in {*SAMPLE, *BOMBS}:
        with naming(payload):
            check_as_a_page(payload)


def test_the_sample_has_every_family_and_verdict() -> None:
    assert {(each.family, each.stops) for each in SAMPLE} == {(each.family, each.stops) for each in PAYLOADS}
    assert len(SAMPLE) >= (40 if is_full() else 15)


def test_a_leak_would_be_seen() -> None:
    assert leaks(f"it is {7 * 191}", "{{ 7*191 }}") == ["1337"]
    assert leaks("it is 1337", "say 1337") == []
    assert leaks(f"{str.upper} and {CANARY}", "x") == ["<method", CANARY]
    assert leaks(f"{object()}", "x") != []


def test_lint_looks_at_it_without_harm() -> None:
    for payload in SAMPLE:
        hints = {"generic": "{{ schema }}", "ticket.v1": payload.text}
        if refusal(hints, {}) is not None:
            continue
        with naming(payload):
            templates = TemplateSet(hints, {})
            said = " ".join(str(finding) for finding in lint_templates(templates))
            assert leaks(said, payload.text) == []
