"""The bodies of records that define agents and their pages."""

from typing import Any

from pydantic import ConfigDict, Field
from typing_extensions import override

from builder.remember.schemas.base import Body, BodyFacts, Text

_SETTINGS = "settings of `profile.json` laid over all else that the record says"


class AgentDefV1(Body):
    """An agent's definition; speaks under its `agent_id`. In session `_` its `context_trigger` makes the agent a consumer."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "agent_id": "support",
                    "system_prompt": "You help people who fire kilns.",
                    "context_trigger": {"schema_name": "user.message.v1", "any_tags": ["user:message"]},
                    "context_sources": {
                        "always": [{"type": "schema", "schema_name": "price.list.v1", "method": "latest", "limit": 1}],
                        "semantic": {"enabled": True, "schemas": ["knowledge.v1"], "limit": 3},
                    },
                }
            ]
        }
    )
    agent_id: str = Field(min_length=1, max_length=200, description="the consumer that it defines")
    system_prompt: Text = Field("", description="shown on its pages in the section with source system")
    context_trigger: Any = Field(
        None,
        description="what asks for a context: {schema_name, none_tags, all_tags, any_tags}; all_tags make any_tags void",
    )
    context_sources: Any = Field(
        None,
        description="what stands on the page and what is searched: {always: [{type: schema or tag, schema_name, tag, method: "
        "latest, recent or all, limit}], semantic: {enabled, schemas, limit}}",
    )
    context_builder: Any = Field(None, description=_SETTINGS)

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(text=self.system_prompt, speaker=self.agent_id)


class ContextConfigV1(Body):
    """What a consumer wants on its page. In session `_` it makes the consumer, and wins over the agent's definition."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "consumer_id": "support",
                    "update_triggers": [{"schema_name": "user.message.v1", "any_tags": ["user:message"]}],
                    "sources": [
                        {"schema_name": "user.message.v1", "method": "recent", "limit": 3},
                        {"schema_name": "note.v1", "method": "vector", "nn": 5},
                        {"schema_name": "tool.catalog.v1", "method": "latest"},
                    ],
                    "formatting": {"max_tokens": 4000},
                }
            ]
        }
    )
    consumer_id: Any = Field(None, description="the consumer; 1 to 128 of the characters A-Z, a-z, 0-9, _ and -")
    update_triggers: Any = Field(None, description="what asks for a context: [{schema_name, any_tags, all_tags, none_tags}]")
    sources: Any = Field(
        None,
        description="what stands on the page and what is searched: [{schema_name, method: recent, latest, all, tagged or vector, "
        "limit, nn, filters: {tag}}]",
    )
    formatting: Any = Field(None, description="{max_tokens}: the budget")
    context_builder: Any = Field(None, description=_SETTINGS)
