"""The fields of a body by its JSON Schema, with references and alternatives resolved, and a first hint that shows them.

The hint has name, title and state in one line, the text behind it, every other field below.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
NUMBERS = ("number", "key", "code", "reference", "ref")
NAMING = ("title", "name", "subject", "headline", "label", "summary")
"""What says which one it is; comes first."""
STATES = ("status", "state", "priority", "severity", "level", "type", "kind", "category", "phase", "result", "outcome")
"""What says how it is, in parentheses."""
TEXTS = ("content", "text", "message", "body", "description", "details", "note", "notes", "comment", "reason", "answer")
"""What it says; stands behind the colon."""
MAX_STATES = 3
HIDDEN = re.compile(
    r"id|.*_id|.*Id|.*_ids|.*Ids|uuid|guid|hash|.*_hash|.*Hash|checksum|digest|etag|sha\d*|signature|cursor|token|"
    r".*_at|.*At|timestamp|.*_timestamp|created|updated|modified|last_?updated|lastUpdated|expires|ttl|version|revision|seq|nonce"
)
"""Ids, clocks and hashes: nobody reads them, and they change a page that should stay the same."""
HIDDEN_FORMATS = frozenset({"date-time", "uuid"})
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


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


def first_hint(schema: str, fields: Sequence[Field]) -> str:
    """The source of a template. schema: its name."""
    visible = [field for field in fields if not _is_hidden(field)]
    if not visible:
        return f"- {_label(schema)}: {{{{ body | readable | below or words.empty }}}}\n"
    naming = [*(field for field in _first(visible, NUMBERS)[:1] if _is_short(field)), *_first(visible, NAMING)[:1]]
    text = [field for field in _first(visible, TEXTS) if field not in naming][:1]
    states = [field for field in (*_first(visible, STATES), *(field for field in visible if field.choice)) if _is_short(field)]
    states = [field for field in dict.fromkeys(states) if field not in (*naming, *text)][:MAX_STATES]
    others = [field for field in visible if field not in (*naming, *text, *states)]
    head = f"- {_label(schema)}{''.join(map(_name, naming))}{_states(states)}{''.join(map(_statement, text))}\n"
    head += "\n" if head.endswith("%}\n") else ""  # the line end behind a statement is not written
    return head + "".join(map(_line, sorted(others, key=lambda field: (not field.required, _rank(field)))))


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


def _is_hidden(field: Field) -> bool:
    is_named = field.name.isprintable() and field.name.strip()
    return not is_named or bool(HIDDEN.fullmatch(field.name)) or field.format in HIDDEN_FORMATS


def _first(fields: Sequence[Field], names: Sequence[str]) -> list[Field]:
    """Those of these names, in the order of the names."""
    return sorted((field for field in fields if field.name in names), key=lambda field: names.index(field.name))


def _is_short(field: Field) -> bool:
    return field.kind in {"text", "number", "truth"}


def _rank(field: Field) -> int:
    """Plain values before lists, lists before what is nested."""
    return ("text", "number", "truth", "any", "list", "rows", "object").index(field.kind)


def _label(schema: str) -> str:
    """`order.line.v2` → Order line."""
    words = re.sub(r"\.v\d+$", "", schema).replace(".", " ").replace("_", " ").replace("-", " ").split()
    return " ".join(words).capitalize() or "Record"


def _name(field: Field) -> str:
    plain = field.kind != "text" or field.name in NUMBERS
    value = f" {{{{ {_value(field)} | inline }}}}" if plain else f' "{{{{ {_value(field)} | inline }}}}"'
    return value if field.required else f"{{% if {_value(field)} %}}{value}{{% endif %}}"


def _states(fields: Sequence[Field]) -> str:
    if not fields:
        return ""
    values = [_value(field) for field in fields]
    if len(fields) == 1:
        return f"{{% if {values[0]} %}} ({{{{ {values[0]} | inline }}}}){{% endif %}}"
    chosen = f"[{', '.join(values)}] | select"
    return f"{{% set states = {chosen} %}}{{% if states %}} ({{{{ states | inline }}}}){{% endif %}}"


def _statement(field: Field) -> str:
    shape = "block" if field.kind == "text" else "readable | below"
    return f"{{% if {_value(field)} %}}: {{{{ {_value(field)} | {shape} }}}}{{% endif %}}"


def _line(field: Field) -> str:
    """A line of its own below the first."""
    shape = {"text": "below", "number": "inline", "truth": "inline", "list": "inline"}.get(field.kind, "readable | below")
    test = f"{_value(field)} is not none" if field.kind in {"number", "truth"} else _value(field)
    words = " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", field.name).split()).capitalize() or "Other"
    return f"{{% if {test} %}}\n  - {words}: {{{{ {_value(field)} | {shape} }}}}\n{{% endif %}}\n"


def _value(field: Field) -> str:
    if _IDENTIFIER.fullmatch(field.name):
        return f"body.{field.name}"
    name = field.name.replace("\\", "\\\\").replace("'", "\\'")
    return f"body['{name}']"
