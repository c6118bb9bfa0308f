"""`agent.context.v1` as schemas describe it: with the types that the formats of the installed extras give its messages."""

from pydantic import GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from builder.extra import additions
from builder.publish.event import ContextEvent


class AgentContextV1(ContextEvent):
    """The one context of a trigger for a consumer."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        fields = handler.resolve_ref_schema(schema).get("properties", {})  # a generator may name the event and no more
        for name in fields.keys() & {"system", "messages"}:
            kinds = (each.types.get(name) for each in additions("page_formats").values())
            fields[name]["anyOf"] = [*(handler(TypeAdapter(kind).core_schema) for kind in kinds if kind), {"type": "null"}]
        return schema
