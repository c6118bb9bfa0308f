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

    agents: tuple[str, ...] = Field(
        (), description="said by or to one of these agents, or to everybody by somebody who is no other agent"
    )


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
        "latest", description=f"the latest of its kind, this number of the newest, or all of it (at most {MAX_PINNED})"
    )
    section: str = Field("", description="section with source pinned; default is the first one")

    @model_validator(mode="after")
    def _selects_something(self) -> "PinnedFile":
        if not (self.schemas or self.ids or self.any_tags or self.all_tags):
            raise ValueError("it names no schema, id or tag; say which breadcrumbs stand")
        return self


class WindowFile(BaseModel):
    """Limits of the conversation, in units: a message, or an agent's message with all its calls."""

    model_config = STRICT
    max_units: int | None = Field(
        None,
        ge=0,
        description="units above which the conversation is trimmed to `trim_to`, though more would fit; null = no limit",
    )
    trim_to: int = Field(10, ge=0, description="units that are kept when it is trimmed")
    min_share: float = Field(
        0.14,
        ge=0,
        le=1,
        description="share of the page that the newest part of a conversation which does not fit has at least",
    )
    max_tool_turns: int | None = Field(None, ge=0, description="newest tool turns whose calls and results are shown; null = all")
    whole_up_to: Literal["target", "budget"] = Field(
        "target", description="a conversation that fits into the profile's `target`, or into its `budget`, is shown whole"
    )

    @model_validator(mode="after")
    def _limits_agree(self) -> "WindowFile":
        if self.max_units is not None and self.trim_to > self.max_units:
            raise ValueError(f"trim_to is {self.trim_to} but max_units is {self.max_units}; lower trim_to")
        return self


class RetrievalFile(BaseModel):
    """What may be found of all that the page does not show anyway."""

    model_config = STRICT
    scope: Literal["session", "user", "workspace"] | tuple[_Session, ...] = Field(
        "session",
        description="where: the session; user = what was said by and to the same `user_id` in any session; "
        "workspace = everything of everybody; or a list of sessions beside the own one",
    )
    schemas: tuple[str, ...] = Field(description="schemas that are searched")
    people: Literal["all", "named"] = Field(
        "all", description="whose messages may be found: everybody's, or only those of people whom the trigger names"
    )
    per_schema_limit: dict[str, int] = Field({}, description="most finds of each schema; a schema that is not named has no limit")
    max_results: int | None = Field(
        None, ge=0, description="most finds, not counting the answers that come along; null = what fits"
    )
    similarity_threshold: float = Field(0, ge=0, le=1, description="least cosine; 0 = no threshold")
    min_probability: float | None = Field(
        None,
        ge=0,
        le=1,
        description="least probability that a find answers what is asked, small talk finds nothing; null = all that has room",
    )
    floor: float = Field(
        0,
        ge=0,
        le=1,
        description="share of the room for finds that the best of them have, however improbable; small talk finds nothing",
    )
    neighbours: int = Field(
        0, ge=0, le=5, description="passages before and after the best 5 finds, with what is left once everything found is shown"
    )
    first_in_follow_ups: bool = Field(
        False, description="on the page of a follow-up question, such as `and the second?`, finds stand before the conversation"
    )
    query: QuerySource = Field(
        "last_user",
        description="what is searched with: last_user = the trigger, a follow-up question together with what it follows; "
        "last_n = the last messages; custom = query_text",
    )
    query_messages: int = Field(3, ge=1, le=20, description="messages of last_n, the trigger included")
    query_text: str = Field("", max_length=2000, description="text of custom; {trigger} stands for the trigger's text")

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
    results: int | None = Field(None, ge=1, description="results that are kept; null = all")
    characters: int | None = Field(None, ge=1, description="characters of each result; null = all")


