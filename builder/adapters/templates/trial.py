"""What is wrong with a template that compiles: names that nobody gives it, and what it makes of examples."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from jinja2 import meta, nodes

from builder.adapters.templates.folder import FAILURES, GENERIC, SUFFIX, RenderedNothing, TemplateFailed, TemplateSet
from builder.adapters.templates.fragments import LONGEST
from builder.adapters.templates.sandbox.environment import Sandbox
from builder.adapters.templates.values import VALUES, values_of
from builder.assemble.items.forms import WHOLE, RenderForm
from builder.assemble.items.layout import Group, PageSection
from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.failure import Kind
from builder.domain.lint_finding import LintFinding
from builder.remember.decode import decode
from builder.remember.schemas.examples import full, varied
from builder.remember.schemas.registry import BODIES

Wrong = tuple[str, str, str]
"""Place, what is wrong, what to do."""
KNOWN: Mapping[Kind, frozenset[str]] = {"hints": VALUES, "pages": frozenset({"sections"})}
"""The values of a template."""
ALIKE = 0.6
"""Likeness from which a wrong name is taken for a slip of the pen."""
MEND = "mend the template"
LETTERS = 20
"""Of a value's beginning, by which it is known in what a hint renders."""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIRST, SECOND = "sample fragment one", "sample fragment two"
SAMPLE = (
    PageSection(name="sample", title="Sample", groups=(Group(date="", fragments=(FIRST,)),), note="a note"),
    PageSection(name="other", title="Other", groups=(Group(date="8 May 2023", fragments=(SECOND, FIRST)),)),
)
LONG_SAMPLE = (*SAMPLE, PageSection(name="long", title="Long", groups=(Group(date="", fragments=(f"{FIRST} " * 10,) * 300),)))


def faults(templates: TemplateSet) -> Iterator[LintFinding]:
    """Why templates must not come into force."""
    for kind, sources in templates.sources.items():
        for name, source in sources.items():
            file = f"{kind}/{name}{SUFFIX}"
            found = _looked_at(kind, source) or tuple(_tried(templates, kind, name))
            yield from (LintFinding(file=file, place=place, problem=problem, fix=fix) for place, problem, fix in found)


def _looked_at(kind: Kind, source: str) -> tuple[Wrong, ...]:
    try:
        return tuple(_static(kind, source))
    except FAILURES as error:  # nested as deeply as can just be compiled
        return (("", f"it cannot be looked at: {error}", "make it simpler"),)


def _static(kind: Kind, source: str) -> Iterator[Wrong]:
    """Place, what is wrong, what to do: names that do not exist, also where no example leads, and files with nothing in them."""
    environment = Sandbox()
    tree = environment.parse(source)
    for unknown in sorted(meta.find_undeclared_variables(tree) - KNOWN[kind]):
        yield unknown, f"{unknown!r} is no value of a template", _instead(unknown, KNOWN[kind])
    for node_type, word, known in ((nodes.Filter, "filter", environment.filters), (nodes.Test, "test", environment.tests)):
        for name in sorted({node.name for node in tree.find_all(node_type)} - known.keys()):
            yield name, f"there is no {word} {name!r}", _instead(name, frozenset(known))
    if not any(_shows(output) for output in tree.find_all(nodes.Output)):
        yield "", "there is nothing in it", "write what is to be shown, or take the file away"


def _shows(output: nodes.Output) -> bool:
    return any(not isinstance(part, nodes.TemplateData) or part.data.strip() for part in output.nodes)


def _instead(name: str, known: frozenset[str]) -> str:
    like = get_close_matches(name, sorted(known), 1, ALIKE)
    return f"use {like[0]}" if like else f"use one of {', '.join(sorted(known))}"


def _tried(templates: TemplateSet, kind: Kind, name: str) -> Iterator[Wrong]:
    try:
        if kind == "pages":
            yield from _page(templates, name)
        else:
            _hint(templates, name)
    except TemplateFailed as error:
        yield "", f"it fails on an example: {error}", MEND


def _page(templates: TemplateSet, name: str) -> Iterator[Wrong]:
    """A page that leaves out what was chosen for it would take it from the agent."""
    shown = templates.page(name, SAMPLE).casefold()
    if shown.count(FIRST) < 2 or SECOND not in shown:  # noqa: PLR2004 - it stands in both sections
        yield "", "it leaves out fragments of a section", "show every fragment of every group of every section"
    templates.page(name, LONG_SAMPLE)


def _hint(templates: TemplateSet, name: str) -> None:
    """Raises `TemplateFailed`. Only of the examples as they are something has to be seen."""
    for schema in tuple(BODIES) if name == GENERIC else (name,):
        for body in full(schema):
            _render(templates, name, schema, body, must_show=schema in BODIES)
        for body in varied(schema):
            _render(templates, name, schema, body, must_show=False)


def _render(templates: TemplateSet, name: str, schema: str, body: dict[str, Any], *, must_show: bool) -> None:
    breadcrumb = _breadcrumb(schema, body)
    given = len(breadcrumb.body) + len(breadcrumb.text)
    text = ""
    try:
        text = templates.hint(name, values_of(breadcrumb, body, WHOLE, breadcrumb.speaker, LONGEST, templates.phrases), given)
    except RenderedNothing:
        if must_show:
            raise
    if must_show and not _shows_some(text, body):
        raise RenderedNothing("it shows nothing of an example's body; look for a misspelt field")
    with contextlib.suppress(RenderedNothing):
        templates.hint(
            name,
            values_of(
                breadcrumb,
                body,
                RenderForm(spans=((0, len(breadcrumb.text) // 2),), said=3),
                breadcrumb.speaker,
                LONGEST,
                templates.phrases,
            ),
            given,
        )


def _shows_some(text: str, body: Any) -> bool:
    """Whether any value of the body stands in the text."""
    if isinstance(body, dict | list):
        return any(_shows_some(text, inner) for inner in (body.values() if isinstance(body, dict) else body))
    return str(body).split("\n", 1)[0][:LETTERS] in text if body not in (None, "") else False


def _breadcrumb(schema: str, body: dict[str, Any]) -> Breadcrumb:
    """A file may be called what no schema can be."""
    data = json.dumps({"id": "example", "context": body | {"session_id": "example"}}).encode()
    subject = f"breadcrumbs.example.example.{schema if schema in BODIES else 'example.v1'}"
    return replace(decode(StreamMessage(subject=subject, data=data, place=Place(1, 1), received_at=NOON)), schema=schema)
