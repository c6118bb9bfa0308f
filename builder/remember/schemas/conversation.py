"""The bodies of known schemas: one model each, the source of `schemas/<name>.json`.

A tolerant reader: unknown fields are kept in the stored body and ignored here. Field names and variants are RCRT's
.
"""

from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema

from builder.domain.breadcrumb import Breadcrumb, Role
from builder.domain.selector import Selector
from builder.remember.content import Text
from builder.remember.schemas.base import Body
from builder.remember.schemas.summaries import SummaryV1
from builder.remember.schemas.tools import ToolCall, ToolCatalogV1, ToolErrorV1, ToolRequestV1, ToolResponseV1, question
from builder.remember.schemas.usage import AgentUsageV1
from builder.remember.user_ids import LenientUserId


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
    user_id: LenientUserId = Field(
        None,
        description="who the person is, for senders that cannot set the record's `user_id`, which wins; never the display name",
    )

    def person(self) -> str:
        return self.user_id or ""


def _number(value: Any) -> int | None:
    """Other senders may mean something else by this name: what is no number from 1 on is passed over."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


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
    step: Annotated[int | None, BeforeValidator(_number)] = Field(
        None, description="number of this response among those of the agent to its trigger, 1 and up"
    )

    def calls(self) -> tuple[str, ...]:
        return tuple(call.request_id for call in self.tool_requests if call.request_id)

    def call_signatures(self) -> tuple[str, ...]:
        return tuple(question(call.tool, call.input) for call in self.tool_requests if call.request_id)


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


class AgentDefV1(Body):
    """An agent's definition, as far as pages need it; speaks under its `agent_id`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"agent_id": "support", "system_prompt": "You help people who fire kilns."}]}
    )
    agent_id: str = Field(min_length=1, max_length=200, description="the consumer that it defines")
    system_prompt: Text = Field("", description="shown on its pages in the section with source system")

    def said(self) -> str:
        return self.system_prompt

    def speaks_as(self) -> str:
        return self.agent_id


_Named = Annotated[str, Field(min_length=1)]
ALIKE = 0.6
"""Likeness from which a field's name is taken for a slip of the pen."""


class ExcludedSchema(BaseModel):
    """One line of a blacklist."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    schema_name: _Named = Field(description="schema that is left out")
    reason: str | None = Field(None, description="why, for people")


EXCLUSIONS = ("excluded_schemas", "excluded_tags", "excluded_ids")


class ContextBlacklistV1(Body):
    """What is neither searched nor part of any conversation, from its place on; the latest one holds.

    One that names nothing is rejected: the one before it holds on. To lift a blacklist, delete it (breadcrumb.deleted.v1).
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"excluded_schemas": [{"schema_name": "system.metric.v1", "reason": "noise"}], "excluded_tags": ["draft"]}
            ]
        }
    )
    excluded_schemas: tuple[ExcludedSchema, ...] = Field((), description="schemas that are left out")
    excluded_tags: tuple[_Named, ...] = Field((), description="breadcrumbs with one of these tags are left out")
    excluded_ids: tuple[_Named, ...] = Field((), description="these breadcrumbs are left out")

    @model_validator(mode="before")
    @classmethod
    def _spelt_right(cls, value: Any) -> Any:
        """Other fields are no business of ours, but one that was meant for ours would do nothing without a word."""
        unknown = set(value) - cls.model_fields.keys() if isinstance(value, dict) else set()
        for name in sorted(unknown):
            if meant := get_close_matches(name, EXCLUSIONS, 1, ALIKE) or [own for own in EXCLUSIONS if own.endswith(f"_{name}")]:
                raise ValueError(f"a blacklist has no field {name!r:.60}; write {meant[0]}")
        return value

    @model_validator(mode="after")
    def _names_something(self) -> "ContextBlacklistV1":
        if not self.excluded():
            raise ValueError(
                f"it leaves nothing out, so the blacklist before it holds on; name something in {', '.join(EXCLUSIONS)}, "
                "or lift a blacklist by deleting it (breadcrumb.deleted.v1 with its id)"
            )
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A JSON Schema cannot see the validators above, so the last one is said once more."""
        named = [{"required": [name], "properties": {name: {"minItems": 1}}} for name in EXCLUSIONS]
        return handler.resolve_ref_schema(handler(core_schema)) | {"anyOf": named}

    def excluded(self) -> tuple[Selector, ...]:
        """What is left out, each by itself."""
        found = (
            Selector(schemas=tuple(held.schema_name for held in self.excluded_schemas)),
            Selector(any_tags=self.excluded_tags),
            Selector(ids=self.excluded_ids),
        )
        return tuple(selector for selector in found if selector != Selector())


def excluded(blacklist: Breadcrumb) -> tuple[Selector, ...]:
    """What a stored blacklist leaves out."""
    return _excluded(blacklist.body)


@lru_cache(256)
def _excluded(body: str) -> tuple[Selector, ...]:
    """Read once: every build asks. One that was stored before it would have been rejected leaves nothing out."""
    try:
        return ContextBlacklistV1.model_validate_json(body).excluded()
    except ValidationError:
        return ()


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
    "agent.def.v1": AgentDefV1,
    "context.blacklist.v1": ContextBlacklistV1,
    "summary.v1": SummaryV1,
    "agent.usage.v1": AgentUsageV1,
}
