"""A first hint reads well, shows every field that people read, and passes lint."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.folder import TemplateSet
from builder.adapters.templates.json_schemas import example_of, fields_of, first_hint, schema_of
from builder.adapters.templates.lint import lint_templates
from builder.adapters.templates.trial import example, render_example
from builder.remember.schemas.registry import BODIES

GENERIC = {"generic": "{{ schema }}: {{ body | readable }}"}
TICKET = {
    "type": "object",
    "required": ["number", "title"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "number": {"type": "integer", "examples": [7]},
        "title": {"type": "string", "examples": ["Repair the blue kiln"]},
        "status": {"enum": ["open", "closed"]},
        "priority": {"anyOf": [{"enum": ["low", "high"]}, {"type": "null"}]},
        "description": {"type": ["string", "null"], "examples": ["It stops at 900 °C.\n\n- E12\n- E40"]},
        "assignee": {"type": "object", "properties": {"name": {"type": "string", "examples": ["Joost"]}}},
        "labels": {"type": "array", "items": {"type": "string"}, "examples": [["kiln", "urgent"]]},
        "steps": {
            "type": "array",
            "items": {"type": "object", "properties": {"what": {"examples": ["look"]}, "done": {"const": True}}},
        },
        "createdAt": {"type": "string"},
        "due": {"type": "string", "format": "date-time"},
        "sha256": {"type": "string"},
        "openQuestions": {"type": "integer", "examples": [0]},
    },
}

EXPECTED = """- Ticket 7 "Repair the blue kiln" (open, low): It stops at 900 °C.

  - E12
  - E40
  - Open questions: 0
  - Labels: kiln, urgent
  - Steps:

    - what: look
      done: true
  - Assignee: name: Joost"""


def shown(schema: dict[str, Any], body: dict[str, Any] | None = None) -> str:
    source = first_hint("ticket.v1", fields_of(schema))
    body = body if body is not None else example_of(schema)
    crumb = example("ticket.v1", body)
    return render_example(TemplateSet(GENERIC | {"ticket.v1": source}, {}), "ticket.v1", crumb, json.loads(crumb.body))


def test_the_first_line_says_what_it_is_and_the_others_follow_without_ids_clocks_and_hashes() -> None:
    assert shown(TICKET) == EXPECTED


def test_what_is_missing_leaves_no_trace() -> None:
    assert shown(TICKET, {"number": 7, "title": "Repair"}) == '- Ticket 7 "Repair"'


@pytest.mark.parametrize("schema", BODIES)
def test_a_hint_of_every_known_schema_passes_lint(schema: str) -> None:
    source = first_hint(schema, fields_of(BODIES[schema].model_json_schema(by_alias=True)))
    findings = [each for each in lint_templates(TemplateSet(GENERIC | {schema: source}, {})) if schema in each.file]
    assert [str(each) for each in findings if each.severity == "error"] == []


def test_a_schema_of_ids_alone_shows_the_whole_body() -> None:
    assert first_hint("a.b.v2", fields_of({"properties": {"id": {}, "hash": {}}})) == (
        "- A b: {{ body | readable | below or words.empty }}\n"
    )


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    ["title", "status", "items", "my-field"]
)
VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_any_sample_record_has_a_hint_that_compiles_and_renders(body: dict[str, Any]) -> None:
    text = shown(schema_of(body), {name.replace("\x00", "?"): value for name, value in body.items()})
    assert text.startswith("- ")


def test_a_field_s_name_is_never_template_source() -> None:
    schema = schema_of({"{{ 7*191 }}": "x", "%} {% include 'y' %}": [1], "it's \\": 2})
    assert shown(schema, {"{{ 7*191 }}": "x"}) == "- Ticket\n  - 7 191: x"
