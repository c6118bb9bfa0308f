"""What every body of a breadcrumb says, and the bodies of notes and of pages of a browser."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from typing_extensions import override

from builder.domain.breadcrumb import Role
from builder.wire.attachments import without_data_urls
from builder.wire.words import content_words

MAX_USER_ID_CHARS = 256
_CHARACTERS = r"[^\x00-\x1f\x7f-\x9f]+"

UserId = Annotated[str, Field(min_length=1, max_length=MAX_USER_ID_CHARS, pattern=f"^{_CHARACTERS}$")]


def usable_user_id(value: Any) -> str | None:
    """The value where it can be a `UserId`."""
    is_id = isinstance(value, str) and len(value) <= MAX_USER_ID_CHARS and re.fullmatch(_CHARACTERS, value)
    return value if is_id else None


LenientUserId = Annotated[str | None, BeforeValidator(usable_user_id)]


def _words(value: Any, *, is_answer: bool) -> Any:
    return content_words(value, is_answer=is_answer) if isinstance(value, list | dict) else value


_Content = str | list[str | dict[str, Any]] | dict[str, Any]
Text = Annotated[str, BeforeValidator(partial(_words, is_answer=False), json_schema_input_type=_Content)]
"""A string, or the content parts of any vendor, whose words are joined to one."""
AnswerText = Annotated[str, BeforeValidator(partial(_words, is_answer=True), json_schema_input_type=_Content)]
"""The same of what a model wrote."""


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


class BodyPart(BaseModel):
    """Something inside a body."""

    model_config = ConfigDict(frozen=True)


class Body(BaseModel):
    """What every body can answer: who speaks by role, what was said, which tool calls it takes part in."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, defer_build=True)
    role: ClassVar[Role] = "other"
    default_speaker: ClassVar[str] = "System"

    session_id: str | None = Field(None, description="session; the subject decides, a contradiction is rejected")
    speaker: str | None = Field(None, max_length=200, description="name shown in front of the message")
    creator: dict[str, Any] | None = Field(None, description="{type, agent_id, name} of who wrote it")
    task_id: str | None = Field(None, max_length=200, description="the task that it belongs to; its tag `task:ID` says the same")
    trigger_event_id: str | None = Field(None, description="id of the breadcrumb that it answers, or that made somebody send it")

    @property
    def speaker_role(self) -> Role:
        """The role of its schema; a response whose creator has the type `system` is a system message of the conversation."""
        return "system" if self.role == "assistant" and (self.creator or {}).get("type") == "system" else self.role

    def facts(self) -> BodyFacts:
        """What it says of its breadcrumb."""
        return BodyFacts()


class NoteV1(Body):
    """A note that an agent or a person keeps."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "Glaze batch 7 needs two coats.", "url": "https://example.org/notes/7"}]}
    )
    default_speaker: ClassVar[str] = "Note"
    content: Text = Field(description="the note")
    title: str | None = None
    url: str | None = None

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(text=self.content)


class BrowserPageContextV1(Body):
    """The page that the user looks at."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"title": "Orders", "url": "https://example.org/orders", "dom": {"interactiveCount": 12}}]
        }
    )
    default_speaker: ClassVar[str] = "Browser"
    title: str = Field("", description="title of the page")
    url: str = Field(description="address of the page")
    content: dict[str, Any] | None = Field(None, description="{mainText, headings, links}")
    dom: dict[str, Any] | None = Field(None, description="{interactiveCount, …}")

    @override
    def facts(self) -> BodyFacts:
        main = (self.content or {}).get("mainText")
        words = without_data_urls(main) if isinstance(main, str) else ""
        return BodyFacts(text="\n".join(filter(None, (self.title, words))))


class BrowserTabContextV1(BrowserPageContextV1):
    """The active tab, as RCRT's extension sends it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"title": "Orders", "url": "https://example.org/orders", "tab_id": 7, "content": {"mainText": "3 open orders"}}
            ]
        }
    )
