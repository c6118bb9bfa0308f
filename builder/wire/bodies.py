"""The bodies of known schemas: one model each, the source of `schemas/<name>.json`.

A tolerant reader: unknown fields are kept in the stored body and ignored here. Field names and variants are RCRT's
(`reference/rcrt-contracts.md` §4).
"""

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from builder.domain.breadcrumb import Role
from builder.wire.text import Text, spoken

RequestId = str


class Body(BaseModel):
    """What every body can answer: who speaks by role, what was said, which tool calls it takes part in."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)
    role: ClassVar[Role] = "other"
    default_speaker: ClassVar[str] = "System"

    session_id: str | None = Field(None, description="session; the subject decides, a contradiction is rejected")
    speaker: str | None = Field(None, max_length=200, description="name shown in front of the message")
    creator: dict[str, Any] | None = Field(None, description="{type, agent_id, name} of who wrote it")

    def said(self) -> str:
        """The text that search sees."""
        return ""

    def calls(self) -> tuple[str, ...]:
        """Request ids of the tool calls it makes or answers."""
        return ()

    def removes(self) -> str:
        """Id of the breadcrumb that it deletes, or nothing."""
        return ""

    def answers(self) -> str:
        """Id of the breadcrumb that triggered it, or nothing."""
        return ""


class _Spoken(Body):
    content: Text | None = Field(None, description="what was said")
    message: Text | None = Field(None, description="the same under its other name")
    text: Text | None = Field(None, description="the same under its third name")

    @model_validator(mode="after")
    def _has_text(self) -> "_Spoken":
        if self.content is None and self.message is None and self.text is None:
            raise ValueError("no text: send it as `content` (or `message`)")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A JSON Schema cannot see the validator above, so it is said once more."""
        text = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in ("content", "message", "text")]
        return handler.resolve_ref_schema(handler(core_schema)) | {"anyOf": text}

    def said(self) -> str:
        return next(text for text in (self.content, self.message, self.text) if text is not None)


class UserMessageV1(_Spoken):
    """Something a person said."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "Where do I set the API key?", "session_id": "s42", "speaker": "Maya"}]}
    )
    role: ClassVar[Role] = "user"
    default_speaker: ClassVar[str] = "User"


class ToolCall(BaseModel):
    """One call inside an agent's response."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)
    tool: str = Field(description="name of the tool")
    input: Any = Field(None, description="its arguments")
    request_id: str | None = Field(None, alias="requestId", description="joins the call with its result")


class AgentResponseV1(_Spoken):
    """Something an agent said, with the tool calls it makes."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "message": "Let me look that up.",
                    "tool_requests": [{"tool": "web-search", "input": {"query": "kiln cone 6"}, "requestId": "r1"}],
                }
            ]
        }
    )
    role: ClassVar[Role] = "assistant"
    default_speaker: ClassVar[str] = "Assistant"
    tool_requests: tuple[ToolCall, ...] = Field((), description="tool calls made by this response")
    trigger_event_id: str | None = Field(None, description="id of the breadcrumb it answers")

    def calls(self) -> tuple[str, ...]:
        return tuple(call.request_id for call in self.tool_requests if call.request_id)

    def answers(self) -> str:
        return self.trigger_event_id or ""


class _OneCall(Body):
    role: ClassVar[Role] = "tool"
    default_speaker: ClassVar[str] = "Tool"
    request_id: str | None = Field(None, description="joins the call with its result")
    requestId: str | None = Field(None, description="the same under RCRT's other name")  # noqa: N815 - the wire's name

    def calls(self) -> tuple[str, ...]:
        call = self.request_id or self.requestId
        return (call,) if call else ()


class ToolRequestV1(_OneCall):
    """A tool call."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tool": "calculator", "input": {"expression": "3*4"}, "requestId": "r2"}]}
    )
    tool: str = Field(description="name of the tool")
    input: Any = Field(None, description="its arguments")

    def said(self) -> str:
        return f"{self.tool} {spoken(self.input)}".strip()


class ToolResponseV1(_OneCall):
    """What a tool answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"tool": "calculator", "status": "success", "output": {"result": 12}, "request_id": "r2"}]
        }
    )
    tool: str = Field(description="name of the tool")
    status: Literal["success", "error"] = Field("success", description="whether the call worked")
    output: Any = Field(None, description="what it returned, any JSON")
    error: Any = Field(None, description="what went wrong")

    def said(self) -> str:
        return f"{self.tool} {spoken(self.error if self.status == 'error' else self.output)}".strip()


class ToolErrorV1(_OneCall):
    """A tool call that failed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "tool_name": "web-search",
                    "error_type": "timeout",
                    "error_message": "no answer in 30 s",
                    "request_id": "r3",
                    "retryable": True,
                }
            ]
        }
    )
    tool_name: str = Field(description="name of the tool")
    error_message: Text = Field("", description="what went wrong")
    error_type: str | None = Field(None, description="kind of the error")
    retryable: bool | None = Field(None, description="whether trying again may help")

    def said(self) -> str:
        return f"{self.tool_name} {self.error_message}".strip()


class ToolSpec(BaseModel):
    """One tool of a catalog."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    name: str = Field(description="name that calls use")
    category: str | None = None
    description: str | None = None


class ToolCatalogV1(Body):
    """The tools an agent may use; the latest one stands."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "tools": [
                        {"name": "calculator", "category": "general", "description": "Arithmetic with functions"},
                        {"name": "web-search", "category": "web", "description": "Search the web"},
                    ]
                }
            ]
        }
    )
    role: ClassVar[Role] = "standing"
    tools: tuple[ToolSpec, ...] = Field(description="the tools")

    def said(self) -> str:
        return "\n".join(f"{tool.name}: {tool.description or ''}" for tool in self.tools)


class NoteV1(Body):
    """A note that an agent or a person keeps."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "Glaze batch 7 needs two coats.", "url": "https://example.org/notes/7"}]}
    )
    default_speaker: ClassVar[str] = "Note"
    content: Text = Field(description="the note")
    title: str | None = None
    url: str | None = None

    def said(self) -> str:
        return self.content


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

    def said(self) -> str:
        main = (self.content or {}).get("mainText")
        return "\n".join(filter(None, (self.title, main if isinstance(main, str) else "")))


class BrowserTabContextV1(BrowserPageContextV1):
    """The active tab, as RCRT's extension sends it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"title": "Orders", "url": "https://example.org/orders", "tab_id": 7, "content": {"mainText": "3 open orders"}}
            ]
        }
    )


class BreadcrumbDeletedV1(Body):
    """A tombstone: from its place on, the named breadcrumb is gone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"breadcrumb_id": "m17"}]})
    breadcrumb_id: str = Field(min_length=1, description="id of the breadcrumb to remove")

    def removes(self) -> str:
        return self.breadcrumb_id


BODIES: dict[str, type[Body]] = {
    "user.message.v1": UserMessageV1,
    "agent.response.v1": AgentResponseV1,
    "tool.request.v1": ToolRequestV1,
    "tool.response.v1": ToolResponseV1,
    "tool.error.v1": ToolErrorV1,
    "tool.catalog.v1": ToolCatalogV1,
    "note.v1": NoteV1,
    "browser.page.context.v1": BrowserPageContextV1,
    "browser.tab.context.v1": BrowserTabContextV1,
    "breadcrumb.deleted.v1": BreadcrumbDeletedV1,
}
