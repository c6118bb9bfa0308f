"""A hostile text in every body stands on the page as it is, touches nothing outside and is stopped where it asks for too much."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from builder.adapters.templates.folder import TemplateSet
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.sandbox.runtime import Limits
from builder.assemble.items.forms import WHOLE
from builder.domain.control_text import visible
from builder.domain.errors import Misconfigured
from builder.extras.chat_formats.words import spoken
from tests.factories import make_breadcrumb, make_rendering
from tests.growth import LINEAR, growth
from tests.hostile_pages import HARMLESS, PROFILE, breadcrumbs, labels, outline, page_of, profile_of, roots, session
from tests.payloads import CANARY, CANARY_VARIABLE, PAGES, PAYLOADS, SAMPLE, Payload, faults_by_payload, leaks, naming, pages_of

FORGERIES = [payload for payload in PAYLOADS if payload.family == "page_forgery" and payload not in SAMPLE]
PROFILES = {style: profile_of(PROFILE + f"page: {style}\n") for style in ("default", "xml")}


PLAIN: dict[tuple[str, int], str] = {}
"""Pages with so many harmless texts, by style."""


async def faults(texts: Sequence[Payload], style: str) -> list[str]:
    """What is wrong with a page that holds these texts: what was evaluated, lines at the root, the outline."""
    page = await page_of(breadcrumbs(session(*(payload.short for payload in texts))), PROFILES[style])
    harmless = [HARMLESS] * len(texts)
    if (style, len(texts)) not in PLAIN:
        PLAIN[style, len(texts)] = await page_of(breadcrumbs(session(*harmless)), PROFILES[style])
    plain = PLAIN[style, len(texts)]
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


ROOT = Path(__file__).resolve().parents[2]


def test_no_rendering_touches_anything_outside(tmp_path: Path) -> None:
    (tmp_path / "canary.txt").write_text(CANARY, "utf-8")
    env = os.environ | {CANARY_VARIABLE: CANARY, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.under_audit"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["texts"], report["pages"]) == (len(SAMPLE), len(PAGES))
    assert report["events"] == []
    assert report["canary"] is False
    assert [file.name for file in tmp_path.iterdir()] == ["canary.txt"], "nothing was written"


MESSAGES: dict[str, Callable[[int], str]] = {
    "words": lambda size: "Where does the API key go?\n" * (size // 20),
    "blanks": lambda size: "a\n-" + " " * (size // 2) + "x",
    "blanks that do not break": lambda size: "\u00a0" * (size // 2),
    "one letter": lambda size: "a" * size,
    "emoji": lambda size: "\U0001f600" * (size // 3),
}
"""Messages of about so many characters."""
LONG = 600_000
UNTIMED = Limits(seconds=math.inf)
"""Without the clock, which is the last resort."""
BOMBS = [payload for payload in PAYLOADS if payload.family == "run_bombs"][::3]


@pytest.mark.parametrize("message", MESSAGES)
def test_it_is_stopped_or_makes_no_more_than_it_may(message: str) -> None:
    crumb = make_breadcrumb(MESSAGES[message](LONG))
    most = UNTIMED.characters + 2 * UNTIMED.characters_each * len(crumb.text)
    for payload in BOMBS:
        try:
            templates = TemplateSet({"generic": "{{ schema }}", "user.message.v1": payload.text}, {}, limits=UNTIMED)
        except Misconfigured:
            continue
        with naming(payload):
            fragment = JinjaRendering(templates, len).fragment(crumb, WHOLE, "User")
            assert len(fragment.text) <= most
            assert leaks(fragment.text[:10_000] + fragment.failed, payload.text + "1337 191191191") == []


@pytest.mark.parametrize("message", MESSAGES)
def test_the_bundled_ways_to_show_a_message_take_linear_time(message: str) -> None:
    source = "{{ text | block }}{{ text | below }}{{ text | inline }}{{ {'a': text} | readable }}{{ {'a': text} | arguments }}"
    templates = TemplateSet({"generic": source + "{{ text | sentence }}"}, {})

    def shown(size: int) -> None:
        assert JinjaRendering(templates, len).fragment(make_breadcrumb(MESSAGES[message](size)), WHOLE, "User").failed == ""

    assert growth(shown, LONG // 10) < LINEAR
