"""The known schemas: one model each, the source of `schemas/<name>.json`.

A tolerant reader: unknown fields are kept in the stored body and ignored here. Field names and variants are RCRT's.
"""

from typing import Any

from builder.remember.attachments import attachment_lines
from builder.remember.content import text_of
from builder.remember.schemas.agents import AgentDefV1, ContextConfigV1
from builder.remember.schemas.base import Body
from builder.remember.schemas.conversation import AgentResponseV1, UserMessageV1
from builder.remember.schemas.notes import BrowserPageContextV1, BrowserTabContextV1, NoteV1
from builder.remember.schemas.removals import BreadcrumbDeletedV1, ContextBlacklistV1
from builder.remember.schemas.summaries import SummaryV1
from builder.remember.schemas.tools import ToolCatalogV1, ToolErrorV1, ToolRequestV1, ToolResponseV1

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
    "context.config.v1": ContextConfigV1,
    "context.blacklist.v1": ContextBlacklistV1,
    "summary.v1": SummaryV1,
}


def text_within(schema: str, part: dict[str, Any]) -> str:
    """The text of a part of a body as its schema reads it; all its words where it is none."""
    try:
        return "\n".join(filter(None, (BODIES[schema].model_validate(part).facts().text, *attachment_lines(part))))
    except (KeyError, ValueError):
        return text_of(part)
