"""The parts of a profile file, as its author writes them: every setting with its default and its meaning."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from builder.assemble.items.rendering import SOURCES
from builder.domain.profile import FORBIDDEN_SCHEMAS, Dates, QuerySource, SectionClass
from builder.domain.selector import MAX_PINNED
from builder.wire.subjects import session_token

STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

_Session = Annotated[str, AfterValidator(session_token)]
"""A session of any text, as its token."""


def check_showable(schemas: tuple[str, ...]) -> None:
    """Raises `ValueError` for a kind that is never shown."""
    if forbidden := FORBIDDEN_SCHEMAS & set(schemas):
        raise ValueError(f"{', '.join(sorted(forbidden))} is never shown; take it out")


class SelectorFile(BaseModel):
    """Which breadcrumbs are meant: every condition that is given must hold."""

    model_config = STRICT
    schemas: tuple[str, ...] = Field((), description="one of these schemas")
    ids: tuple[str, ...] = Field((), description="one of these ids")
    any_tags: tuple[str, ...] = Field((), description="at least one of these tags")
    all_tags: tuple[str, ...] = Field((), description="all of these tags")
    none_tags: tuple[str, ...] = Field((), description="none of these tags")

    @model_validator(mode="after")
    def _is_showable(self) -> "SelectorFile":
        check_showable(self.schemas)
        return self


class AudienceFile(SelectorFile):
    """Which breadcrumbs are a consumer's conversation."""

    agents: tuple[str, ...] = Field((), description="by or to one of these agents, or by users and tools to everybody")


class TriggerFile(SelectorFile):
    """Breadcrumbs whose first version asks for a context."""

    @model_validator(mode="after")
    def _selects_something(self) -> "TriggerFile":
        if not (self.schemas or self.ids or self.any_tags or self.all_tags):
            raise ValueError("it names no schema, id or tag; say which breadcrumbs ask for a context")
        return self


class PinnedFile(SelectorFile):
    """What stands on the page whatever was said since."""

    keep: Literal["latest", "all"] | Annotated[int, Field(ge=1, le=MAX_PINNED)] = Field(
        "latest", description=f"the latest of its kind, so many of the newest, or all (at most {MAX_PINNED})"
    )
    section: str = Field("", description="section with source pinned; default is the first")

    @model_validator(mode="after")
    def _selects_something(self) -> "PinnedFile":
        if not (self.schemas or self.ids or self.any_tags or self.all_tags):
            raise ValueError("it names no schema, id or tag; say which breadcrumbs stand")
        return self


class WindowFile(BaseModel):
    """Limits of the conversation, in units: a message, or one with all its calls."""

    model_config = STRICT
    max_units: int | None = Field(
        None,
        ge=0,
        description="units above which it is trimmed to `trim_to`, even if more fit; null = no limit",
    )
    trim_to: int = Field(10, ge=0, description="units kept when it is trimmed")
    min_share: float = Field(
        0.14,
        ge=0,
        le=1,
        description="least share of the page for its newest part",
    )
    max_tool_turns: int | None = Field(None, ge=0, description="newest tool turns whose calls and results are shown; null = all")
    whole_up_to: Literal["target", "budget"] = Field(
        "target", description="shown whole if it fits into `target`, or into `budget`"
    )

    @model_validator(mode="after")
    def _limits_agree(self) -> "WindowFile":
        if self.max_units is not None and self.trim_to > self.max_units:
            raise ValueError(f"trim_to is {self.trim_to} but max_units is {self.max_units}; lower trim_to")
        return self


class RetrievalFile(BaseModel):
    """Search for what the page does not show anyway."""

    model_config = STRICT
    scope: Literal["session", "user", "workspace"] | tuple[_Session, ...] = Field(
        "session",
        description="this session; user = words by and to the same `user_id` in any session; workspace = everybody's; or "
        "further sessions",
    )
    schemas: tuple[str, ...] = Field(description="schemas that are searched")
    people: Literal["all", "named"] = Field(
        "all", description="whose messages: everybody's, or those of people whom the trigger names"
    )
    per_schema_limit: dict[str, int] = Field({}, description="most search results of a schema; others have no limit")
    max_results: int | None = Field(
        None, ge=0, description="most search results, without the answers that come along; null = what fits"
    )
    similarity_threshold: float = Field(0, ge=0, le=1, description="least cosine; 0 = none")
    min_probability: float | None = Field(
        None,
        ge=0,
        le=1,
        description="least probability that a result answers the question; null = all that fit",
    )
    floor: float = Field(
        0,
        ge=0,
        le=1,
        description="share of their room that the best results get, however improbable; small talk finds nothing",
    )
    neighbours: int = Field(0, ge=0, le=5, description="passages before and after the best 5 results, if room is left")
    first_in_follow_ups: bool = Field(
        False, description="for a follow-up question (`and the second?`), results come before the conversation"
    )
    query: QuerySource = Field(
        "last_user",
        description="search text: last_user = the trigger, with what it follows up; last_n = the last messages; custom = "
        "query_text",
    )
    query_messages: int = Field(3, ge=1, le=20, description="messages of last_n, with the trigger")
    query_text: str = Field("", max_length=2000, description="text of custom; {trigger} = the trigger's text")

    @model_validator(mode="after")
    def _is_showable(self) -> "RetrievalFile":
        check_showable(self.schemas)
        return self

    @model_validator(mode="after")
    def _has_its_text(self) -> "RetrievalFile":
        if (self.query == "custom") != bool(self.query_text.strip()):
            raise ValueError(f"query is {self.query} and query_text is {self.query_text!r}; custom, and only that, needs a text")
        return self


