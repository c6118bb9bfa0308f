"""What is wrong with templates that compile: faults, which keep them from being used, and notes."""

from collections.abc import Iterator

from jinja2 import nodes

from builder.adapters.templates.emphasis import FIX, first_line, overused
from builder.adapters.templates.folder import SUFFIX, TemplateFailed, TemplateSet
from builder.adapters.templates.loops import MANY, bounded, endless, open_lists, with_many
from builder.adapters.templates.names import Fault, body_fields
from builder.adapters.templates.sandbox.environment import parsed
from builder.adapters.templates.sandbox.meter import LimitExceeded
from builder.adapters.templates.trial import example, faults, render_example
from builder.domain.lint_finding import LintFinding
from builder.remember.schemas.examples import full


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
