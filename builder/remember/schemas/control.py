"""The bodies of records that say what pages show: agents, consumers, blacklists, tombstones."""

from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema
from typing_extensions import override

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.lint_finding import nearest
from builder.domain.selector import Selector
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


_Name = Annotated[str, Field(min_length=1)]
EXCLUSIONS = ("excluded_schemas", "excluded_tags", "excluded_ids")


class BreadcrumbDeletedV1(Body):
    """A tombstone: from its place on, the named breadcrumb is gone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"breadcrumb_id": "m17"}]})
    breadcrumb_id: str = Field(min_length=1, description="id of the breadcrumb to remove")

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(removes=self.breadcrumb_id)


class ExcludedSchema(BaseModel):
    """One line of a blacklist."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    schema_name: _Name = Field(description="schema that is left out")
    reason: str | None = Field(None, description="why, for people")


class ContextBlacklistV1(Body):
    """What is neither searched nor part of any conversation, from its place on; the latest one holds.

    One that names nothing is rejected: the one before it holds on. To lift a blacklist, delete it (breadcrumb.deleted.v1).
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"excluded_schemas": [{"schema_name": "system.metric.v1", "reason": "noise"}], "excluded_tags": ["draft"]}
            ]
        }
    )
    excluded_schemas: tuple[ExcludedSchema, ...] = Field((), description="schemas that are left out")
    excluded_tags: tuple[_Name, ...] = Field((), description="breadcrumbs with one of these tags are left out")
    excluded_ids: tuple[_Name, ...] = Field((), description="these breadcrumbs are left out")

    @model_validator(mode="before")
    @classmethod
    def _spelt_right(cls, value: Any) -> Any:
        unknown = set(value) - cls.model_fields.keys() if isinstance(value, dict) else set()
        for name in sorted(unknown):
            near = nearest(name, EXCLUSIONS) or next((own for own in EXCLUSIONS if own.endswith(f"_{name}")), "")
            if near:
                raise ValueError(f"a blacklist has no field {name!r:.60}; write {near}")
        return value

    @model_validator(mode="after")
    def _names_something(self) -> "ContextBlacklistV1":
        if not self.excluded():
            raise ValueError(
                f"it leaves nothing out, so the blacklist before it holds on; name something in {', '.join(EXCLUSIONS)}, "
                "or lift a blacklist by deleting it (breadcrumb.deleted.v1 with its id)"
            )
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        required = [{"required": [name], "properties": {name: {"minItems": 1}}} for name in EXCLUSIONS]
        return handler.resolve_ref_schema(handler(core_schema)) | {"anyOf": required}

    def excluded(self) -> tuple[Selector, ...]:
        """What is left out, each by itself."""
        selectors = (
            Selector(schemas=tuple(line.schema_name for line in self.excluded_schemas)),
            Selector(any_tags=self.excluded_tags),
            Selector(ids=self.excluded_ids),
        )
        return tuple(selector for selector in selectors if selector != Selector())


def excluded(blacklist: Breadcrumb) -> tuple[Selector, ...]:
    """What a stored blacklist leaves out."""
    return _excluded(blacklist.body)


@lru_cache(256)
def _excluded(body: str) -> tuple[Selector, ...]:
    try:
        return ContextBlacklistV1.model_validate_json(body).excluded()
    except ValidationError:
        return ()
