"""What the tools of the MCP door answer: a text for the model, and the same as data with ids; and sentences for bad arguments."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from builder.app.omissions import omissions_of
from builder.client import BreadcrumbRecord, Omission, ReceivedContext, SearchResult
from builder.client.omissions import percent
from builder.domain.json_text import shape

_READ = ConfigDict(from_attributes=True)


class Page(BaseModel):
    """A page to answer from."""

    context: str = Field(description="id of the context")
    trigger: str = Field(description="id of the message that the page answers")
    session: str
    tokens: int = Field(description="true tokens of the page")
    budget: int = Field(description="most tokens of it")
    content: str = Field(description="the page, as markdown")
    missing: int = Field(
        description="how many breadcrumbs (messages, calls, results, notes) are not on it; list_omitted names them"
    )
    missing_tokens: int = Field(description="tokens of them")


class Message(BaseModel):
    """A message of a session."""

    model_config = _READ
    id: str
    session: str
    speaker: str
    created_at: datetime
    text: str


class Passage(Message):
    """A passage that answers a question."""

    probability: float = Field(description="that it answers the question")


class Messages(BaseModel):
    """The newest first."""

    messages: list[Message]


class Passages(BaseModel):
    """The most probable first."""

    passages: list[Passage]


class Piece(BaseModel):
    """A piece of a message."""

    id: str
    text: str = Field(description="the first line says the range and the next offset")


class Note(BaseModel):
    """A note that was kept."""

    id: str


class Erasure(BaseModel):
    """What a call of forget did."""

    id: str = Field(description="of the message, the session or the user")
    is_done: bool = Field(description="false = nothing was erased, because confirm is missing")
    receipts: int = Field(description="how many receipts it has; 0 = it was forgotten before")


def answer(text: str, data: BaseModel) -> CallToolResult:
    """Text for the model, and the same as data."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data.model_dump(mode="json"))


def page_answer(context: ReceivedContext) -> CallToolResult:
    """The page alone as text: it says itself how much is missing."""
    omissions = context.event.get("omissions") or {}
    page = Page(
        context=context.id,
        trigger=context.trigger_event_id,
        session=context.session_id,
        tokens=context.token_count,
        budget=context.event["token_budget"],
        content=context.content,
        missing=omissions.get("count", 0),
        missing_tokens=omissions.get("tokens", 0),
    )
    return answer(context.content, page)


def omissions_answer(context: ReceivedContext) -> CallToolResult:
    """A line each, below one on all of them."""
    lines = [context.omission_note or "nothing is missing", *map(_omission_line, context.omitted)]
    return answer("\n".join(lines), omissions_of(context))


def _omission_line(omission: Omission) -> str:
    chance = "" if omission.probability is None else f", {percent(omission.probability)}"
    part = f"{omission.tokens_shown:,} of " if omission.tokens_shown else ""
    return f"[{omission.id}] {part}{omission.tokens:,} tokens{chance}: {omission.reason}"


def passages_answer(results: Sequence[SearchResult]) -> CallToolResult:
    """A line each."""
    lines = (
        f"[{each.id}] {each.created_at:%Y-%m-%d}, {each.session}, {each.speaker} ({each.probability:.0%}): {each.text}"
        for each in results
    )
    data = Passages(passages=[Passage.model_validate(each) for each in results])
    return answer("\n".join(lines) or "nothing answers it", data)


def history_answer(records: Sequence[BreadcrumbRecord]) -> CallToolResult:
    """A line each."""
    lines = (f"[{each.id}] {each.created_at:%Y-%m-%d %H:%M}, {each.speaker}: {each.text}" for each in records)
    data = Messages(messages=[Message.model_validate(each) for each in records])
    return answer("\n".join(lines) or "nothing is remembered of this session", data)


_KINDS = {"string": "a text", "integer": "a whole number", "boolean": "true or false"}
"""JSON type → how a sentence names it."""


def argument_sentence(tool: str, parameters: Mapping[str, Any], error: ValidationError) -> str:
    """What is wrong with the arguments of a call, and what to send. parameters: the tool's JSON Schema."""
    first = error.errors(include_url=False, include_context=False)[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    field = parameters["properties"].get(name, {})
    kind = _KINDS.get(field.get("type", ""), "another value")
    least, most = field.get("minimum"), field.get("maximum")
    span = f" from {least:,} to {most:,}" if least is not None and most is not None else ""
    value = first["input"]
    what = f"{name} is {value if isinstance(value, int | float) else shape(value)}"
    if first["type"] == "missing":
        what = f"{name} is missing"
    return f"{what}; send {kind}{span}, {field.get('description') or f'as {tool} describes it'}"
