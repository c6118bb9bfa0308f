"""The fields of a body by its JSON Schema, whatever way the schema says it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.json_schemas import example_of, fields_of, schema_of

PERSON = {"type": "object", "properties": {"name": {"type": "string"}}}


def kind(part: dict[str, Any], **more: Any) -> str:
    (field,) = fields_of({"type": "object", "properties": {"x": part}, **more})
    return field.kind


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "string"}, "text"),
        ({"type": ["null", "integer"]}, "number"),
        ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, "truth"),
        ({"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, "list"),
        ({"type": "array", "items": {"$ref": "#/$defs/person"}}, "rows"),
        ({"$ref": "#/$defs/person"}, "object"),
        ({"allOf": [{"$ref": "#/$defs/person"}, {"description": "who"}]}, "object"),
        ({"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]}, "object"),
        ({"properties": {"a": {}}}, "object"),
        ({"items": {}}, "list"),
        ({"enum": ["a", "b"]}, "text"),
        ({}, "any"),
        ({"$ref": "other.json#/x"}, "any"),
        ({"$ref": "#/$defs/self"}, "any"),
    ],
)
def test_references_alternatives_and_parts_are_resolved(part: dict[str, Any], expected: str) -> None:
    definitions = {"person": PERSON, "self": {"$ref": "#/$defs/self"}}
    assert kind(part, **{"$defs": definitions}) == expected


def test_fields_of_every_body_are_left_out_and_the_others_keep_their_order() -> None:
    schema = {"properties": {"b": {}, "session_id": {}, "a": {}, "speaker": {}}, "required": ["a"]}
    assert [(field.name, field.required) for field in fields_of(schema)] == [("b", False), ("a", True)]


def test_an_example_is_the_schema_s_own_or_is_made_of_its_types() -> None:
    schema = {
        "$defs": {"person": PERSON},
        "properties": {
            "state": {"enum": ["open", "closed"]},
            "who": {"$ref": "#/$defs/person"},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "at": {"type": "string", "format": "date-time"},
            "size": {"type": "integer", "minimum": 5},
            "word": {"type": "string", "examples": ["clay"]},
            "level": {"const": 3},
            "code": {"type": "string", "maxLength": 4},
        },
    }
    assert example_of(schema) == {
        "state": "open", "who": {"name": "some name"}, "tags": ["some tag", "some tag"], "at": "2026-01-01T09:00:00Z", "size": 5,
        "word": "clay", "level": 3, "code": "some",
    }  # fmt: skip
    assert example_of(schema | {"examples": [{"state": "closed"}]}) == {"state": "closed"}


def test_a_schema_that_holds_itself_has_an_end() -> None:
    tree = {"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"}
    assert str(example_of(tree)).count("next") <= 8


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_sample_is_the_example_of_its_own_schema(value: Any) -> None:
    if value is not None:
        assert example_of(schema_of(value)) == value
