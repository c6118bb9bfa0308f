"""A ready tool that reads what a page left out.

tools={"fetch_omitted": client.fetch_omitted}, and fetch_omitted_tool("openai") among the tools of the model's call
"""

from typing import Any, Literal

from builder.client.received import ReceivedContext
from builder.domain.breadcrumb import TOOL_RESPONSE
from builder.domain.control_text import visible
from builder.domain.errors import Rejected
from builder.domain.json_text import one_line
from builder.domain.json_values import JsonObject
from builder.remember.content import without_wrapper
from builder.wire.breadcrumb_records import BreadcrumbRecord
from builder.wire.words import described

NAME = "fetch_omitted"
DESCRIPTION = (
    "Read what the conversation leaves out or cuts, by the id that the cut names, one piece a call. "
    "Call it again with next_offset for the next piece."
)
PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "the id that the cut names, as it is written there"},
        "offset": {"type": "integer", "minimum": 0, "description": "character at which the piece begins; 0 = the beginning"},
    },
    "required": ["id"],
    "additionalProperties": False,
}


def fetch_omitted_tool(chat_format: Literal["openai", "anthropic", "responses"]) -> Any:
    """As the provider's API takes it in `tools`."""
    if chat_format == "anthropic":
        return {"name": NAME, "description": DESCRIPTION, "input_schema": PARAMETERS}
    function = {"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}
    if chat_format == "responses":
        return {"type": "function", **function, "strict": False}
    return {"type": "function", "function": function}


def check_named(identity: str, context: ReceivedContext) -> None:
    """Raises `Rejected` for an id that the context does not name."""
    omissions = context.event.get("omissions") or {}
    names = [each for section in context.event.get("sections") or () for each in section["ids"]]
    names += [each["id"] for name in ("partial", "most_relevant") for each in omissions.get(name) or ()]
    if identity not in names:
        raise Rejected(f"this context names no {identity!r}; give an id that it names, as it is written there")


def piece(record: BreadcrumbRecord, offset: int, context: ReceivedContext) -> str:
    """A line with range and next offset, then text from `offset`, about a quarter of the page's room. Raises `Rejected`."""
    text = visible(_shown_text(record))
    last = max(len(text) - 1, 0)
    if not isinstance(offset, int) or offset not in range(last + 1):
        raise Rejected(f"offset is {offset!r}, and the text has {len(text)} characters; give one from 0 to {last}")
    size = context.event["token_budget"]
    words = text[offset : offset + size].encode()[:size].decode(errors="ignore")
    end = offset + len(words)
    following = f"next_offset {end}" if end < len(text) else "the end"
    return f"[characters {offset} to {end} of {len(text)}, {following}]\n{words}"


def _shown_text(record: BreadcrumbRecord) -> str:
    output = record.body.get("output") if record.schema == TOOL_RESPONSE else None
    return record.text if output is None else output_text(output)


def output_text(output: Any) -> str:
    """The whole output of a tool: a text, else compact JSON; a line for each image and file."""
    words = described(without_wrapper(output))
    return words if isinstance(words, str) else one_line(words)
