"""The bodies of what people and agents say, of tool calls, of their results and of tool catalogs."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema
from typing_extensions import override

from builder.domain.breadcrumb import Role
from builder.remember.calls import call_signature
from builder.remember.content import structured
from builder.remember.schemas.base import AnswerText, Body, BodyFacts, BodyPart, LenientUserId, Text
from builder.wire.items import PLAIN, Item, items_of, parts_of
from builder.wire.parts import Call, Part, Result, value_lines
from builder.wire.tool_parts import first_of
from builder.wire.words import brief, text_of, words_of


class ToolCall(BodyPart):
    """One call inside an agent's response."""

    model_config = ConfigDict(populate_by_name=True)
    tool: str = Field(description="name of the tool")
    input: Any = Field(None, description="its arguments")
    request_id: str | None = Field(None, alias="requestId", description="joins the call with its result")


class ServerTool(BodyPart):
    """One call that the model's vendor ran."""

    tool: str = Field(description="name of the tool")
    input: Any = Field(None, description="its arguments")
    output: Any = Field(None, description="what it returned")
    failed: bool = Field(False, description="whether it failed")


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


class ToolSpec(BodyPart):
    """One tool of a catalog."""

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


def _words(tool: str, error: Any, output: Any) -> str:
    return f"{tool} {value_lines(brief([error, structured(output)]))}".strip()


TEXTS = ("content", "message", "text")
"""Names of the text, the first one that is there counts; `builder.wire.items.CONTENTS` has one more."""


class _Spoken(Body):
    instead_of_text: ClassVar[tuple[str, ...]] = ()
    """Lists, of which one with an entry does without a text."""
    content: Text | None = Field(None, description="what was said")
    message: Text | None = Field(None, description="the same under its other name")
    text: Text | None = Field(None, description="the same under its third name")

    @model_validator(mode="before")
    @classmethod
    def _with_words(cls, value: Any) -> Any:
        """All that it says, also what a vendor writes beside the text, as its text."""
        if isinstance(value, dict) and value.keys() <= PLAIN and isinstance(first_of(value, TEXTS), str):
            return value
        try:
            items = items_of(value) if isinstance(value, dict) else ()
        except ValueError:  # its field says what is wrong
            return value
        return cls.with_items(value, items) if items else value

    @classmethod
    def with_items(cls, body: dict[str, Any], items: Sequence[Item]) -> dict[str, Any]:
        """The body with the words of the items as its text."""
        words = words_of(parts_of(items), is_answer=cls.role == "assistant")
        return {**body, **dict.fromkeys(TEXTS), "content": words}

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


def _request(call: Call, number: int) -> dict[str, Any]:
    return {"tool": call.tool, "input": call.arguments, "requestId": call.id or f"call-{number}"}


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
    content: AnswerText | None = Field(None, description="what was said")
    message: AnswerText | None = Field(None, description="the same under its other name")
    text: AnswerText | None = Field(None, description="the same under its third name")
    tool_requests: tuple[ToolCall, ...] = Field((), description="tool calls made by this response")
    reasoning: str = Field("", description="what the model thought; it is said to nobody, and pages mark it as a thought")
    server_tools: tuple[ServerTool, ...] = Field((), description="calls that the model's vendor ran itself, with their results")
    step: Annotated[int | None, BeforeValidator(_number)] = Field(
        None, description="number of this response among those of the agent to its trigger, 1 and up"
    )
    questions: Any = Field(None, description="ids of the messages of people that it answers, as the context names them")

    @classmethod
    @override
    def with_items(cls, body: dict[str, Any], items: Sequence[Item]) -> dict[str, Any]:
        """Its calls are `tool_requests`, but for those whose results are there, too: whoever sent it ran them."""
        done = {part.id for part in parts_of(items) if isinstance(part, Result)} - {""}
        sent = body.get("tool_requests")
        requests, words = list(sent) if isinstance(sent, list | tuple) else [], list[Item]()
        before = len(requests)
        for item in items:
            call = item.parts[0] if len(item.parts) == 1 else None
            if isinstance(call, Call) and not call.is_remote and call.id not in done:
                requests.append(_request(call, len(requests) + 1))
            else:
                words.append(item)
        read = super().with_items(body, words)
        return read | {"tool_requests": requests} if len(requests) > before else read

    @override
    def facts(self) -> BodyFacts:
        pairs = ((call.request_id, call_signature(call.tool, call.input)) for call in self.tool_requests if call.request_id)
        calls = dict.fromkeys(pairs)  # a call that is listed twice is one
        parts: list[Part] = []
        for each in self.server_tools:
            parts += (Call(each.tool, each.input), Result(each.output, tool=each.tool, failed=each.failed))
        return BodyFacts(
            text="\n".join(filter(None, (words_of(parts, is_answer=True), self.words))),
            calls=tuple(request_id for request_id, _ in calls),
            call_signatures=tuple(signature for _, signature in calls),
        )
