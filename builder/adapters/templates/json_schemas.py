"""The fields of a body by its JSON Schema: references and alternatives resolved, with an example of each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from builder.remember.schemas.base import Body

Kind = Literal["text", "number", "truth", "list", "rows", "object", "any"]
OF_EVERY_BODY = frozenset(Body.model_fields)
"""Fields that say who sends it and where it belongs."""
MAX_DEPTH = 6
"""Of references within each other that are followed for an example."""
EXAMPLES: Mapping[str, Any] = {
    "string": "some words",
    "integer": 3,
    "number": 2.5,
    "boolean": True,
    "null": None,
}
FORMATS: Mapping[str, str] = {
    "date-time": "2026-01-01T09:00:00Z",
    "date": "2026-01-01",
    "time": "09:00:00",
    "uri": "https://example.org/page",
    "email": "maya@example.org",
    "uuid": "5f3d0c51-0000-4000-8000-000000000000",
}
KINDS: Mapping[str, Kind] = {"string": "text", "integer": "number", "number": "number", "boolean": "truth", "object": "object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a body."""

    name: str
    kind: Kind
    required: bool
    format: str
    """Of a text, as the schema calls it; "" for none."""
    choice: bool
    """Whether the schema lists its values."""
    max_chars: int | None
    example: Any


def fields_of(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    """The fields of an object in the order of its schema. Those that every body has are left out."""
    own = resolved(schema, schema)
    required = frozenset(own.get("required", ()))
    names = [name for name in own.get("properties", {}) if name not in OF_EVERY_BODY]
    return tuple(_field(name, own["properties"][name], schema, required=name in required) for name in names)


def example_of(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, depth: int = 0, name: str = "") -> Any:
    """A value that the schema allows: its own example, its default, or one made of its types."""
    root = root if root is not None else schema
    own = resolved(schema, root)
    for value in _own_values(own):
        return value
    kind = _type(own)
    if depth > MAX_DEPTH:
        return {} if kind == "object" else [] if kind == "array" else EXAMPLES.get(kind)
    if kind == "object":
        return {key: example_of(part, root, depth + 1, key) for key, part in own.get("properties", {}).items()}
    if kind == "array":
        item = example_of(own.get("items") or {"type": "string"}, root, depth + 1, name.removesuffix("s"))
        return [item] * max(int(own.get("minItems", 1)), 1)
    if kind == "string":
        return _text(own, name)
    number = EXAMPLES.get(kind)
    return own.get("minimum", number) if kind in {"integer", "number"} else number


def resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its reference followed, its parts (`allOf`) merged, and the first alternative that is not null."""
    own: dict[str, Any] = dict(schema)
    for _ in range(MAX_DEPTH):
        target = _target(str(own.pop("$ref")), root) if "$ref" in own else {}
        own = {**target, **own}
        for part in own.pop("allOf", ()):
            inner = resolved(part, root)
            properties = {**own.get("properties", {}), **inner.get("properties", {})}
            required = [*own.get("required", ()), *inner.get("required", ())]
            own = (
                {**inner, **own}
                | ({"properties": properties} if properties else {})
                | ({"required": required} if required else {})
            )
        choices = [choice for name in ("anyOf", "oneOf") for choice in own.get(name, ()) if choice.get("type") != "null"]
        if "$ref" not in own and not ("type" not in own and "properties" not in own and choices):
            break
        if choices and "type" not in own and "$ref" not in own:
            own = {**choices[0], **{name: value for name, value in own.items() if name not in {"anyOf", "oneOf"}}}
    return own


def schema_of(value: Any) -> dict[str, Any]:
    """The JSON Schema of a sample value."""
    match value:
        case dict():
            properties = {str(name): schema_of(each) for name, each in value.items()}
            return {"type": "object", "properties": properties, "examples": [value]}
        case list():
            return {"type": "array", "items": schema_of(value[0]) if value else {}, "examples": [value]}
        case bool():
            return {"type": "boolean", "examples": [value]}
        case int() | float():
            return {"type": "number", "examples": [value]}
        case str():
            return {"type": "string", "examples": [value]}
    return {}


def _field(name: str, part: Mapping[str, Any], root: Mapping[str, Any], *, required: bool) -> Field:
    own = resolved(part, root)
    return Field(
        name=name,
        kind=_kind(own, root),
        required=required,
        format=str(own.get("format", "")),
        choice="enum" in own or "const" in own,
        max_chars=own.get("maxLength") if isinstance(own.get("maxLength"), int) else None,
        example=example_of(part, root, name=name),
    )


def _kind(own: Mapping[str, Any], root: Mapping[str, Any]) -> Kind:
    kind = _type(own)
    if kind == "array":
        return "rows" if _type(resolved(own.get("items") or {}, root)) == "object" else "list"
    return KINDS.get(kind, "text" if "enum" in own or "const" in own else "any")


def _type(own: Mapping[str, Any]) -> str:
    """Its type; of several the first that is not null."""
    kind = own.get("type")
    names = [name for name in (kind if isinstance(kind, list) else [kind]) if name and name != "null"]
    return str(names[0]) if names else "object" if "properties" in own else "array" if "items" in own else ""


def _own_values(own: Mapping[str, Any]) -> Iterator[Any]:
    """Values that the schema itself gives."""
    for name in ("examples", "enum"):
        yield from (value for value in own.get(name, ())[:1] if isinstance(own.get(name), list))
    yield from (own[name] for name in ("example", "const") if name in own)
    if own.get("default") not in (None, "", [], {}):
        yield own["default"]


def _text(own: Mapping[str, Any], name: str) -> str:
    words = FORMATS.get(str(own.get("format", "")), f"some {' '.join(name.replace('_', ' ').split()) or 'words'}")
    return words[: own.get("maxLength", len(words))]


def _target(reference: str, root: Mapping[str, Any]) -> dict[str, Any]:
    """What a reference within the file names; nothing for another file's."""
    value: Any = root
    for step in reference.removeprefix("#").strip("/").split("/") if reference.startswith("#") else ():
        name = step.replace("~1", "/").replace("~0", "~")
        value = value.get(name, {}) if isinstance(value, Mapping) else {}
    return dict(value) if isinstance(value, Mapping) and reference.startswith("#") else {}
