"""The words of a body: content parts joined, JSON values as lines."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from builder.remember.attachments import attachment_line, described


def text_of(value: Any) -> str:
    """All words of a JSON value as lines, keys in front of their plain values.

    Images and files are a line each.
    """
    return _lines(described(value))


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
