"""Content of a stored body: a tool's output without MCP's wrapper, and the parts that no reader knows."""

import json
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.json_values import MAX_DEPTH, depth, parsed
from builder.wire.items import unread_lines
from builder.wire.parts import UNREAD
from builder.wire.words import described

_WRAPPER = {"content", "isError", "structuredContent", "_meta"}


def without_wrapper(output: Any) -> Any:
    """A tool's output without MCP's wrapper, unless that says more than its text; JSON that was written as a JSON text, once."""
    if isinstance(output, str) and output.startswith(('"{', '"[')):
        return _unquoted(output)
    if not isinstance(output, dict) or not isinstance(output.get("content"), list) or not output.keys() <= _WRAPPER:
        return output
    if not output["content"] and output.get("structuredContent") and not output.get("isError"):
        return output["structuredContent"]
    text = described(output["content"])
    same = (None, {"result": text}, parsed(text))
    return text if isinstance(text, str) and not output.get("isError") and output.get("structuredContent") in same else output


def _unquoted(text: str) -> Any:
    """The text that a JSON text holds."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def structured(output: Any) -> Any:
    """A tool's output without MCP's wrapper, as the JSON that its text holds, unless that would not say the same."""
    plain = without_wrapper(output)
    text = described(plain)
    if plain is output and not (isinstance(output, list) and isinstance(text, str)):
        return output
    value = parsed(text, exact=True)
    return value if depth(value) <= MAX_DEPTH else plain


def unread_parts(breadcrumb: Breadcrumb) -> int:
    """How many parts of its content no reader knows."""
    return len(unread_lines(json.loads(breadcrumb.body))) if UNREAD in breadcrumb.text else 0
