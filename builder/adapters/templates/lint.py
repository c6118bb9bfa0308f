"""Problems of templates that compile, and values of a hint that change from turn to turn."""

import re
from collections.abc import Iterator

from jinja2 import nodes

from builder.adapters.templates.folder import SUFFIX, TemplateSet
from builder.adapters.templates.names import body_fields
from builder.adapters.templates.sandbox.environment import sandbox
from builder.adapters.templates.trial import faults
from builder.domain.lint_finding import LintFinding

MARKERS = re.compile(r"\b(?:CRITICAL|IMPORTANT|MUST|ALWAYS|NEVER)\b")
MAX_MARKERS = 3
_MOVING = re.compile(r"id|.*_id|.*_at|.*_count|now|today|time|timestamp|version|last_?updated|lastUpdated")
"""Names of clocks, ids and counters."""


def overused(text: str) -> str:
    """The problem of a text with too many emphasis markers; "" for one with few."""
    markers = MARKERS.findall(text)
    return f"{len(markers)} emphasis markers ({', '.join(sorted(set(markers)))})" if len(markers) > MAX_MARKERS else ""


def lint_templates(templates: TemplateSet) -> Iterator[LintFinding]:
    """Faults, which keep templates from being used, and lesser problems."""
    yield from faults(templates)
    for name, source in templates.sources["hints"].items():
        yield from (each.of_file(f"hints/{name}{SUFFIX}") for each in body_fields(name, source))
    for kind, sources in templates.sources.items():
        for name, source in sources.items():
            file = f"{kind}/{name}{SUFFIX}"
            if any(node.name == "random" for node in sandbox().parse(source).find_all(nodes.Filter)):
                problem, fix = "the filter random gives another page each time", "take it out"
                yield LintFinding(file=file, place="", problem=problem, fix=fix, severity="note")
            if problem := overused(source):
                fix = f"keep at most {MAX_MARKERS}: what is all loud is not heard"
                yield LintFinding(file=file, place="", problem=problem, fix=fix, severity="note")


def moving(source: str) -> tuple[str, ...]:
    """The clocks, ids and counters that a hint shows. `said` and `repeats` are none: outside of finds they are always 1."""
    tree = sandbox().parse(source)
    names = {node.name for node in tree.find_all(nodes.Name)}
    names |= {node.attr for node in tree.find_all(nodes.Getattr)}
    names |= {node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)}
    return tuple(sorted(name for name in names if _MOVING.fullmatch(name)))
