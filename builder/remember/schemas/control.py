"""The bodies of records that say what pages show: agents, consumers, blacklists, tombstones, summaries."""

from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema
from typing_extensions import override

from builder.domain.breadcrumb import SUMMARY, Breadcrumb
from builder.domain.lint_finding import nearest
from builder.domain.selector import Selector
from builder.domain.summary import Summary
from builder.remember.schemas.base import Body, BodyFacts, Text
from builder.wire.records import Outgoing, make_record, outgoing

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
    reason: str = Field("", description="secret = the service closes the id of a secret, under which nothing readable stood")

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(removes=self.breadcrumb_id)


class BreadcrumbMovedV1(Body):
    """In session `_`: from its place on, the named breadcrumb stands in another session. The service alone writes it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"breadcrumb_id": "m17", "session": "s43"}]})
    breadcrumb_id: str = Field(min_length=1, description="id of the breadcrumb that moved")
    session: str = Field(min_length=1, description="token of the session in which its later versions stand")

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


RECIPE_TAG = "recipe:"
"""Beginning of the tag that names the settings of a summary."""
_STRICT = ConfigDict(strict=False, frozen=True, extra="ignore")


class SummaryLine(BaseModel):
    """One line of a summary."""

    model_config = _STRICT
    text: str = Field(min_length=1, strict=True, description="what is kept, the speaker's name in front")
    day: str = Field("", strict=True, description="day on which its episode began")
    ids: tuple[str, ...] = Field(min_length=1, description="breadcrumbs that it was made from")
    versions: tuple[int, ...] = Field(min_length=1, description="their versions: an edited or deleted source hides the line")
    verbatim: bool = Field(False, strict=True, description="kept word for word, outside the cap")
    rank: int = Field(0, ge=0, strict=True, description="0 = tells most; on a page without room for all, the highest go first")
    id: str = Field("", strict=True, description='of an observation, which a model wrote: its id; "" = it is none')
    subject: str = Field("", strict=True, description="of an observation: what it is about")
    replaces: str = Field("", strict=True, description="of an observation: id of an earlier one that holds no more because of it")

    @model_validator(mode="after")
    def _paired(self) -> "SummaryLine":
        if len(self.ids) != len(self.versions):
            raise ValueError(f"{len(self.ids)} ids and {len(self.versions)} versions; give one version for each id")
        return self


class SummaryV1(Body):
    """What stands for older breadcrumbs of a session. The service writes it; it never triggers. Its observations may be found."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "lines": [
                        {"text": "Ana: The kiln fires at cone 6.", "day": "8 May 2023", "ids": ["m3"], "versions": [1]},
                        {
                            "text": "kiln: fires at cone 6",
                            "day": "8 May 2023",
                            "ids": ["m3"],
                            "versions": [1],
                            "id": "5c1f0a9e",
                            "subject": "kiln",
                            "replaces": "b07d21c4",
                        },
                    ],
                    "covered": ["m3"],
                    "versions": [1],
                    "previous": "",
                    "last": "m3",
                    "recipe": "3f0c9a51",
                    "by": "extractive",
                    "language": "en",
                }
            ]
        }
    )
    lines: tuple[SummaryLine, ...] = Field(
        description="in place order; of those kept word for word, and of observations, only what it newly covers"
    )
    covered: tuple[str, ...] = Field(
        min_length=1, description="ids that it stands for, in versions that no earlier summary does, in order"
    )
    versions: tuple[int, ...] = Field((), description="versions of the ids covered, one for each; empty = all are first ones")
    previous: str = Field("", strict=True, description='id of the summary that it continues; "" for the first')
    last: str = Field(min_length=1, strict=True, description="id of the breadcrumb that heads the last unit it covers")
    recipe: str = Field(min_length=1, strict=True, description="hash of the settings it was made with; so does the tag recipe:…")
    by: str = Field("", strict=True, description="extractive, or the name of the model")
    language: str = Field("und", strict=True, description="ISO 639-1 code, und when nobody knows")
    at_once: bool = Field(
        False,
        strict=True,
        description="made on demand: shown at once, not when the beginning of the conversation on the page moves next",
    )

    @model_validator(mode="after")
    def _versioned(self) -> "SummaryV1":
        if self.versions and len(self.covered) != len(self.versions):
            raise ValueError(
                f"{len(self.covered)} ids covered and {len(self.versions)} versions; give one version for each id, or none"
            )
        return self

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(covers=self.covered, text="\n".join(line.text for line in self.lines if line.id))


def summary_event(workspace: str, session: str, identity: str, summary: Summary, created_at: Any) -> Outgoing:
    """A summary as it is published. created_at: of the last breadcrumb it covers, so all workers send the same bytes."""
    record = make_record(SUMMARY, identity, session, summary.body(), created_at=created_at)
    return outgoing(record | {"tags": [f"{RECIPE_TAG}{summary.recipe}"]}, workspace)
