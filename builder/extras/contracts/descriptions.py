"""JSON Schemas as our documents have them, and those of each request for the micro service's metadata."""

from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import ModelSchema
from typing_extensions import override

from builder.app.context_event import AgentContextV1
from builder.app.requests import all_requests
from builder.domain.breadcrumb import AGENT_CONTEXT
from builder.domain.json_text import one_line

URN = "urn:context-builder:schema:"


class Untitled(GenerateJsonSchema):
    """Titles would repeat the fields' names."""

    @override
    def field_title_should_be_set(self, schema: CoreSchema | Any) -> Literal[False]:
        return False


class _ByName(Untitled):
    """A context is named by the `$id` of its file in `schemas/`: else a description of the service had six copies of it."""

    @override
    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        reference = {"type": "object", "title": AGENT_CONTEXT, "description": f"{URN}{AGENT_CONTEXT}"}
        return reference if schema["cls"] is AgentContextV1 else super().model_schema(schema)


@cache
def metadata() -> dict[str, dict[str, str]]:
    """Name of a request → description, and the JSON Schemas of request and answer, as texts: ADR-32 allows nothing else."""
    return {
        name: {
            "description": (row.model.__doc__ or "").partition("\n")[0],
            "request_schema": one_line(row.model.model_json_schema(schema_generator=Untitled)),
            "response_schema": one_line(TypeAdapter(row.answer).json_schema(mode="serialization", schema_generator=_ByName)),
        }
        for name, row in all_requests().items()
    }
