"""What is wrong with templates that compile: faults, which keep them from being used, and notes.

What each line of a hint costs: the tokens of the text that it wrote for the examples of its schema.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jinja2 import nodes

from builder.adapters.templates.emphasis import FIX, first_line, overused
from builder.adapters.templates.folder import FAILURES, SUFFIX, TemplateFailed, TemplateSet
from builder.adapters.templates.fragments import MAX_CHARS
from builder.adapters.templates.names import MANY, Fault, body_fields, bounded, endless, open_lists, with_many
from builder.adapters.templates.sandbox.environment import compiled, parsed
from builder.adapters.templates.sandbox.meter import LimitExceeded, Limits, metered
from builder.adapters.templates.trial import example, faults, render_example
from builder.adapters.templates.values import values_of
from builder.assemble.items.forms import WHOLE
from builder.assemble.items.list_items import MARK
from builder.domain.lint_finding import LintFinding
from builder.domain.phrases import Phrases
from builder.remember.schemas.registry import BODIES, full


def lint_templates(templates: TemplateSet) -> Iterator[LintFinding]:
    """Faults first, then notes, file by file."""
    broken = []
    for finding in faults(templates):
        broken.append(finding.file)
        yield finding
    for kind, sources in templates.sources.items():
        for name, source in sources.items():
            file = f"{kind}/{name}{SUFFIX}"
            notes = [*(body_fields(name, source) if kind == "hints" else ()), *endless(source), *_emphasis(source)]
            yield from (each.of_file(file) for each in notes)
            if kind == "hints" and file not in broken and not any(endless(source)):
                yield from (each.of_file(file) for each in _too_many(templates, name, source))


def _too_many(templates: TemplateSet, name: str, source: str) -> Iterator[Fault]:
    """Lists that a loop goes through whole, and with which the hint would exceed its limits."""
    lines: dict[tuple[str, ...], int] = {}
    for line, path in open_lists(source):
        lines.setdefault(path, line)
    for path, line in lines.items():
        body = with_many(full(name)[0], path)
        try:
            render_example(templates, name, example(name, body), body)
        except TemplateFailed as error:
            if isinstance(error.__cause__, LimitExceeded):
                problem = f"with {MANY:,} entries of body.{'.'.join(path)} it exceeds its limits"
                yield Fault(line, problem, bounded(path), "note")


def _emphasis(source: str) -> Iterator[Fault]:
    """Of the text that a template writes itself."""
    texts = list(parsed(source).find_all(nodes.TemplateData))
    if problem := overused("\n".join(part.data for part in texts)):
        yield Fault(_line_of(source, [part.data for part in texts]), problem, FIX, "note")


def _line_of(source: str, texts: list[str]) -> int:
    """Of the first text that is loud."""
    loud = next((text for text in texts if first_line(text)), "")
    start = source.find(loud)
    return source.count("\n", 0, max(start, 0)) + first_line(loud)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCost:
    """One line of a template."""

    file: str
    line: int
    tokens: float
    """Of one example, on average."""
    share: float
    """Of the tokens of the whole template."""
    text: str
    """The line as it is written."""


def line_costs(
    templates: TemplateSet, name: str, count: Callable[[str], int], bodies: tuple[dict[str, Any], ...] = ()
) -> tuple[LineCost, ...]:
    """Of a hint, the dearest line first; of one that fails on its examples none.

    count: text → tokens. bodies: examples beside those of a known schema.
    """
    source = templates.sources["hints"][name]
    bodies = bodies if bodies and name not in BODIES else full(name) + bodies
    tokens: Counter[int] = Counter()
    try:
        for body in bodies:
            for line, text in _written(source, name, body, templates.phrases()):
                tokens[line] += count(text)
    except FAILURES:
        return ()
    lines, total = source.split("\n"), sum(tokens.values())
    costs = (
        LineCost(
            file=f"hints/{name}{SUFFIX}",
            line=line,
            tokens=round(number / len(bodies), 1),
            share=round(number / total, 3),
            text=lines[line - 1].strip(),
        )
        for line, number in tokens.items()
        if number
    )
    return tuple(sorted(costs, key=lambda cost: (-cost.tokens, cost.line)))


def _written(source: str, name: str, body: dict[str, Any], phrases: Phrases) -> Iterator[tuple[int, str]]:
    """Line and text of each piece that the template writes. Raises the errors of its rendering."""
    template, breadcrumb = compiled(source), example(name, body)
    values = values_of(breadcrumb, body, WHOLE, breadcrumb.speaker, MAX_CHARS, phrases)
    with metered(Limits(), len(breadcrumb.body) + len(breadcrumb.text)):
        pieces: Any = template.root_render_func(template.new_context(values))
        line, text = 1, ""
        for piece in pieces:
            now = template.get_corresponding_lineno(pieces.gi_frame.f_lineno)
            if now != line:
                yield line, text
                line, text = now, ""
            text += str(piece).replace(MARK, "")
        yield line, text
