"""A ready tool: the model reads what its page left out or cut, by the id that the page names.

tools={"fetch_omitted": client.fetch_omitted}, and fetch_omitted_tool("openai") among the tools of the model's call
"""

from typing import Any, Literal

from builder.client.received import BreadcrumbRecord, ReceivedContext
from builder.domain.errors import Rejected
from builder.domain.selector import ANSWER
from builder.remember.content import described, without_wrapper
from builder.wire.json import one_line

NAME = "fetch_omitted"
DESCRIPTION = (
    "Read what the conversation leaves out or cuts, by the id that the cut names, one piece a call. "
    "Call it again with next_offset for the next piece."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "the id that the cut names, as it is written there"},
        "offset": {"type": "integer", "minimum": 0, "description": "character at which the piece begins; 0 = the beginning"},
    },
    "required": ["id"],
    "additionalProperties": False,
}
"""JSON Schema of what the model gives."""


def fetch_omitted_tool(chat_format: Literal["openai", "anthropic"]) -> Any:
    """The tool as the provider's API takes it in `tools`."""
    if chat_format == "anthropic":
        return {"name": NAME, "description": DESCRIPTION, "input_schema": PARAMETERS}
    return {"type": "function", "function": {"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}}


def check_named(identity: str, context: ReceivedContext) -> None:
    """Raises `Rejected` for what the context does not name: it names nothing that its consumer may not see."""
    omissions = context.event.get("omissions") or {}
    names = [each for section in context.event.get("sections") or () for each in section["ids"]]
    names += [each["id"] for name in ("partial", "most_relevant") for each in omissions.get(name) or ()]
    if identity not in names:
        raise Rejected(f"this context names no {identity!r}; give an id that it names, as it is written there")


def piece(record: BreadcrumbRecord, offset: int, context: ReceivedContext) -> str:
    """Which characters these are, with the offset of the next piece, and below it the text from `offset` on.

    It has as many UTF-8 bytes as the page has tokens, about a quarter of its room. Raises `Rejected` for an offset that the text
    does not have.
    """
    text = _text(record)
    last = max(len(text) - 1, 0)
    if not isinstance(offset, int) or offset not in range(last + 1):
        raise Rejected(f"offset is {offset!r}, and the text has {len(text)} characters; give one from 0 to {last}")
    size = context.event["token_budget"]
    words = text[offset : offset + size].encode()[:size].decode(errors="ignore")
    end = offset + len(words)
    following = f"next_offset {end}" if end < len(text) else "the end"
    return f"[characters {offset} to {end} of {len(text)}, {following}]\n{words}"


def _text(record: BreadcrumbRecord) -> str:
    """A tool's output as messages show it, a text as it is and any other value as JSON; of anything else its words."""
    output = described(without_wrapper(record.body.get("output"))) if record.schema == ANSWER else None
    if output is None:
        return record.text
    return output if isinstance(output, str) else one_line(output)