class CutFile(BaseModel):
    """What is kept of a result list."""

    model_config = STRICT
    results: int | None = Field(None, ge=1, description="results kept; null = all")
    characters: int | None = Field(None, ge=1, description="characters of each result; null = all")


class ToolOutputFile(BaseModel):
    """How much of tool results is shown; folding only while the conversation does not fit. The store keeps all."""

    model_config = STRICT
    cut: CutFile = Field(default_factory=lambda: CutFile.model_validate({}), description="what is kept of any result list")
    per_tool: dict[str, CutFile] = Field({}, description="the same for single tools")
    old_tools: tuple[str, ...] = Field((), description="tools whose search results are shortened")
    old_characters: int = Field(1500, ge=1, description="characters that remain of them")
    placeholder_after: int | None = Field(None, ge=0, description="tool turns after which a result is one line; null = never")
    fold_at: float | None = Field(
        0.7,
        gt=0,
        le=1,
        description="share of the conversation's room above which the oldest results become one line each; null = never",
    )
    fold_keep: int = Field(4, ge=0, description="newest messages and calls that are folded only if they are large")
    newest_only: bool = Field(
        True,
        description="a result becomes one line if the same call succeeded again later",
    )


class SummariesFile(BaseModel):
    """When older units become a summary, off the hot path."""

    model_config = STRICT
    max_pending: int | None = Field(50, ge=1, description="unsummarised units above which a batch is summarised; null = off")
    tokens: int | None = Field(80_000, ge=1, description="tokens of them above which it is; null = off")
    keep: int = Field(20, ge=0, description="newest units, never summarised")
    batch: int = Field(10, ge=1, description="oldest units summarised at once")
    cap: int = Field(400, ge=20, description="most tokens of a summary")
    by: Literal["extractive", "endpoint"] = Field(
        "extractive", description="the local summariser, or CONTEXT_BUILDER_SUMMARIES__URL, which falls back to it"
    )


class TrustedHintsFile(BaseModel):
    """Whose hints of records run: every condition that is given must hold."""

    model_config = STRICT
    schemas: tuple[str, ...] = Field((), description="records of these schemas (schema.def.v1 = hints of definitions); [] = any")
    sessions: Literal["none", "any"] = Field("none", description="none = only records without a session")
    creators: tuple[str, ...] = Field(
        (), description="`created_by` or context.creator.agent_id, the sender's claim; [] = anybody"
    )


class ReminderFile(BaseModel):
    """Text that is added to the page, never stored and never searched."""

    model_config = STRICT
    section: str = Field(description="section with source reminder, first or last on the page")
    text: str = Field(min_length=1, description="the text")
    every: int = Field(1, ge=1, description="on each n-th turn")
    when: SelectorFile | None = Field(None, description="only for triggers that match; null = all")


def _check_source(name: str) -> str:
    if name not in SOURCES:
        raise PydanticCustomError("literal_error", "it is no source", {"expected": ", ".join(SOURCES)})
    return name


Source = Annotated[str, AfterValidator(_check_source), WithJsonSchema({"enum": list(SOURCES), "type": "string"})]


class SectionFile(BaseModel):
    """One section of the page."""

    model_config = STRICT
    name: str = Field(description="name in the event's `sections`")
    title: str | None = Field(
        None,
        description="heading; {NAME} = this phrase; null = the phrase `title_` with the name",
    )
    source: Source = Field(description="what fills it")
    section_class: SectionClass = Field("turn", alias="class", description="how long it stays the same")
    min_share: float = Field(
        0,
        ge=0,
        le=1,
        description="source retrieval only: least share of the budget",
    )
    max_share: float = Field(
        1,
        gt=0,
        le=1,
        description="largest share of the budget; search results take what is left",
    )
    min_tokens: int = Field(0, ge=0, description="`max_share` is never fewer tokens than these")
    dates: bool | Dates | None = Field(
        None,
        description="date lines: day (true), age, time (each minute), pause (after 30 minutes); default is day for "
        "search results and a conversation of several days",
    )
    note: str = Field("", max_length=500, description="words above its content")

    @model_validator(mode="after")
    def _shares_agree(self) -> "SectionFile":
        if self.min_share > self.max_share:
            raise ValueError(f"min_share is {self.min_share} but max_share is {self.max_share}; lower min_share")
        return self
