"""What every body of a breadcrumb says."""

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from builder.domain.breadcrumb import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyFacts:
    """What a body alone says of its breadcrumb; the fields are those of `Breadcrumb`."""

    text: str = ""
    speaker: str | None = None
    """The name of its speaker; None = its field `speaker`, or the record's creator."""
    user_id: str = ""
    calls: tuple[str, ...] = ()
    call_signatures: tuple[str, ...] = ()
    tool: str = ""
    failed: bool = False
    removes: str = ""
    covers: tuple[str, ...] = ()


class Body(BaseModel):
    """What every body can answer: who speaks by role, what was said, which tool calls it takes part in."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, defer_build=True)
    role: ClassVar[Role] = "other"
    default_speaker: ClassVar[str] = "System"

    session_id: str | None = Field(None, description="session; the subject decides, a contradiction is rejected")
    speaker: str | None = Field(None, max_length=200, description="name shown in front of the message")
    creator: dict[str, Any] | None = Field(None, description="{type, agent_id, name} of who wrote it")
    task_id: str | None = Field(None, max_length=200, description="the task that it belongs to; its tag `task:ID` says the same")
    trigger_event_id: str | None = Field(None, description="id of the breadcrumb that it answers, or that made somebody send it")

    def facts(self) -> BodyFacts:
        """What it says of its breadcrumb."""
        return BodyFacts()
