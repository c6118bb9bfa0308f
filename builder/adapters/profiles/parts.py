"""Parts of a profile file that only files have, and checks of the others."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from builder.assemble.items.rendering import SOURCES
from builder.domain.page_settings import FORBIDDEN_SCHEMAS, Dates, Reminder, Retrieval, SectionClass, Window
from builder.domain.selector import MAX_PINNED, Audience, Selector
from builder.wire.subjects import session_token

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
