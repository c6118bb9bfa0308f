"""The rules of `profiles lint`: each mistake is told once, at its place, with what to do."""

from typing import Any

import pytest
import yaml

from builder.adapters.profiles.profiles import ModelFacts, parse_profile
from builder.adapters.templates.folder import TemplateSet
from builder.adapters.tokens import load_counter
from builder.extras.workshop.profile_lint import LintFacts, lint_profile
from builder.extras.workshop.template_lint import lint_templates, overused

WINDOW = {"name": "recent", "title": "Recent", "source": "window"}
CURRENT = {"name": "current", "title": "Current", "source": "trigger"}
RELEVANT = {"name": "relevant", "title": "Relevant", "source": "retrieval"}
TOOLS = {"name": "tools", "title": "Tools", "source": "pinned", "class": "static"}
SUMMARY = {"name": "summary", "title": "Summary", "source": "summary", "class": "slow"}
REMINDER = {"name": "reminder", "title": "Reminder", "source": "reminder"}
GENERIC = {"generic": "{{ schema }}: {{ body | readable }}"}
PAGE = "{% for s in sections %}{% for g in s.groups %}{% for f in g.fragments %}{{ f }} {% endfor %}{% endfor %}{% endfor %}"
NOTHING_FOUND: dict[str, Any] = {"schemas": []}
HINTS = {"user.message.v1": (), "tool.catalog.v1": (), "ticket.v1": (("id", 1), ("body.updated_at", 2))}


def found(*sections: dict[str, Any], as_preset: bool = False, **settings: Any) -> list[tuple[str, str]]:
    """Place and what is wrong, of a profile with these sections between nothing and the current message."""
    values = {"retrieval": NOTHING_FOUND, "sections": [*sections, CURRENT], **settings}
    behind = [section for section in sections if section["source"] == "reminder"]
    values["sections"] = [*(section for section in sections if section not in behind), CURRENT, *behind]
    known = LintFacts(moving=HINTS, models={"gpt-4o": ModelFacts(window=128_000)}, overused=overused, count=load_counter)
    profile = parse_profile("mine", yaml.safe_dump(values))
    told = tuple(lint_profile(profile, settings.get("model"), known, as_preset))
    assert all(finding.fix for finding in told)
    return [(finding.setting, finding.problem) for finding in told]


def test_a_plain_profile_has_nothing_wrong_with_it() -> None:
    assert found(WINDOW) == []
    assert found(TOOLS, WINDOW, RELEVANT, pinned=["tool.catalog.v1"], retrieval={"schemas": ["user.message.v1"]}) == []


def test_a_trigger_that_the_audience_leaves_out_never_triggers() -> None:
    audience = {"schemas": ["agent.response.v1"], "any_tags": ["to:mira"]}
    problem = ("triggers", "audience.schemas leaves 'user.message.v1' out, so it never triggers")
    assert found(WINDOW, audience=audience, triggers=["user.message.v1", "agent.response.v1"]) == [problem]
    assert found(WINDOW, audience={"any_tags": ["to:mira"]}, triggers=["user.message.v1"]) == []


def test_static_sections_stand_before_slow_ones_and_both_before_those_of_the_turn() -> None:
    told = found(SUMMARY, WINDOW, TOOLS, pinned=["tool.catalog.v1"], summaries={})
    assert told == [("sections.tools", "class static comes after 'recent', whose class is turn")]


def test_a_reminder_may_stand_at_the_end_whatever_its_class() -> None:
    assert found(WINDOW, REMINDER | {"class": "static"}, reminders=[{"section": "reminder", "text": "Be brief."}]) == []


def test_what_changes_on_every_turn_is_no_static_section() -> None:
    assert found(WINDOW | {"class": "slow"}) == [("sections.recent", "class slow, but source window changes on every turn")]


def test_no_clock_id_or_counter_in_a_static_section() -> None:
    shown = found(TOOLS, WINDOW, pinned=["ticket.v1"])
    assert [problem.split(",")[0] for _, problem in shown] == [
        "hints/ticket.v1.md.j2 line 1 shows id",
        "hints/ticket.v1.md.j2 line 2 shows body.updated_at",
    ]
    assert found(WINDOW, TOOLS | {"class": "turn"}, pinned=["ticket.v1"]) == []
    assert found(TOOLS | {"dates": "age"}, WINDOW, pinned=["tool.catalog.v1"])[0][1].startswith("dates: age is a clock")


