"""Bodies of `agent.def.v1` and `context.config.v1` (RCRT's fields) → values of a profile file, and notes on what is ignored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from builder.domain.breadcrumb import AGENT_CONTEXT, AGENT_RESPONSE, TOOL_ERROR, TOOL_REQUEST, TOOL_RESPONSE, USER_MESSAGE
from builder.domain.selector import MAX_PINNED

Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: () if value is None else value)]
Settings = Annotated[dict[str, Any], BeforeValidator(lambda value: {} if value is None else value)]


class RecordPart(BaseModel):
    """A part of a body; other fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Trigger(RecordPart):
    """A selector of triggers."""

    schema_name: str = ""
    any_tags: Names = ()
    all_tags: Names | None = None
    none_tags: Names = ()
    context_match: Any = None


class AlwaysSource(RecordPart):
    """A pinned source; `recent` and `all` differ by their limits alone."""

    type: Literal["schema", "tag", "specific"] = "schema"
    schema_name: str | None = None
    tag: str | None = None
    method: Literal["latest", "recent", "all"] = "latest"
    limit: int | None = Field(None, ge=1)


class Semantic(RecordPart):
    """The search."""

    enabled: bool = True
    schemas: Names = ()
    limit: int | None = Field(None, ge=0)


class ContextSources(RecordPart):
    """Pinned sources, and the search."""

    always: tuple[AlwaysSource, ...] = ()
    semantic: Semantic | None = None


class AgentBody(RecordPart):
    """Body of an `agent.def.v1`."""

    context_trigger: Trigger | None = None
    context_sources: ContextSources | None = None
    llm_config_id: str | None = None
    context_builder: Settings = {}


class Filters(RecordPart):
    """A selector within a schema."""

    tag: str | None = None
    context_match: Any = None


class Source(RecordPart):
    """A source of a page."""

    schema_name: str | None = None
    method: Literal["recent", "vector", "latest", "all", "tagged"] = "recent"
    limit: int | None = Field(None, ge=1)
    nn: int | None = Field(None, ge=0)
    filters: Filters | None = None


class Formatting(RecordPart):
    """The page."""

    max_tokens: int | None = None
    enable_summarization: bool | None = None


class Output(RecordPart):
    """Schema and tags of contexts."""

    schema_name: str | None = None
    tags: Names = ()


class ConfigBody(RecordPart):
    """Body of a `context.config.v1`."""

    consumer_id: str
    update_triggers: tuple[str | Trigger, ...] | None = None
    sources: tuple[Source, ...] = ()
    formatting: Formatting | None = None
    output: Output | None = None
    context_builder: Settings = {}


MESSAGES = (USER_MESSAGE, AGENT_RESPONSE)
TOOLS = (TOOL_REQUEST, TOOL_RESPONSE, TOOL_ERROR)
SETTINGS = "context_builder"
"""Field of both bodies with settings of a profile."""

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Note:
    """A part of a body that is ignored."""

    path: str
    """Dotted."""
    problem: str
    fix: str


@dataclass(slots=True)
class RecordSettings:
    """Settings of a profile file, as they are collected."""

    base: Mapping[str, Any]
    """Merged values of the profile below."""
    values: Values = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def note(self, path: str, problem: str, fix: str) -> None:
        """Report an ignored part."""
        self.notes.append(Note(path, problem, fix))

    def pin(self, kinds: list[Values]) -> None:
        """Pin these beside the profile's own."""
        if kinds:
            below = list(self.base.get("pinned", ()))
            own = [kind["schemas"] for kind in kinds if kind.keys() == {"schemas", "keep"}]
            self.values["pinned"] = [kind for kind in below if [kind] not in own] + kinds

    def search(self, limits: Mapping[str, int | None]) -> None:
        """limits: most finds of each schema; None = as many as fit."""
        if limits:
            retrieval = self.values.setdefault("retrieval", {})
            below = self.base.get("retrieval", {}).get("schemas", ())
            retrieval["schemas"] = list(dict.fromkeys((*below, *limits)))
            if most := {schema: limit for schema, limit in limits.items() if limit is not None}:
                retrieval["per_schema_limit"] = most


def of_agent(body: AgentBody, draft: RecordSettings) -> None:
    """`all_tags` overrides `any_tags`, as in RCRT."""
    if body.context_trigger is not None:
        trigger = body.context_trigger
        path = "context_trigger"
        if not trigger.schema_name:
            raise ValueError(f"{path} names no schema_name; name the schema of what asks for a context")
        only = {"any_tags": ()} if trigger.all_tags is not None else {}
        draft.values["triggers"] = [_trigger(path, trigger.model_copy(update=only), draft)]
        if not body.context_builder:  # a definition of RCRT's alone: its runner sends the prompt beside the page
            draft.values["show_system_prompt"] = False
    if body.context_sources is not None:
        path = "context_sources"
        kinds = [_always(f"{path}.always.{n}", source, draft) for n, source in enumerate(body.context_sources.always)]
        draft.pin([kind for kind in kinds if kind])
        if body.context_sources.semantic is not None:
            _semantic(body.context_sources.semantic, draft)
    if body.llm_config_id:
        fix = f"name the model in {SETTINGS}: {{model: gpt-4o}}"
        draft.note("llm_config_id", "the record of the model is not read, so it decides no budget", fix)


