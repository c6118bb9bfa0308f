"""Faults of a template that compiles: unknown names, and failures with examples."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from builder.adapters.templates.folder import FAILURES, GENERIC, SUFFIX, RenderedNothing, TemplateFailed, TemplateSet
from builder.adapters.templates.fragments import MAX_CHARS
from builder.adapters.templates.names import Fault, static_faults
from builder.adapters.templates.phrases import ENGLISH
from builder.adapters.templates.values import values_of
from builder.assemble.items.forms import WHOLE, RenderForm
from builder.assemble.items.layout import Group, PageSection
from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.failure import TemplateKind
from builder.domain.lint_finding import LintFinding
from builder.remember.decode import decode
from builder.remember.schemas.examples import full, varied
from builder.remember.schemas.registry import BODIES

MEND = "mend the template"
MAX_TEMPLATES = 512
"""Whose faults are remembered."""
VALUE_CHARS = 20
"""Of a value's beginning, which are searched in the text of a hint."""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIRST, SECOND = "sample fragment one", "sample fragment two"
SAMPLE = (
    PageSection(name="sample", title="Sample", groups=(Group(date="", fragments=(FIRST,)),), note="a note"),
    PageSection(name="other", title="Other", groups=(Group(date="8 May 2023", fragments=(SECOND, FIRST)),)),
)
LONG_SAMPLE = (*SAMPLE, PageSection(name="long", title="Long", groups=(Group(date="", fragments=(f"{FIRST} " * 10,) * 300),)))


def faults(templates: TemplateSet) -> Iterator[LintFinding]:
    """The reasons why templates must not be used."""
    words = tuple(templates.phrases().entries.items())
    for kind, sources in templates.sources.items():
        for name, source in sources.items():
            yield from (each.of_file(f"{kind}/{name}{SUFFIX}") for each in _faults(kind, name, source, words))


@lru_cache(MAX_TEMPLATES)
def _faults(kind: TemplateKind, name: str, source: str, words: tuple[tuple[str, str], ...]) -> tuple[Fault, ...]:
    """Of one template. Most edits leave the others as they are, and trying all examples takes long."""
    phrases = dict(words)
    try:
        if problems := tuple(static_faults(kind, source, phrases)):
            return problems
    except FAILURES as error:  # nested as deeply as can just be compiled
        return (Fault(0, f"it cannot be looked at: {error}", "make it simpler"),)
    own = {name: source}
    hints, pages = (own, {}) if kind == "hints" else ({}, own)
    templates = TemplateSet({GENERIC: "{{ text }}"} | hints, pages, {ENGLISH: phrases})
    return tuple(_faults_of_examples(templates, kind, name))


def _faults_of_examples(templates: TemplateSet, kind: TemplateKind, name: str) -> Iterator[Fault]:
    try:
        if kind == "pages":
            yield from _page(templates, name)
        else:
            _hint(templates, name)
    except TemplateFailed as error:
        yield Fault(0, f"it fails on an example: {error}", MEND)


def _page(templates: TemplateSet, name: str) -> Iterator[Fault]:
    """A page must not leave out fragments that were selected for it."""
    text = templates.page(name, SAMPLE).casefold()
    if text.count(FIRST) < 2 or SECOND not in text:  # noqa: PLR2004 - it stands in both sections
        yield Fault(0, "it leaves out fragments of a section", "show every fragment of every group of every section")
    templates.page(name, LONG_SAMPLE)


def _hint(templates: TemplateSet, name: str) -> None:
    """Raises `TemplateFailed`. Only the unchanged examples must be visible."""
    for schema in tuple(BODIES) if name == GENERIC else (name,):
        for body in full(schema):
            _render(templates, name, schema, body, must_show=schema in BODIES)
        for body in varied(schema):
            _render(templates, name, schema, body, must_show=False)


def _render(templates: TemplateSet, name: str, schema: str, body: dict[str, Any], *, must_show: bool) -> None:
    breadcrumb = example(schema, body)

    def rendered(form: RenderForm) -> str:
        return render_example(templates, name, breadcrumb, body, form)

    text = ""
    try:
        text = rendered(WHOLE)
    except RenderedNothing:
        if must_show:
            raise
    if must_show and not _shows_some(text, body):
        raise RenderedNothing("it shows nothing of an example's body; look for a misspelt field")
    if must_show and body.get("status") == "error" and not _shows_some(text, body.get("error")):
        raise RenderedNothing("it shows nothing of body.error when a call fails; show it, e.g. {{ body.error or body.output }}")
    with contextlib.suppress(RenderedNothing):
        rendered(RenderForm(spans=((0, len(breadcrumb.text) // 2),), times=3))


def render_example(
    templates: TemplateSet, name: str, breadcrumb: Breadcrumb, body: dict[str, Any], form: RenderForm = WHOLE
) -> str:
    """An example as this hint shows it. Raises `TemplateFailed`."""
    values = values_of(breadcrumb, body, form, breadcrumb.speaker, MAX_CHARS, templates.phrases())
    return templates.hint(name, values, len(breadcrumb.body) + len(breadcrumb.text))


def _shows_some(text: str, body: Any) -> bool:
    """Whether any value of the body stands in the text."""
    if isinstance(body, dict | list):
        return any(_shows_some(text, inner) for inner in (body.values() if isinstance(body, dict) else body))
    return str(body).split("\n", 1)[0][:VALUE_CHARS] in text if body not in (None, "") else False


def example(schema: str, body: dict[str, Any]) -> Breadcrumb:
    """An example breadcrumb; the name of a file need not be one of a schema."""
    data = json.dumps({"id": "example", "context": body | {"session_id": "example"}}).encode()
    subject = f"breadcrumbs.example.example.{schema if schema in BODIES else 'example.v1'}"
    return replace(decode(StreamMessage(subject=subject, data=data, place=Place(1, 1), received_at=NOON)), schema=schema)
