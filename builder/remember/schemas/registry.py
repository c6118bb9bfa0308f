"""The known schemas, the source of `schemas/<name>.json`, and bodies to try a hint on. Unknown fields are ignored here."""

from typing import Any

from pydantic import ValidationError

from builder.domain.breadcrumb import AGENT_RESPONSE, SUMMARY, TOMBSTONE, TOOL_ERROR, TOOL_REQUEST, TOOL_RESPONSE, USER_MESSAGE
from builder.remember.content import attachment_lines, text_of
from builder.remember.schemas.base import Body, BrowserPageContextV1, BrowserTabContextV1, NoteV1
from builder.remember.schemas.control import AgentDefV1, BreadcrumbDeletedV1, ContextBlacklistV1, ContextConfigV1, SummaryV1
from builder.remember.schemas.conversation import (
    AgentResponseV1,
    ToolCatalogV1,
    ToolErrorV1,
    ToolRequestV1,
    ToolResponseV1,
    UserMessageV1,
)

BODIES: dict[str, type[Body]] = {
    USER_MESSAGE: UserMessageV1,
    AGENT_RESPONSE: AgentResponseV1,
    TOOL_REQUEST: ToolRequestV1,
    TOOL_RESPONSE: ToolResponseV1,
    TOOL_ERROR: ToolErrorV1,
    "tool.catalog.v1": ToolCatalogV1,
    "note.v1": NoteV1,
    "browser.page.context.v1": BrowserPageContextV1,
    "browser.tab.context.v1": BrowserTabContextV1,
    TOMBSTONE: BreadcrumbDeletedV1,
    "agent.def.v1": AgentDefV1,
    "context.config.v1": ContextConfigV1,
    "context.blacklist.v1": ContextBlacklistV1,
    SUMMARY: SummaryV1,
}
WORDS = "The kiln fires at cone 6, and glaze batch 7 needs two coats. "
REPEATS = 60
"""Times that a text or a list of an example is repeated in a long one."""
UNKNOWN_BODY: dict[str, Any] = {
    "title": "Glaze batch 7",
    "content": WORDS,
    "count": 2,
    "done": False,
    "items": [{"name": "first", "size": 1}, {"name": "second", "size": 2}],
    "more": {"owner": "Maya"},
}
"""The body of an unknown schema."""


def text_within(schema: str, part: dict[str, Any]) -> str:
    """The text of a part of a body as its schema reads it, else all its words."""
    try:
        return "\n".join(filter(None, (BODIES[schema].model_validate(part).facts().text, *attachment_lines(part))))
    except (KeyError, ValueError):
        return text_of(part)


def full(schema: str) -> tuple[dict[str, Any], ...]:
    """The examples of the schema."""
    model = BODIES.get(schema)
    if model is None:
        return (UNKNOWN_BODY,)
    extra: Any = model.model_config.get("json_schema_extra")
    return tuple(extra["examples"])


def varied(schema: str) -> tuple[dict[str, Any], ...]:
    """Of each example its required fields only, and one with long texts and lists."""
    bodies = full(schema)
    if schema not in BODIES:
        return ({}, *map(_stretched, bodies))
    return (*(_least(schema, body) for body in bodies), *(_longest(schema, body) for body in bodies))


def takes(schema: str, body: dict[str, Any]) -> bool:
    """Whether the schema accepts the body; an unknown schema accepts any."""
    try:
        return schema not in BODIES or bool(BODIES[schema].model_validate(body))
    except ValidationError:
        return False


def _least(schema: str, body: dict[str, Any]) -> dict[str, Any]:
    for key in tuple(body):
        less = {name: value for name, value in body.items() if name != key}
        body = less if takes(schema, less) else body
    return body


def _longest(schema: str, body: dict[str, Any]) -> dict[str, Any]:
    for key, value in body.items():
        more = body | {key: _stretched(value)}
        body = more if takes(schema, more) else body
    return body


def _stretched(value: Any) -> Any:
    if isinstance(value, str):
        return f"{value} {WORDS * REPEATS}"
    if isinstance(value, list):
        return value * REPEATS
    return {key: _stretched(item) for key, item in value.items()} if isinstance(value, dict) else value
