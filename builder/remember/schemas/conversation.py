"""The bodies of what people and agents say. What pages show of a new field is its hint's: `templates/hints/`."""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema
from typing_extensions import override

from builder.domain.breadcrumb import Role
from builder.remember.content import Text
from builder.remember.schemas.base import Body, BodyFacts
from builder.remember.schemas.tools import ToolCall, call_signature
from builder.remember.user_ids import LenientUserId

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
        """A JSON Schema cannot see the validator above, so it is repeated here."""
        text = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in TEXTS]
        lists = [{"required": [name], "properties": {name: {"minItems": 1}}} for name in cls.instead_of_text]
        return handler.resolve_ref_schema(handler(core_schema)) | {"anyOf": text + lists}

    @property
    def words(self) -> str:
        """The text under whichever name it was sent; "" for calls alone."""
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
    """Other senders may mean something else by this name, so anything but a number from 1 on is ignored."""
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
