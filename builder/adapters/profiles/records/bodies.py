"""The bodies of `agent.def.v1` and `context.config.v1`, as far as they say what a page holds. The field names are RCRT's.

A part takes unknown fields, which are reported; the body as a whole has many that are none of a page.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: () if value is None else value)]
Settings = Annotated[dict[str, Any], BeforeValidator(lambda value: {} if value is None else value)]
"""Of a profile file."""
Remark = Any
"""What a person wrote for people."""


class Part(BaseModel):
    """A part of a body."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Fields that nothing reads."""
        return tuple(name for name, value in (self.model_extra or {}).items() if value is not None)


class Trigger(Part):
    """What asks for a context."""

    schema_name: str = ""
    any_tags: Names = ()
    all_tags: Names | None = None
    none_tags: Names = ()
    comment: Remark = None
    role: Remark = None


class AlwaysSource(Part):
    """What stands on every page. `recent` and `all` are the same but for their limits."""

    type: Literal["schema", "tag", "specific"] = "schema"
    schema_name: str | None = None
    tag: str | None = None
    method: Literal["latest", "recent", "all"] = "latest"
    limit: int | None = Field(None, ge=1)
    optional: Remark = None
    reason: Remark = None
    comment: Remark = None


class Semantic(Part):
    """What is searched."""

    enabled: bool = True
    schemas: Names = ()
    limit: int | None = Field(None, ge=0)
    min_similarity: Remark = None
    comment: Remark = None


class ContextSources(Part):
    """What stands on the page, and what is searched."""

    always: tuple[AlwaysSource, ...] = ()
    semantic: Semantic | None = None
    comment: Remark = None


class AgentBody(BaseModel):
    """Of `agent.def.v1`."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    context_trigger: Trigger | None = None
    context_sources: ContextSources | None = None
    llm_config_id: str | None = None
    context_builder: Settings = {}


class Filters(Part):
    """Which records of a schema are meant."""

    tag: str | None = None
    schema_name: Remark = None


class Source(Part):
    """A source of a page."""

    schema_name: str | None = None
    method: Literal["recent", "vector", "latest", "all", "tagged"] = "recent"
    limit: int | None = Field(None, ge=1)
    nn: int | None = Field(None, ge=0)
    filters: Filters | None = None
    conversation_scope: Remark = None
    key: Remark = None
    comment: Remark = None


class Formatting(Part):
    """How a page is made."""

    max_tokens: int | None = None
    deduplication_threshold: Remark = None
    include_metadata: bool | None = None
    enable_summarization: bool | None = None


class Output(Part):
    """Where a context goes."""

    schema_name: str | None = None
    tags: Names = ()
    ttl_seconds: Remark = None


class ConfigBody(BaseModel):
    """Of `context.config.v1`."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    consumer_id: str
    update_triggers: tuple[str | Trigger, ...] | None = None
    sources: tuple[Source, ...] = ()
    formatting: Formatting | None = None
    output: Output | None = None
    context_builder: Settings = {}