def of_config(body: ConfigBody, draft: RecordSettings) -> None:
    """Settings of a `context.config.v1`."""
    if body.update_triggers is not None:
        draft.values["triggers"] = [
            each if isinstance(each, str) else _trigger(f"update_triggers.{n}", each, draft)
            for n, each in enumerate(body.update_triggers)
        ]
    _conversation(body.sources, draft)
    kinds, limits = [], {}
    for n, source in enumerate(body.sources):
        path = f"sources.{n}"
        _note_filters(path, source, draft)
        if source.method == "vector":
            if not source.schema_name:
                raise ValueError(f"{path} names no schema_name; name the schema that is searched")
            limits[source.schema_name] = source.nn if source.limit is None else source.limit
        elif source.schema_name not in (*MESSAGES, *TOOLS):
            kinds.append(_source(path, source))
    draft.pin(kinds)
    draft.search(limits)
    _format(body.formatting or Formatting(), draft)
    _output(body, body.output or Output(), draft)


def _trigger(path: str, trigger: Trigger, draft: RecordSettings) -> Values:
    _note_match(path, trigger, "it asks for a context whatever they are", draft)
    values = {"any_tags": trigger.any_tags, "all_tags": trigger.all_tags or (), "none_tags": trigger.none_tags}
    schemas = {"schemas": [trigger.schema_name]} if trigger.schema_name else {}
    return schemas | {name: list(tags) for name, tags in values.items() if tags}


def _always(path: str, source: AlwaysSource, draft: RecordSettings) -> Values:
    if source.type == "specific":
        draft.note(path, "type: specific names nothing that can be found", "use type: schema or type: tag")
        return {}
    if source.type == "tag":
        if not source.tag:
            raise ValueError(f"{path} has type: tag and names no tag; name one")
        return {"any_tags": [source.tag], "keep": _keep(source.limit, "latest")}
    if not source.schema_name:
        raise ValueError(f"{path} has type: schema and names no schema_name; name one")
    if source.schema_name in (*MESSAGES, *TOOLS):
        fix = f"limit it in {SETTINGS}: {{window: …}}"
        draft.note(path, "the conversation is on the page anyway, as much of it as fits", fix)
        return {}
    return {"schemas": [source.schema_name], "keep": _keep(source.limit, "latest")}


def _keep(limit: int | None, otherwise: str) -> int | str:
    if limit is None:
        return otherwise
    return "latest" if limit == 1 else "all" if limit >= MAX_PINNED else limit


def _semantic(semantic: Semantic, draft: RecordSettings) -> None:
    if not semantic.enabled:
        draft.values["retrieval"] = {"max_results": 0}
        return
    draft.search(dict.fromkeys(semantic.schemas, semantic.limit))


def _conversation(sources: tuple[Source, ...], draft: RecordSettings) -> None:
    recent = [source for source in sources if source.method in {"recent", "latest"}]
    messages = [source.limit for source in recent if source.schema_name in MESSAGES]
    if messages and None not in messages:
        total = sum(limit or 0 for limit in messages)
        draft.values["window"] = {"trim_to": total, "max_units": 2 * total}
    turns = [source.limit for source in recent if source.schema_name in TOOLS and source.limit is not None]
    if turns:
        draft.values.setdefault("window", {})["max_tool_turns"] = max(turns)


def _source(path: str, source: Source) -> Values:
    tag = source.filters.tag if source.filters else None
    if not source.schema_name and not tag:
        raise ValueError(f"{path} names neither a schema_name nor filters.tag; name one")
    schemas: Values = {"schemas": [source.schema_name]} if source.schema_name else {}
    tags: Values = {"all_tags": [tag]} if tag else {}
    return schemas | tags | {"keep": _keep(source.limit, "latest" if source.method in {"latest", "recent"} else "all")}


def _note_filters(path: str, source: Source, draft: RecordSettings) -> None:
    filters = source.filters or Filters()
    _note_match(f"{path}.filters", filters, "all of the schema is shown", draft)
    tag = filters.tag
    if tag and (source.method == "vector" or source.schema_name in (*MESSAGES, *TOOLS)):
        fix = f"say whose conversation it is in {SETTINGS}: {{audience: {{any_tags: [{tag}]}}}}"
        draft.note(f"{path}.filters.tag", "what is said and what is found is not chosen by tags", fix)


def _note_match(path: str, part: Trigger | Filters, effect: str, draft: RecordSettings) -> None:
    if part.context_match is not None:
        problem = f"fields of a body are not compared, so {effect}"
        draft.note(f"{path}.context_match", problem, "name tags in place of it")


def _format(formatting: Formatting, draft: RecordSettings) -> None:
    if formatting.max_tokens is not None:
        draft.values["budget"] = formatting.max_tokens
    if formatting.enable_summarization and not draft.base.get("summaries"):
        draft.values["summaries"] = {"keep": 20}


def _output(body: ConfigBody, output: Output, draft: RecordSettings) -> None:
    if output.schema_name not in (None, AGENT_CONTEXT):
        draft.note("output.schema_name", "contexts are agent.context.v1", "take it out")
    if tags := [tag for tag in output.tags if tag not in ("agent:context", f"consumer:{body.consumer_id}")]:
        draft.note("output.tags", f"contexts have no tags of a record: {', '.join(tags)}", "take them out")
