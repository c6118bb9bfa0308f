"""The runbook and the alerts belong together."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.alerts import RULES

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
