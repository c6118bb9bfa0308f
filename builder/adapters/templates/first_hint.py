"""A first hint for a schema: one line for each field that people read, and an example from its JSON Schema."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from builder.adapters.templates.lint import MOVING
from builder.remember.schemas.base import Body

EXAMPLES: Mapping[str, Any] = {"integer": 3, "number": 2.5, "boolean": True, "null": None}
"""By type; any other type is a text."""


def first_hint(schema: str, names: Iterable[str]) -> str:
    """The source of a template. names: fields of the body; ids, clocks and those of every body are left out."""
    visible = [name for name in names if name.isidentifier() and not MOVING.fullmatch(name) and name not in Body.model_fields]
    label = " ".join(re.sub(r"\.v\d+$", "", schema).replace(".", " ").replace("_", " ").split()).capitalize()
    if not visible:
        return f"- {label}: {{{{ body | readable | below or words.empty }}}}\n"
    return f"- {label}\n" + "".join(map(_line, visible))


def example_of(schema: Any) -> Any:
    """A value of a JSON Schema: its own example or default, or one made of its type; references are not followed."""
    if not isinstance(schema, dict):
        return "some words"
    own_values = [*schema.get("examples", ())[:1], *schema.get("enum", ())[:1]]
    own_values += [schema[name] for name in ("const", "default") if name in schema]
    if own_values:
        return own_values[0]
    if isinstance(schema.get("properties"), dict):
        return {name: example_of(part) for name, part in schema["properties"].items()}
    if schema.get("type") == "array":
        return [example_of(schema.get("items"))]
    return EXAMPLES.get(str(schema.get("type")), "some words")


def _line(name: str) -> str:
    words = " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|_+", " ", name).split()).capitalize()
    return f"{{% if body.{name} is not none %}}\n  - {words}: {{{{ body.{name} | readable | below }}}}\n{{% endif %}}\n"
