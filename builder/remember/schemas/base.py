"""What every body of a breadcrumb can answer."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from builder.domain.breadcrumb import Role


class Body(BaseModel):
    """What every body can answer: who speaks by role, what was said, which tool calls it takes part in."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)
    role: ClassVar[Role] = "other"
    default_speaker: ClassVar[str] = "System"

    session_id: str | None = Field(None, description="session; the subject decides, a contradiction is rejected")
    speaker: str | None = Field(None, max_length=200, description="name shown in front of the message")
    creator: dict[str, Any] | None = Field(None, description="{type, agent_id, name} of who wrote it")
    task_id: str | None = Field(None, max_length=200, description="the task that it belongs to; its tag `task:ID` says the same")
    trigger_event_id: str | None = Field(None, description="id of the breadcrumb that it answers, or that made somebody send it")

    def said(self) -> str:
        """The text that search sees."""
        return ""

    def speaks_as(self) -> str:
        """The name that the body itself gives its speaker, or nothing."""
        return self.speaker or ""

    def person(self) -> str:
        """The id of the person who says it, or nothing."""
        return ""

    def tags(self, sent: tuple[str, ...]) -> tuple[str, ...]:
        """Those by which it is found. sent: the record's."""
        return sent

    def calls(self) -> tuple[str, ...]:
        """Request ids of the tool calls it makes or answers."""
        return ()

    def removes(self) -> str:
        """Id of the breadcrumb that it deletes, or nothing."""
        return ""

    def answers(self) -> str:
        """Id of the breadcrumb that triggered it, or nothing."""
        return self.trigger_event_id or ""

    def call_signatures(self) -> tuple[str, ...]:
        """For each of `calls` that it makes: tool and arguments as one canonical text."""
        return ()

    def covers(self) -> tuple[str, ...]:
        """For a summary: the ids that it stands for."""
        return ()

    def of_tool(self) -> str:
        """Name of the tool that is called or answered."""
        return ""

    def has_failed(self) -> bool:
        """Whether it tells of a call that failed."""
        return False
