"""What is wrong with a template that compiles, and what in a hint changes from turn to turn."""

import re
from collections.abc import Iterator

from jinja2 import nodes

from builder.adapters.templates.folder import SUFFIX, TemplateSet
from builder.adapters.templates.sandbox.environment import Sandbox
from builder.adapters.templates.trial import faults
from builder.domain.lint_finding import LintFinding

MARKERS = re.compile(r"\b(?:CRITICAL|IMPORTANT|MUST|ALWAYS|NEVER)\b")
MOST_MARKERS = 3
_MOVING = re.compile(r"id|.*_id|.*_at|.*_count|now|today|time|timestamp|version|last_?updated|lastUpdated")
"""Names of clocks, ids and counters."""


def overused(text: str) -> str:
    """What to say about a text with too many emphasis markers; "" for one with few."""
    marks = MARKERS.findall(text)
    return f"{len(marks)} emphasis markers ({', '.join(sorted(set(marks)))})" if len(marks) > MOST_MARKERS else ""


def lint_templates(templates: TemplateSet) -> Iterator[LintFinding]:
    """What keeps a template from coming into force, and what would be better otherwise."""
    yield from faults(templates)
    for kind, sources in templates.sources.items():
        for name, source in sources.items():
            file = f"{kind}/{name}{SUFFIX}"
            if any(marks.name == "random" for marks in _parsed(source).find_all(nodes.Filter)):
                problem, fix = "the filter random gives another page each time", "take it out"
                yield LintFinding(file=file, place="random", problem=problem, fix=fix)
            if phrase := overused(source):
                yield LintFinding(
                    file=file, place="", problem=phrase, fix=f"keep at most {MOST_MARKERS}: what is all loud is not heard"
                )


def moving(source: str) -> tuple[str, ...]:
    """The clocks, ids and counters that a hint shows. `phrase` and `repeats` stand still outside the hot window: always once."""
    tree = _parsed(source)
    names = {node.name for node in tree.find_all(nodes.Name)}
    names |= {node.attr for node in tree.find_all(nodes.Getattr)}
    names |= {node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)}
    return tuple(sorted(name for name in names if _MOVING.fullmatch(name)))


def _parsed(source: str) -> nodes.Template:
    return Sandbox().parse(source)