@pytest.mark.parametrize("condition", [{"every": 3}, {"when": {"any_tags": ["urgent"]}}])
def test_a_reminder_that_comes_and_goes_is_no_part_of_a_static_section(condition: dict[str, Any]) -> None:
    reminders = [{"section": "reminder", "text": "Be brief.", **condition}]
    told = found(WINDOW, REMINDER | {"class": "static"}, reminders=reminders)
    assert told == [("sections.reminder", "a reminder comes and goes in a section that should stay the same")]
    assert found(WINDOW, REMINDER, reminders=reminders) == []


def test_floors_add_up_to_the_whole_budget_at_most() -> None:
    assert found(WINDOW | {"min_share": 0.7}, SUMMARY | {"class": "turn", "min_share": 0.3}, summaries={}) == []
    told = found(WINDOW | {"min_share": 0.8}, SUMMARY | {"class": "turn", "min_share": 0.3}, summaries={})
    assert told == [("sections", "the values of min_share add up to 1.10")]


@pytest.mark.parametrize(
    ("sections", "settings", "place"),
    [
        ([TOOLS, WINDOW], {}, "sections.tools"),
        ([WINDOW, REMINDER], {}, "sections.reminder"),
        ([SUMMARY, WINDOW], {}, "sections.summary"),
        ([WINDOW], {"summaries": {}}, "summaries"),
        ([WINDOW, RELEVANT], {}, "sections.relevant"),
        ([WINDOW], {"retrieval": {"schemas": ["user.message.v1"]}}, "retrieval.schemas"),
        ([WINDOW], {"pinned": ["tool.catalog.v1"]}, "pinned"),
        ([], {}, "sections"),
    ],
)
def test_what_is_never_filled_and_what_is_never_shown_is_told(sections: Any, settings: Any, place: str) -> None:
    assert [told for told, _ in found(*sections, **settings)] == [place]


def test_whoever_extends_a_preset_fills_its_sections() -> None:
    assert found(TOOLS, WINDOW, REMINDER, as_preset=True) == []


def test_a_slip_of_the_pen_is_told_with_the_name_that_was_meant() -> None:
    assert found(WINDOW, triggers=["user.mesage.v1"]) == [("triggers", "no schema is called 'user.mesage.v1'")]
    assert found(WINDOW, triggers=["user.message"]) == [("triggers", "no schema is called 'user.message'")]
    assert found(TOOLS, WINDOW, pinned=["tool.catalogue.v1"]) == [("pinned", "no schema is called 'tool.catalogue.v1'")]


def test_a_trigger_that_nobody_sends_is_told() -> None:
    assert found(WINDOW, triggers=["order.placed.v2"]) == [("triggers", "no sender of 'order.placed.v2' is known")]
    assert found(WINDOW, triggers=["summary.v1"]) == [("triggers", "summary.v1 never triggers")]
    assert found(WINDOW, triggers=["ticket.v1"]) == []


def test_a_schema_without_a_hint_is_told() -> None:
    told = found(WINDOW, RELEVANT, retrieval={"schemas": ["order.placed.v2"]})
    assert told == [
        ("retrieval.schemas", "hints/order.placed.v2.md.j2 does not exist, so the generic hint shows 'order.placed.v2'")
    ]


def test_the_window_of_an_unknown_model_is_said_to_be_guessed() -> None:
    assert found(WINDOW, model="gpt-4o") == []
    assert found(WINDOW, model="nobody-1") == [
        ("model", "'nobody-1' is not in models.yaml: a window of 128,000 tokens is guessed")
    ]


def test_a_system_prompt_larger_than_the_page_is_told() -> None:
    role = {"name": "role", "title": "Role", "source": "system", "class": "static"}
    told = found(role, WINDOW, budget=20, system_prompt="one two three four five six seven eight nine ten " * 5)
    assert [place for place, _ in told] == ["budget"]


def test_too_many_emphasis_markers_are_told_in_prompts_reminders_and_templates() -> None:
    loud = "ALWAYS answer. NEVER guess. You MUST cite. IMPORTANT: be brief."
    assert found(WINDOW, REMINDER, reminders=[{"section": "reminder", "text": loud}]) == [
        ("reminders.0", "4 emphasis markers (ALWAYS, IMPORTANT, MUST, NEVER)")
    ]
    assert overused("ALWAYS answer. NEVER guess. You MUST cite.") == ""
    assert [finding.file for finding in lint_templates(TemplateSet(GENERIC | {"a.v1": loud}, {"p": loud + PAGE}))] == [
        "hints/a.v1.md.j2",
        "pages/p.md.j2",
    ]
