"""Hints and pages tried on examples."""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Any

from builder.adapters.templates.examples import full, takes, text_within, varied
from builder.adapters.templates.failures import TemplateKind
from builder.adapters.templates.faults import Fault, body_fields, fields_of, static_faults
from builder.adapters.templates.folder import ENGLISH, FAILURES, GENERIC, SUFFIX, RenderedNothing, TemplateFailed, TemplateSet
from builder.adapters.templates.fragments import MAX_CHARS
from builder.adapters.templates.sandbox.environment import parsed
from builder.adapters.templates.values import values_of
from builder.assemble.items.forms import WHOLE, RenderForm
from builder.assemble.items.rendering import Group, PageSection
from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.lint_finding import LintFinding
from builder.remember.decode import BODIES, decode

MEND = "mend the template"
SHOW = "show {{ text }}, or the field that has the words"
MAX_TEMPLATES = 512
MAX_EXAMPLE_CHARS = 300
MAX_BODY_CHARS = 20_000
MAX_CHANGES = 50
"""Bodies with more values are not tried."""
NAMES = frozenset({"speaker", "user_id", "session_id", "tool", "tool_name", "llm_hints"})
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIRST, SECOND = "sample fragment one", "sample fragment two"
SAMPLE = (
    PageSection(name="sample", title="Sample", groups=(Group(date="", fragments=(FIRST,)),), note="a note"),
    PageSection(name="other", title="Other", groups=(Group(date="8 May 2023", fragments=(SECOND, FIRST)),)),
)
LONG_SAMPLE = (*SAMPLE, PageSection(name="long", title="Long", groups=(Group(date="", fragments=(f"{FIRST} " * 10,) * 300),)))
_LETTER = re.compile(r"\w")


def faults(templates: TemplateSet) -> Iterator[LintFinding]:
    """The reasons why templates must not be used."""
    words = tuple(templates.phrases().entries.items())
    for kind, sources in templates.sources.items():
        for name, source in sources.items():
            yield from (each.of_file(f"{kind}/{name}{SUFFIX}") for each in _faults(kind, name, source, words))


def render_example(
    templates: TemplateSet, name: str, breadcrumb: Breadcrumb, body: dict[str, Any], form: RenderForm = WHOLE
) -> str:
    """Raises `TemplateFailed`."""
    values = values_of(breadcrumb, body, form, breadcrumb.speaker, MAX_CHARS, templates.phrases())
    return templates.hint(name, values, len(breadcrumb.body) + len(breadcrumb.text))


def shows_words(templates: TemplateSet, name: str, breadcrumb: Breadcrumb, body: dict[str, Any]) -> bool:
    """Whether the hint shows searched words. Bodies without words, too long ones, and failing hints pass."""

    def text_of(words: str, part: dict[str, Any]) -> str:
        try:
            return render_example(templates, name, replace(breadcrumb, text=words), part)
        except TemplateFailed:
            return ""

    words = text_within(breadcrumb.schema, body)
    others = list(islice(_changed(body), MAX_CHANGES + 1))
    texts = ((text_within(breadcrumb.schema, other), other) for other in others if takes(breadcrumb.schema, other))
    changes = [(text, other) for text, other in texts if text != words or not words]
    before = text_of(words, body)
    is_tried = before and changes and len(others) <= MAX_CHANGES
    return not is_tried or any(text_of(*change) != before for change in changes)


def hides_words(hint: str, before: TemplateSet, former: str, after: TemplateSet, breadcrumb: Breadcrumb) -> bool:
    """Whether `hint` shows no words that `former` showed."""
    if len(breadcrumb.body) > MAX_BODY_CHARS:
        return False
    body = json.loads(breadcrumb.body)
    return not shows_words(after, hint, breadcrumb, body) and shows_words(before, former, breadcrumb, body)


def example(schema: str, body: dict[str, Any]) -> Breadcrumb:
    """A file's name may be no schema."""
    data = json.dumps({"id": "example", "context": body | {"session_id": "example"}}).encode()
    subject = f"breadcrumbs.example.example.{schema if schema in BODIES else 'example.v1'}"
    return replace(decode(StreamMessage(subject=subject, data=data, place=Place(1, 1), received_at=NOON)), schema=schema)


