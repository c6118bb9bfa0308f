"""A profile file as written: the domain's settings, checks of them, and settings that only files have."""

from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from builder.assemble.items.section_sources import SOURCES
from builder.domain.lint_finding import nearest
from builder.domain.page_settings import (
    DEFAULT_BUDGET,
    FORBIDDEN_SCHEMAS,
    Dates,
    Reminder,
    SectionClass,
    Summaries,
    Window,
)
from builder.domain.retrieval import Retrieval
from builder.domain.selector import MAX_PINNED, Audience, Selector, TrustedHints
from builder.domain.tool_output import ToolOutput
from builder.wire.subjects import session_token

NO_FORMAT = "none"
STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def check_showable(schemas: tuple[str, ...]) -> None:
    """Raises `ValueError` for a kind that is never shown."""
    if forbidden := FORBIDDEN_SCHEMAS & set(schemas):
        raise ValueError(f"{', '.join(sorted(forbidden))} is never shown; take it out")


def _check_names_something(selector: Selector) -> None:
    check_showable(selector.schemas)
    if not (selector.schemas or selector.ids or selector.any_tags or selector.all_tags):
        raise ValueError("it names no schema, id or tag; say which breadcrumbs are meant")


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerFile(Selector):
    """Breadcrumbs whose first version asks for a context."""

    def __post_init__(self) -> None:
        _check_names_something(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedFile(Selector):
    """Always on the page, whatever was said since."""

    keep: Literal["latest", "all"] | Annotated[int, Field(ge=1, le=MAX_PINNED)] = field(
        default="latest",
        metadata={"description": f"the latest of its kind, so many of the newest, or all (at most {MAX_PINNED})"},
    )
    section: str = field(default="", metadata={"description": "section with source pinned; default is the first"})

    def __post_init__(self) -> None:
        _check_names_something(self)


def checked_audience(audience: Audience) -> Audience:
    """Raises `ValueError`, as the next three do."""
    check_showable(audience.schemas)
    return audience


def checked_reminder(reminder: Reminder) -> Reminder:
    """Its `when` is showable."""
    check_showable(reminder.when.schemas if reminder.when else ())
    return reminder


def checked_window(window: Window) -> Window:
    """Its limits agree."""
    if window.max_units is not None and window.trim_to > window.max_units:
        raise ValueError(f"trim_to is {window.trim_to} but max_units is {window.max_units}; lower trim_to")
    return window


def checked_retrieval(retrieval: Retrieval) -> Retrieval:
    """Showable schemas; a text for a custom query; sessions become tokens."""
    check_showable(retrieval.schemas)
    query, text = retrieval.query, retrieval.query_text
    if (query == "custom") != bool(text.strip()):
        raise ValueError(f"query is {query} and query_text is {text!r}; custom, and only that, needs a text")
    if isinstance(retrieval.scope, str):
        return retrieval
    return replace(retrieval, scope=tuple(map(session_token, retrieval.scope)))


def _check_source(name: str) -> str:
    if name not in SOURCES:
        raise PydanticCustomError("literal_error", "it is no source", {"expected": ", ".join(SOURCES)})
    return name


Source = Annotated[str, AfterValidator(_check_source), WithJsonSchema({"enum": list(SOURCES), "type": "string"})]


class SectionFile(BaseModel):
    """One section of the page."""

    model_config = STRICT
    name: str = Field(description="name in the event's `sections`")
    title: str | None = Field(None, description="heading; {NAME} = this phrase; null = the phrase `title_` with the name")
    source: Source = Field(description="what fills it")
    section_class: SectionClass = Field("turn", alias="class", description="how long it stays the same")
    min_share: float = Field(0, ge=0, le=1, description="of window and retrieval: share that no other section may spend")
    max_share: float = Field(1, gt=0, le=1, description="largest share of the budget")
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


ENGLISH = "en"


def time_zone(name: str) -> tzinfo:
    """IANA name → zone. Raises `ValueError` with what to do."""
    if name == "UTC":
        return UTC
    names = available_timezones()
    if name in names:
        return ZoneInfo(name)
    if not names:
        raise ValueError(f"time_zone is {name!r} and this machine has no table of time zones; install the package tzdata")
    near = nearest(name, names)
    hint = f"write {near}" if near else "write a name such as Europe/Berlin"
    raise ValueError(f"time_zone is {name!r:.120}, which no time zone is called; {hint}")


def _check_time_zone(name: str) -> str:
    time_zone(name)
    return name


TimeZoneName = Annotated[str, AfterValidator(_check_time_zone)]


class ProfileFile(BaseModel):
    """A profile as its author writes it, with what it `extends` laid under it."""

    model_config = STRICT | ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "triggers": ["user.message.v1"],
                    "budget": 2000,
                    "pinned": ["tool.catalog.v1"],
                    "retrieval": {"schemas": ["user.message.v1", "agent.response.v1", "note.v1"]},
                    "sections": [
                        {"name": "tools", "title": "Available Tools", "source": "pinned", "class": "static", "max_share": 0.3},
                        {"name": "recent", "title": "Recent Conversation", "source": "window", "max_share": 0.5},
                        {"name": "relevant", "title": "Relevant Earlier Messages", "source": "retrieval", "min_share": 0.2},
                        {"name": "current", "title": "Current User Message", "source": "trigger"},
                    ],
                }
            ]
        },
    )
    extends: tuple[str, ...] = Field((), description="presets and profiles laid under this file, the last over the first")
    agent: str = Field(
        "", max_length=200, description="`creator.agent_id` of the agent's own responses; default is the consumer's name"
    )
    triggers: tuple[str | TriggerFile, ...] = Field(
        (),
        description="what triggers a page by its first version, if `audience` matches; empty = on demand",
    )
    page: str = Field("default", description="page template: default is Markdown, xml has a tag per section")
    model: str | None = Field(None, description="gives budget, encoding and margin")
    encoding: Literal["o200k_base", "cl100k_base"] | None = Field(None, description="tokenizer; default o200k_base")
    budget: int | None = Field(
        None,
        ge=16,
        le=2_000_000,
        description=f"most tokens of the page; default is {DEFAULT_BUDGET}, or the model's window where that is smaller",
    )
    reserve: int = Field(0, ge=0, description="tokens kept free, for the answer or what the agent adds")
    margin: float | None = Field(
        None, ge=0, lt=1, description="share of the budget kept free because the tokenizer differs; default 0"
    )
    on_overflow: Literal["trim", "reject"] = Field(
        "trim", description="trim = the oldest part of the conversation is left out; reject = no page if it does not fit"
    )
    system_prompt: str = Field("", description="text of the section with source system, which comes first by default")
    show_system_prompt: bool = Field(True, description="false if the agent sends its system prompt itself")
    show_tool_catalog: bool = Field(
        True, description="false if the agent passes its tools to the API: tool.catalog.v1 is not pinned"
    )
    language: str = Field(ENGLISH, description="language of headings, labels, dates and notes; a file in `phrases/`")
    time_zone: TimeZoneName = Field("UTC", description="IANA name; the zone of dates without an offset")
    audience: Annotated[Audience, AfterValidator(checked_audience)] | None = Field(
        None, description="which breadcrumbs are this consumer's conversation; no other triggers it; null = all"
    )
    debounce: float = Field(
        0,
        ge=0,
        le=60,
        description="seconds that a user's message waits; if the user writes again meanwhile, only the last message gets a page",
    )
    scope_to_task: bool = Field(False, description="only breadcrumbs of the trigger's task (`task_id`, or the tag task:ID)")
    recursion_limit: int = Field(25, ge=1, le=1000, description="most steps of a chain of triggers and answers")
    pinned: tuple[str | PinnedFile, ...] = Field((), description="always on the page; a schema = its latest breadcrumb")
    reminders: tuple[Annotated[Reminder, AfterValidator(checked_reminder)], ...] = Field(
        (), description="texts added to the page, never stored"
    )
    window: Annotated[Window, AfterValidator(checked_window)] = Field(default_factory=Window)
    retrieval: Annotated[Retrieval, AfterValidator(checked_retrieval)]
    tool_output: ToolOutput = Field(default_factory=ToolOutput)
    summaries: Summaries | None = Field(None, description="running summaries of older units; null = none")
    worth: int | None = Field(
        None,
        ge=1,
        description="most tokens that one more message may cost for which the answer is better; null = the budget is filled",
    )
    fill: bool = Field(True, description="a conversation that does not fit gets all unused tokens; false = smaller pages")
    chat_format: str = Field(NO_FORMAT, description="also give the page as `messages` for a chat API")
    hints: dict[str, str] = Field({}, description="schema → template in `hints/` for this consumer, without `.md.j2`")
    trusted_hints: TrustedHints | None = Field(None, description="whose `llm_hints` of records run; null = nobody's")
    sections: tuple[SectionFile, ...] = Field(
        min_length=1, description="in page order; shares count only while the conversation does not fit"
    )

    @model_validator(mode="after")
    def _has_one_trigger(self) -> "ProfileFile":
        sources = [section.source for section in self.sections if section.source != "reminder"]
        if sources.count("trigger") != 1 or sources[-1] != "trigger":
            raise ValueError(
                "exactly one section has source: trigger (the current message), and nothing but reminders comes after it; "
                "mend sections"
            )
        if len({section.name for section in self.sections}) < len(self.sections):
            raise ValueError("two sections have the same name; rename one")
        check_showable(tuple(item for item in (*self.triggers, *self.pinned) if isinstance(item, str)))
        return self

    @model_validator(mode="after")
    def _sections_exist(self) -> "ProfileFile":
        sources = {section.name: section.source for section in self.sections}
        pinned = (item.section for item in self.pinned if not isinstance(item, str))
        references = [(section, "pinned") for section in pinned if section]
        references += [(item.section, "reminder") for item in self.reminders]
        for name, source in references:
            if sources.get(name) != source:
                raise ValueError(f"there is no section {name!r} with source {source}; add it to sections")
        return self
