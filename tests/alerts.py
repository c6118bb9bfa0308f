"""Alerts and dashboard of the repository, their expressions, and what a scrape of one worker means for them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser as promql
import yaml
from prometheus_client.parser import text_string_to_metric_families

DEPLOY = Path(__file__).parents[1] / "deploy"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((DEPLOY / "helm/context-builder/files/alerts.yaml").read_text("utf-8"))["groups"]
    for rule in group["rules"]
]
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "observability/dashboard.json").read_text("utf-8"))
SCRAPED = frozenset({"job", "instance", "service", "namespace"})
"""Labels that Prometheus adds."""
OPERATORS = {"==": float.__eq__, "<": float.__lt__, ">": float.__gt__}
Series = list[tuple[str, dict[str, str], float]]


def dashboard_expressions() -> list[str]:
    """With an interval in place of Grafana's variable."""
    targets = (target for panel in DASHBOARD["panels"] for target in panel.get("targets", ()))
    return [target["expr"].replace("$__rate_interval", "5m") for target in targets]


def series_of(metrics: str) -> Series:
    """Name, labels and value of each sample of a scrape."""
    families = list(text_string_to_metric_families(metrics))
    # A counter that counted nothing yet has a name and no sample.
    silent = [(f"{family.name}_total", dict[str, str](), 0.0) for family in families if not family.samples]
    return silent + [(sample.name, sample.labels, sample.value) for family in families for sample in family.samples]


def nodes(expression: Any) -> Iterator[Any]:
    """The expression and all its parts. It is parsed: an invalid one raises."""
    parts = ("expr", "lhs", "rhs", "param", "vector_selector", "vs")
    yield expression
    for part in (*(getattr(expression, name, None) for name in parts), *(getattr(expression, "args", None) or ())):
        if part is not None:
            yield from nodes(part)


def absent_names(expression: str, series: Series) -> set[str]:
    """Metrics, values and labels that the expression names and the scrape has not."""
    missing = set[str]()
    tree = list(nodes(promql.parse(expression)))
    chosen = [node for node in tree if isinstance(node, promql.VectorSelector)]
    assert chosen, expression
    labels = set[str]()
    for selector in chosen:
        there = [sample[1] for sample in series if sample[0] == selector.name]
        labels.update(*there)
        own = [matcher for matcher in selector.matchers.matchers if matcher.name not in SCRAPED]
        if not any(all(matches(matcher, sample) for matcher in own) for sample in there):
            missing.add(f"{selector.name}{[(matcher.name, matcher.value) for matcher in own]}")
    grouped = {name for node in tree if isinstance(node, promql.AggregateExpr) and node.modifier for name in node.modifier.labels}
    return missing | (grouped - labels - SCRAPED)


def matches(matcher: Any, labels: dict[str, str]) -> bool:
    """Whether a sample has what a matcher wants; the name of an installation is any."""
    value = labels.get(matcher.name, "")
    if matcher.name == "name" and value:
        return True
    holds = re.fullmatch(matcher.value, value) if "Re" in str(matcher.op) else value == matcher.value
    return bool(holds) is not ("Not" in str(matcher.op))


def firing(metrics: str) -> set[str]:
    """Alerts whose expression compares series with a number, and is true of a scrape: what they would be after their time."""
    found = set[str]()
    for rule in RULES:
        tree = promql.parse(rule["expr"])
        if not isinstance(tree, promql.BinaryExpr) or not isinstance(tree.lhs, promql.VectorSelector):
            continue
        assert isinstance(tree.rhs, promql.NumberLiteral)
        compare, limit = OPERATORS[rule["expr"].rsplit(maxsplit=2)[1]], float(tree.rhs.val)
        own = [matcher for matcher in tree.lhs.matchers.matchers if matcher.name not in SCRAPED]
        values = [v for name, labels, v in series_of(metrics) if name == tree.lhs.name and all(matches(m, labels) for m in own)]
        if any(compare(value, limit) for value in values):
            found.add(rule["alert"])
    return found
