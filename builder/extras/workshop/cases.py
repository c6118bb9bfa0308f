"""Golden cases of a templates folder, and a first hint for a schema."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.adapters.files import faulty, read_source
from builder.extras.workshop.template_lint import MOVING
from builder.remember.schemas.base import Body

FOLDER = "cases"
SUFFIXES = (".json", ".jsonl")
EXPECTED = ".md"
DEFAULT = "default"
SESSION = "case"
_START = "2026-01-01T09:{:02}:{:02}Z"
_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Records and their expected text."""

    file: Path
    records: tuple[dict[str, Any], ...]
    profile: str
    """Empty = one fragment, no page."""
    expected: str | None

    @property
    def name(self) -> str:
        """Path in the templates folder."""
        return f"{FOLDER}/{self.file.name}"

    @property
    def schema(self) -> str:
        """The last record's."""
        return str(self.records[-1].get("schema_name", ""))

    @property
    def expected_file(self) -> Path:
        """The file with the expected text."""
        return self.file.with_suffix(EXPECTED)

    @property
    def lines(self) -> tuple[str, ...]:
        """The records as JSON lines."""
        return tuple(json.dumps(record, ensure_ascii=False) for record in self.records)


def case_files(folder: Path) -> tuple[Path, ...]:
    """The cases of a templates folder by name."""
    return tuple(sorted(file for file in (folder / FOLDER).glob("*") if file.suffix in SUFFIXES))


def read_case(file: Path) -> Case:
    """Raises `FaultyFiles` for invalid JSON, and for records without a schema."""
    source = read_source(file)
    values = _lines(file, source) if file.suffix == ".jsonl" else _values(file, source)
    settings = values[0] if values and isinstance(values[0], dict) and "schema_name" not in values[0] else {}
    records = values[1:] if settings else values
    if not records:
        raise faulty(f"{FOLDER}/{file.name}", 'it holds no record; write one: {"schema_name": …, "context": {…}}')
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict) or "schema_name" not in record or not isinstance(record.get("context"), dict):
            raise faulty(f"{FOLDER}/{file.name}", f"record {number} has no schema_name or no context; add it")
    expected = file.with_suffix(EXPECTED)
    return Case(
        file=file,
        records=tuple(_completed(record, number) for number, record in enumerate(records)),
        profile=str(settings.get("profile", DEFAULT if len(records) > 1 else "")),
        expected=read_source(expected) if expected.is_file() else None,
    )


def _values(file: Path, source: str) -> list[Any]:
    value = _parsed(file, source, 0)
    if isinstance(value, dict) and isinstance(value.get("records"), list):
        return [{name: each for name, each in value.items() if name != "records"} or {"profile": DEFAULT}, *value["records"]]
    return value if isinstance(value, list) else [value]


def _lines(file: Path, source: str) -> list[Any]:
    return [_parsed(file, line, number) for number, line in enumerate(source.split("\n"), 1) if line.strip()]


def _parsed(file: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        at = re.search(r"line (\d+)", str(error))
        raise faulty(f"{FOLDER}/{file.name}", f"it is no JSON: {error}; mend it", line or (int(at[1]) if at else 0)) from error


def _completed(record: dict[str, Any], number: int) -> dict[str, Any]:
    at = _START.format(*divmod(number, _SECONDS))
    return {"id": f"m{number + 1}", "session": SESSION, "created_at": at} | record


EXAMPLES: Mapping[str, Any] = {"integer": 3, "number": 2.5, "boolean": True, "null": None}


def first_hint(schema: str, names: Iterable[str]) -> str:
    """Template source. names: fields of the body; ids and clocks are left out."""
    visible = [name for name in names if name.isidentifier() and not MOVING.fullmatch(name) and name not in Body.model_fields]
    label = " ".join(re.sub(r"\.v\d+$", "", schema).replace(".", " ").replace("_", " ").split()).capitalize()
    if not visible:
        return f"- {label}: {{{{ body | readable | below or words.empty }}}}\n"
    return f"- {label}\n" + "".join(map(_line, visible))


def example_of(schema: Any) -> Any:
    """A JSON Schema's example, default, or a value of its type; references are not followed."""
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
