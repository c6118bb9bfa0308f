"""`llm_hints` as records of RCRT hold them → the same rules with Jinja2 templates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builder.extras.rcrt.handlebars import Problem
from builder.extras.rcrt.jinja import convert


@dataclass(frozen=True, slots=True)
class ConvertedRules:
    """Hints with converted templates."""

    hints: dict[str, Any]
    problems: tuple[tuple[str, Problem], ...]
    """Key of the rule, and what its author has to look at."""

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for each template that cannot be converted."""
        return tuple(f"transform.{key} {problem}" for key, problem in self.problems if problem.severity == "error")


def converted_rules(hints: Mapping[str, Any]) -> ConvertedRules:
    """Each template of `transform` in Jinja2; everything else as it is."""
    rules = hints.get("transform")
    if not isinstance(rules, dict):
        return ConvertedRules(dict(hints), ())
    results, problems = {}, list[tuple[str, Problem]]()
    for key, rule in rules.items():
        if not isinstance(rule, dict) or rule.get("type") != "template" or not isinstance(rule.get("template"), str):
            results[key] = rule
            continue
        conversion = convert(rule["template"])
        problems += ((key, problem) for problem in conversion.problems)
        results[key] = {**rule, "template": conversion.text}
    return ConvertedRules({**hints, "transform": results}, tuple(problems))