class ToolOutputFile(BaseModel):
    """How much of what tools answered is shown. All of it stays in the store."""

    model_config = STRICT
    cut: CutFile = Field(default_factory=lambda: CutFile.model_validate({}), description="what is kept of any result list")
    per_tool: dict[str, CutFile] = Field({}, description="the same for single tools, by name")
    old_tools: tuple[str, ...] = Field(
        (), description="tools whose results shrink where they are found, outside the conversation"
    )
    old_characters: int = Field(1500, ge=1, description="characters that they shrink to")
    placeholder_after: int | None = Field(
        None, ge=0, description="tool turns after which a result of the conversation is one line; null = never"
    )
    fold_at: float | None = Field(
        0.7,
        gt=0,
        le=1,
        description="while the conversation does not fit: share of its room above which the oldest results are folded to a line, "
        "as long as messages need the rest; null = never",
    )
    fold_keep: int = Field(4, ge=0, description="newest messages and calls that are folded only when they are large")
    newest_only: bool = Field(
        True,
        description="while the conversation does not fit: the result of a call that was made again later, with the same "
        "arguments and without an error, is one line",
    )


class SummariesFile(BaseModel):
    """When older units become a summary, off the hot path."""

    model_config = STRICT
    max_pending: int | None = Field(
        50, ge=1, description="unsummarised units above which a batch is summarised; null = no matter"
    )
    tokens: int | None = Field(80_000, ge=1, description="tokens of them above which one is; null = no matter")
    keep: int = Field(20, ge=0, description="newest units that are never summarised")
    batch: int = Field(10, ge=1, description="oldest unsummarised units that are taken at once")
    cap: int = Field(400, ge=20, description="most tokens of a summary")
    by: Literal["extractive", "endpoint"] = Field(
        "extractive", description="the local summariser, or CONTEXT_BUILDER_SUMMARIES__URL, which falls back to it"
    )


class TrustedHintsFile(BaseModel):
    """Whose hints of records run: every condition that is given must hold."""

    model_config = STRICT
    schemas: tuple[str, ...] = Field(
        (), description="records of these schemas; schema.def.v1 = hints that schema definitions bring; [] = any"
    )
    sessions: Literal["none", "any"] = Field(
        "none", description="none = only records of no session, which no participant of a conversation publishes; any"
    )
    creators: tuple[str, ...] = Field(
        (), description="ids in `created_by`, or in context.creator.agent_id; the sender's claim, no proof; [] = anybody's"
    )


class ReminderFile(BaseModel):
    """Text that is added to the page, never stored and never searched."""

    model_config = STRICT
    section: str = Field(description="section with source reminder: in front it is read first, behind the trigger last")
    text: str = Field(min_length=1, description="what is said, as it is")
    every: int = Field(1, ge=1, description="on each n-th turn of the session; 1 = always")
    when: SelectorFile | None = Field(None, description="only for triggers that it matches; null = for all")


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
        description="heading on the page; {NAME} = the phrase of this name; null = the phrase `title_` with the section's name",
    )
    source: Source = Field(description="what fills it")
    section_class: SectionClass = Field("turn", alias="class", description="how long it stays the same: static, slow, turn")
    min_share: float = Field(
        0,
        ge=0,
        le=1,
        description="share of the budget that finds are left with while the conversation does not fit; "
        "only source retrieval has one",
    )
    max_share: float = Field(
        1,
        gt=0,
        le=1,
        description="largest share of the budget while the conversation does not fit; finds get what is left, without a maximum",
    )
    min_tokens: int = Field(0, ge=0, description="max_share is never fewer tokens than these: a small page gives more of itself")
    dates: bool | Dates | None = Field(
        None,
        description="a line for each day on which something in it was said: the day (true), how long ago it was (age), the day "
        "and the time, a line for each minute (time) or where more than 30 minutes have passed (pause), or none (false); default "
        "is true for the conversation, once it spans more than a day, and for what is found",
    )
    note: str = Field("", max_length=500, description="words above what is in it, such as what it is and which line holds")

    @model_validator(mode="after")
    def _shares_agree(self) -> "SectionFile":
        if self.min_share > self.max_share:
            raise ValueError(f"min_share is {self.min_share} but max_share is {self.max_share}; lower min_share")
        return self
