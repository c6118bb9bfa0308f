"""The words of a body: content parts joined, JSON values as lines."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from builder.remember.attachments import attachment_line, described
from builder.wire.json import canonical, canonical_text

_WRAPPER = frozenset({"content", "isError", "structuredContent", "_meta"})
"""Fields of the result of MCP's `tools/call`."""


def text_of(value: Any) -> str:
    """All words of a JSON value as lines, keys in front of their plain values.

    Images and files are a line each.
    """
    return _lines(described(value))


def without_wrapper(output: Any) -> Any:
    """A tool's output without the wrapper in which MCP's servers put its text; one that says more than that text stays."""
    is_wrapper = isinstance(output, dict) and isinstance(output.get("content"), list) and output.keys() <= _WRAPPER
    if not is_wrapper or output.get("isError") or not isinstance(text := described(output["content"]), str):
        return output
    structured = output.get("structuredContent")
    return text if structured is None or canonical(structured) == _canonical(text) else output


def _canonical(text: str) -> str:
    try:
        return canonical_text(text)
    except (ValueError, RecursionError):
        return ""


def _lines(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(
            text if isinstance(item, dict | list) else f"{key}: {text}" for key, item in value.items() if (text := _lines(item))
        )
    if isinstance(value, list):
        return "\n".join(filter(None, map(_lines, value)))
    return "" if value is None else str(value)


def _join_parts(value: Any) -> Any:
    """Chat APIs send content as a list of typed parts: their texts are joined, images and files become a line each."""
    if not isinstance(value, list):
        return value
    return "\n".join(_part(part) for part in value)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("text")
        return text if isinstance(text, str) else attachment_line(part)
    raise ValueError(f"a content part is {type(part).__name__}; use text or an object with a text field")


Text = Annotated[str, BeforeValidator(_join_parts, json_schema_input_type=str | list[str | dict[str, Any]])]
"""A string, or a list of content parts that is joined to one."""
