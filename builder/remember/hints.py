"""The hints that a record brings, and the schema that a `schema.def.v1` is about. Nothing here runs or checks them."""

from typing import Any

from builder.domain.trusted_hints import DEFINES_TAG, SCHEMA_DEFINITION
from builder.wire.json import canonical

FIELD = "llm_hints"
DEFINED = ("schema_name", "defines_schema", "target_schema")
"""Fields of the body of a `schema.def.v1` that name its schema, in RCRT's wordings."""


def hints_of(record_hints: dict[str, Any] | None, context: dict[str, Any]) -> str:
    """The record's hints as canonical JSON text, else those in its body; "" for none and for what is no object."""
    hints = record_hints or context.get(FIELD)
    return canonical(hints) if isinstance(hints, dict) and hints else ""


def without_hints(context: dict[str, Any]) -> dict[str, Any]:
    """The body without the hints in it, which say how it is shown and nothing else."""
    return {name: value for name, value in context.items() if name != FIELD or not isinstance(value, dict)}


def schema_definition_tags(schema: str, sent: tuple[str, ...], context: dict[str, Any]) -> tuple[str, ...]:
    """The tags of a record; of a `schema.def.v1` with a tag for the schema that its body names."""
    if schema != SCHEMA_DEFINITION:
        return sent
    names = (context.get(field) for field in DEFINED)
    tags = (f"{DEFINES_TAG}{name}" for name in names if isinstance(name, str) and name)
    return tuple(dict.fromkeys((*sent, *tags)))
