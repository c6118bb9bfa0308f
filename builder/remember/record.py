"""RCRT's record around a body."""

from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from builder.domain.errors import Rejected
from builder.remember.schemas.base import UserId
from builder.wire.times import read_time

MAX_VERSION = 2**31 - 1
MAX_SPEAKER_CHARS = 200


def _time(value: Any) -> datetime | None:
    try:
        sent = read_time(value)
    except Rejected as error:
        raise ValueError(str(error)) from error
    return sent.time if sent else None


SentMoment = Annotated[AwareDatetime | None, BeforeValidator(_time)]
"""A time of a sender, in each form that is read; with the sender's offset."""


def _seconds_or_moment(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """A text of digits could be either."""
    digits = isinstance(value, str) and value.strip().lstrip("+-").replace(".", "", 1).isdigit()
    is_negative = isinstance(value, int | float) and value < 0
    try:
        if not (digits or is_negative or isinstance(value, bool)):
            return read(_time(value) if isinstance(value, str | datetime) else value)
    except ValueError:
        pass  # the words of either kind would be under names that no sender knows
    raise ValueError("send a moment with its time zone, like 2026-11-21T10:00:00Z, or seconds as a number")


Seconds = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Ending = Annotated[Seconds | AwareDatetime, WrapValidator(_seconds_or_moment)]
"""Seconds after `created_at`, or a moment."""


Value = TypeVar("Value")


def _or_none(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError:
        return None


AgentName = Annotated[str, Field(min_length=1, max_length=MAX_SPEAKER_CHARS)]
Tolerant = Annotated[Value | None, WrapValidator(_or_none)]
"""A value of another type counts as missing."""


TASK_TAG = "task:"
"""Beginning of the tag that names a breadcrumb's task."""
STATES = frozenset(
    {"approved", "validated", "bootstrap", "deprecated", "draft", "archived", "ephemeral", "error", "warning", "info"}
)
"""Bare tags that name the state of a breadcrumb."""


class Record(BaseModel):
    """RCRT's record, as far as this service reads it."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "m110",
                    "schema_name": "user.message.v1",
                    "version": 1,
                    "tags": ["user:message"],
                    "context": {"content": "Where do I set the API key?", "speaker": "Maya"},
                    "session": "s42",
                    "created_at": "2026-11-21T10:00:00Z",
                }
            ]
        },
    )

    id: str = Field(min_length=1, max_length=256, pattern=r"^[^\s\x00-\x1f\x7f]+$", description="id of the breadcrumb")
    schema_name: str | None = Field(None, description="schema; the subject decides, a contradiction is rejected")
    version: int = Field(1, ge=1, le=MAX_VERSION, strict=True, description="+1 with every update; only version 1 triggers")
    title: str | None = Field(None, description="title shown by tools")
    tags: tuple[str, ...] = Field((), max_length=1000, description="routing, pointer and state tags")
    entity_keywords: tuple[str, ...] | None = Field(None, max_length=1000, description="words that search matches, never shown")
    context: dict[str, Any] = Field(description="the body; its schema is the file schemas/<schema_name>.json")
    workspace: str | None = Field(None, description="workspace; the subject decides, a contradiction is rejected")
    session: str | None = Field(None, description="session; the subject decides, a contradiction is rejected")
    created_at: SentMoment = Field(
        None,
        description="the sender's clock; default is the stream's. Its offset is kept: +02:00 says the local time, Z says none",
    )
    user_id: UserId | None = Field(
        None, description="who the person is; never the display name. Wins over context.user_id of a user.message.v1"
    )
    memory: Annotated[bool, BeforeValidator(lambda value: value is not False)] = Field(
        True,
        description="false keeps it out of the memory of its person, as the tag `private` does: no other session shows it; "
        "on the first breadcrumb of a session, the whole session",
    )
    ttl: Ending | None = Field(None, description="when it ends: a moment, or seconds after created_at")
    expires_at: Ending | None = Field(None, description="the same under its other name; the earlier one counts")
    llm_hints: Tolerant[dict[str, Any]] = Field(
        None, description="how it is shown where a profile trusts its sender; `context.llm_hints` says the same"
    )
    created_by: Tolerant[str] = Field(
        None, description="id of who wrote it, else `context.creator.agent_id`: a claim, which a profile may ask for"
    )
    to: Annotated[tuple[AgentName, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)] = Field(
        (),
        max_length=100,
        description="the agents that it is addressed to, a name or a list: no other agent's consumer is "
        "triggered by it; none = everybody",
    )
    sensitivity: str | None = Field(
        None, description='"secret": nothing of it is stored, embedded, shown or handed out, as with schema secret.v1'
    )

    @property
    def pointers(self) -> tuple[str, ...]:
        """Words that search matches and no page shows: keywords, and tags that are words."""
        words = [tag for tag in self.tags if ":" not in tag and tag.lower() not in STATES]
        words += self.entity_keywords or ()
        return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))

    @property
    def task(self) -> str:
        """Its first task by tag; "" = none."""
        return next((tag.removeprefix(TASK_TAG) for tag in self.tags if tag.startswith(TASK_TAG)), "")

    @field_validator("created_at", "ttl", "expires_at")
    @classmethod
    def _in_utc(cls, moment: float | datetime | None) -> float | datetime | None:
        try:
            return moment.astimezone(UTC) if isinstance(moment, datetime) else moment
        except OverflowError as error:
            raise ValueError("in UTC it lies outside the years 1 to 9999; send the time of the event") from error