@lru_cache(MAX_TEMPLATES)
def _faults(kind: TemplateKind, name: str, source: str, words: tuple[tuple[str, str], ...]) -> tuple[Fault, ...]:
    phrases = dict(words)
    try:
        if problems := tuple(static_faults(kind, source, phrases)):
            return problems
    except FAILURES as error:  # nested as deeply as can just be compiled
        return (Fault(0, f"it cannot be looked at: {error}", "make it simpler"),)
    return tuple(_faults_of_examples(alone(kind, name, source, words), kind, name))


def alone(kind: TemplateKind, name: str, source: str, words: tuple[tuple[str, str], ...]) -> TemplateSet:
    """A template without the others. words: the English phrases."""
    own = {name: source}
    hints, pages = (own, {}) if kind == "hints" else ({}, own)
    return TemplateSet({GENERIC: "{{ text }}"} | hints, pages, {ENGLISH: dict(words)})


def _faults_of_examples(templates: TemplateSet, kind: TemplateKind, name: str) -> Iterator[Fault]:
    try:
        yield from _page(templates, name) if kind == "pages" else _hint(templates, name)
    except TemplateFailed as error:
        yield Fault(0, f"it fails on an example: {error}", MEND)


def _page(templates: TemplateSet, name: str) -> Iterator[Fault]:
    text = templates.page(name, SAMPLE).casefold()
    first, second = text.count(FIRST), text.count(SECOND)
    if (first, second) != (2, 1):  # that many are in SAMPLE
        problem = "leaves out" if first < 2 or not second else "repeats"  # noqa: PLR2004 - as many
        yield Fault(0, f"it {problem} fragments of a section", "show every fragment of every group of every section once")
    templates.page(name, LONG_SAMPLE)


def _hint(templates: TemplateSet, name: str) -> Iterator[Fault]:
    for schema in tuple(BODIES) if name == GENERIC else (name,):
        for body, must_show in [(body, schema in BODIES) for body in full(schema)] + [(body, False) for body in varied(schema)]:
            try:
                _render(templates, name, schema, body, must_show=must_show)
            except TemplateFailed as error:
                yield _of_example(error, name, templates.sources["hints"][name], body)
                return


def _of_example(error: TemplateFailed, name: str, source: str, body: dict[str, Any]) -> Fault:
    near = next((fault for fault in body_fields(name, source) if fault.severity == "error"), None)
    missing = ", ".join(f"body.{field}" for _, field in fields_of(parsed(source), "body") if field not in body)
    shape = json.dumps(body, ensure_ascii=False)[:MAX_EXAMPLE_CHARS]
    problem = f"it fails on an example: {error}; the example {shape} has {f'no {missing}' if missing else 'every field'}"
    fix = SHOW if isinstance(error, RenderedNothing) else MEND
    return Fault(near.line if near else 0, problem, near.fix if near else fix)


def _render(templates: TemplateSet, name: str, schema: str, body: dict[str, Any], *, must_show: bool) -> None:
    breadcrumb = example(schema, body)
    try:
        render_example(templates, name, breadcrumb, body)
    except RenderedNothing:
        if must_show:
            raise
    if must_show and not shows_words(templates, name, breadcrumb, body):
        raise RenderedNothing("it shows nothing of its words")
    with contextlib.suppress(RenderedNothing):
        render_example(templates, name, breadcrumb, body, RenderForm(spans=((0, len(breadcrumb.text) // 2),), times=3))


def _changed(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for key, inner in tuple(value.items() if isinstance(value, dict) else enumerate(value)):
            for other in _changed(inner) if key not in NAMES else ():
                yield value | {key: other} if isinstance(value, dict) else [*value[:key], other, *value[key + 1 :]]
    elif isinstance(value, str):
        yield _LETTER.sub(lambda letter: "y" if letter[0] == "x" else "x", value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value + 1
