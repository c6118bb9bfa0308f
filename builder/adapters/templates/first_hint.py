"""A first hint for a schema: its name, title and state in one line, its text behind it, every other field below."""

import re
from collections.abc import Sequence

from builder.adapters.templates.json_schemas import Field

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
