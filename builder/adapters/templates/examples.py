"""Bodies that templates are tried on: the examples of the known schemas, with less and with much more in them."""

from typing import Any

from pydantic import ValidationError

from builder.remember.decode import BODIES
from builder.wire.items import files_beside
from builder.wire.words import text_of

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


def text_within(schema: str, part: dict[str, Any]) -> str:
    """The text of a part of a body as its schema reads it, else all its words."""
    try:
        return "\n".join(filter(None, (BODIES[schema].model_validate(part).facts().text, *files_beside(part))))
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
    """Each example with its required fields only, and with long texts and lists."""
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
