"""JSON Schemas of everything on the wire: the files in `schemas/`."""

import json
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

from builder.adapters.profiles.profile_file import NO_FORMAT, ProfileFile
from builder.app.context_event import AgentContextV1
from builder.domain.breadcrumb import AGENT_CONTEXT, CONTEXT_COMPACTED
from builder.extra import additions
from builder.extras.contracts.asyncapi import asyncapi_text
from builder.extras.contracts.descriptions import URN, Untitled
from builder.publish.reports import ContextCompactedV1
from builder.remember.decode import BODIES
from builder.remember.record import Record

ASYNCAPI_FILE = "asyncapi.json"
INBOUND: dict[str, type[BaseModel]] = {**BODIES, "record": Record, "profile": ProfileFile}
"""Models of inbound data."""
OUTBOUND: dict[str, type[BaseModel]] = {AGENT_CONTEXT: AgentContextV1, CONTEXT_COMPACTED: ContextCompactedV1}


def schema_files() -> dict[str, str]:
    """File name → deterministic JSON Schema (draft 2020-12), and the AsyncAPI document."""
    inbound = {name: _schema(name, model, "validation") for name, model in INBOUND.items()}
    outbound = {name: _schema(name, model, "serialization") for name, model in OUTBOUND.items()}
    files = {f"{name}.json": text for name, text in (inbound | outbound).items()} | {ASYNCAPI_FILE: asyncapi_text()}
    return dict(sorted(files.items()))


def _schema(name: str, model: type[BaseModel], mode: JsonSchemaMode) -> str:
    schema = model.model_json_schema(by_alias=True, schema_generator=Untitled, mode=mode)
    if model is ProfileFile:
        schema["properties"]["chat_format"]["enum"] = [NO_FORMAT, *additions("page_formats")]
        schema = _extending(schema)
    head = {"$schema": Untitled.schema_dialect, "$id": URN + name, "title": name}
    return json.dumps(schema | head, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _extending(schema: dict[str, Any]) -> dict[str, Any]:
    defs, properties = schema["$defs"], schema["properties"]
    changed = {"RetrievalChange": {**defs["Retrieval"]}, "SectionChange": {**defs["SectionFile"]}}
    for part in changed.values():
        del part["required"]
    by_name = {"type": "object", "additionalProperties": {"anyOf": [_reference("SectionChange"), {"type": "null"}]}}
    own = {name: properties[name] for name in schema["required"]}
    extended = {"retrieval": _reference("RetrievalChange"), "sections": {"anyOf": [own["sections"], by_name]}}
    one = {"type": "string", "description": "one preset"}
    extends = {"anyOf": [one, properties["extends"]], "default": [], "description": properties["extends"]["description"]}
    described = {name: {"description": field.get("description", "")} for name, field in own.items()}
    return schema | {
        "$defs": defs | changed,
        "properties": properties | described | {"extends": extends},
        "required": [],
        "if": {"required": ["extends"], "properties": {"extends": {"not": {"const": []}}}},
        "then": {"properties": extended},
        "else": {"required": schema["required"], "properties": own},
    }


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}
