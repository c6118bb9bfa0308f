"""The bodies of what people and agents say, of tool calls, of their results and of tool catalogs."""

import json
from itertools import starmap
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema
from typing_extensions import override

from builder.domain.breadcrumb import Breadcrumb, Role
from builder.domain.context import Call
from builder.domain.text import one_line, visible, with_texts
from builder.remember.content import described, structured, text_of
from builder.remember.schemas.base import Body, BodyFacts, LenientUserId, Text


class ToolCall(BaseModel):
    """One call inside an agent's response."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)
    tool: str = Field(description="name of the tool")
    input: Any = Field(None, description="its arguments")
    request_id: str | None = Field(None, alias="requestId", description="joins the call with its result")


class _OneCall(Body):
    role: ClassVar[Role] = "tool"
    default_speaker: ClassVar[str] = "Tool"
    request_id: str | None = Field(None, description="joins the call with its result")
    requestId: str | None = Field(None, description="the same under RCRT's other name")  # noqa: N815 - the wire's name

    @property
    def calls(self) -> tuple[str, ...]:
        """The request id under either name."""
        request_id = self.request_id or self.requestId
        return (request_id,) if request_id else ()


class ToolRequestV1(_OneCall):
    """A tool call."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tool": "calculator", "input": {"expression": "3*4"}, "requestId": "r2"}]}
    )
    tool: str = Field(description="name of the tool")
    input: Any = Field(None, description="its arguments")

    @override
    def facts(self) -> BodyFacts:
        text = f"{self.tool} {text_of(self.input)}".strip()
        signatures = (call_signature(self.tool, self.input),) if self.calls else ()
        return BodyFacts(text=text, tool=self.tool, calls=self.calls, call_signatures=signatures)


class ToolResponseV1(_OneCall):
    """What a tool answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"tool": "calculator", "status": "success", "output": {"result": 12}, "request_id": "r2"},
                {"tool": "calculator", "status": "error", "error": "division by zero", "request_id": "r3"},
            ]
        }
    )
    tool: str = Field(description="name of the tool")
    status: Literal["success", "ok", "completed", "error", "failed"] = Field("success", description="whether the call worked")
    output: Any = Field(None, description="what it returned, any JSON; also what a call printed that failed")
    error: Any = Field(None, description="what went wrong; without status and output it says that the call failed")

    @override
    def facts(self) -> BodyFacts:
        failed = self.status in {"error", "failed"} or bool(self.error and self.output is None)
        text = _words(self.tool, self.error if failed else None, self.output)
        return BodyFacts(text=text, tool=self.tool, calls=self.calls, failed=failed)


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
    error: Any = Field(None, description="the same under its other name")
    output: Any = Field(None, description="what the call printed")
    error_type: str | None = Field(None, description="kind of the error")
    retryable: bool | None = Field(None, description="whether trying again may help")

    @override
    def facts(self) -> BodyFacts:
        text = _words(self.tool_name, self.error_message or self.error, self.output)
        return BodyFacts(text=text, tool=self.tool_name, calls=self.calls, failed=True)


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

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(text="\n".join(f"{tool.name}: {tool.description or ''}" for tool in self.tools))


def call_signature(tool: str, arguments: Any) -> str:
    """Tool and arguments as one JSON text."""
    return one_line({"tool": tool, "input": arguments})


def calls_of(breadcrumb: Breadcrumb) -> tuple[Call, ...]:
    """Each request id once, as it was called last."""
    return tuple(starmap(_call, dict(zip(breadcrumb.calls, breadcrumb.call_signatures, strict=False)).items()))


def call_of(breadcrumb: Breadcrumb, request: str) -> Call:
    """One of them; a message may make thousands."""
    return _call(request, signature_of(breadcrumb, request))


def signature_of(breadcrumb: Breadcrumb, request: str) -> str:
    """Tool and arguments of the call as one text."""
    last = len(breadcrumb.call_signatures)
    return breadcrumb.call_signatures[last - 1 - breadcrumb.calls[:last][::-1].index(request)]


def _words(tool: str, error: Any, output: Any) -> str:
    return f"{tool} {text_of([error, structured(output)])}".strip()


def _call(request: str, signature: str) -> Call:
    call = json.loads(signature)
    return Call(id=request, tool=visible(call["tool"]), arguments=_arguments(call["input"]))


def _arguments(value: Any) -> str:
    if value is None:
        return "{}"
    plain = with_texts(described(value), visible, visible)
    return one_line(plain if isinstance(plain, dict) else {"input": plain})


TEXTS = ("content", "message", "text")
"""Names of the text, the first one that is there counts."""


class _Spoken(Body):
    instead_of_text: ClassVar[tuple[str, ...]] = ()
    """Lists, of which one with an entry does without a text."""
    content: Text | None = Field(None, description="what was said")
    message: Text | None = Field(None, description="the same under its other name")
    text: Text | None = Field(None, description="the same under its third name")

    @model_validator(mode="after")
    def _has_text(self) -> "_Spoken":
        if all(getattr(self, name) is None for name in TEXTS) and not any(getattr(self, name) for name in self.instead_of_text):
            raise ValueError("no text: send it as `content` (or `message`)")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        text = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in TEXTS]
        lists = [{"required": [name], "properties": {name: {"minItems": 1}}} for name in cls.instead_of_text]
        return handler.resolve_ref_schema(handler(core_schema)) | {"anyOf": text + lists}

    @property
    def words(self) -> str:
        """The text; "" for calls alone."""
        return next((text for name in TEXTS if (text := getattr(self, name)) is not None), "")


class UserMessageV1(_Spoken):
    """Something a person said."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "Where do I set the API key?", "session_id": "s42", "speaker": "Maya"}]}
    )
    role: ClassVar[Role] = "user"
    default_speaker: ClassVar[str] = "User"
    user_id: LenientUserId = Field(
        None,
        description="who the person is, for senders that cannot set the record's `user_id`, which wins; never the display name",
    )

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(text=self.words, user_id=self.user_id or "")


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


class AgentResponseV1(_Spoken):
    """Something an agent said, with the tool calls it makes; calls need no text."""

    instead_of_text: ClassVar[tuple[str, ...]] = ("tool_requests",)

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
    step: Annotated[int | None, BeforeValidator(_number)] = Field(
        None, description="number of this response among those of the agent to its trigger, 1 and up"
    )
    questions: Any = Field(None, description="ids of the messages of people that it answers, as the context names them")

    @override
    def facts(self) -> BodyFacts:
        calls = [(call.request_id, call_signature(call.tool, call.input)) for call in self.tool_requests if call.request_id]
        return BodyFacts(
            text=self.words,
            calls=tuple(request_id for request_id, _ in calls),
            call_signatures=tuple(signature for _, signature in calls),
        )
