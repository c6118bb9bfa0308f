"""Alerts, their runbook, and the dashboard belong together."""

import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from builder.app.telemetry import Metrics
from tests.alerts import DASHBOARD, RULES, dashboard_expressions

RUNBOOK = (Path(__file__).resolve().parents[2] / "builder" / "docs" / "runbook.md").read_text("utf-8")
SECTIONS = {text.split("\n", 1)[0]: text for text in RUNBOOK.split("\n## ")[1:]}


def test_each_alert_has_its_section_and_each_section_its_alert() -> None:
    assert [*SECTIONS] == [rule["alert"] for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_links_to_its_section(rule: dict[str, Any]) -> None:
    assert rule["annotations"]["runbook_url"] == f"builder/docs/runbook.md#{rule['alert'].lower()}"


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_tells_symptom_meaning_where_to_look_what_to_do_and_when_it_ends(name: str) -> None:
    assert re.findall(r"^- \*\*(\w+)\*\*: ", SECTIONS[name], re.MULTILINE) == ["Symptom", "Meaning", "Look", "Do", "Ends"]


def test_the_dashboard_shows_every_metric() -> None:
    registry = CollectorRegistry()
    Metrics(registry)
    shown = " ".join(dashboard_expressions())
    assert [family.name for family in registry.collect() if family.name not in shown] == []


def test_panels_say_what_they_show_and_do_not_overlap() -> None:
    cells = set[tuple[int, int]]()
    for panel in DASHBOARD["panels"]:
        assert panel["title"]
        assert panel["type"] == "row" or panel["description"]
        place = panel["gridPos"]
        own = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not own & cells, panel["title"]
        cells |= own
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
