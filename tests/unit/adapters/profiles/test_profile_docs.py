"""What builder/docs/profiles.md lists: every setting, every preset, every model. UPDATE_DOCS=1 writes them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builder.adapters.profiles.profile_file import ProfileFile
from builder.app.config import template_folders
from builder.app.settings import Settings
from builder.extras.chat_formats.formats import FORMATS
from builder.extras.workshop.profile_catalog import ProfileCatalog

PAGE = Path(__file__).resolve().parents[4] / "builder" / "docs" / "profiles.md"
SCHEMA: dict[str, Any] = ProfileFile.model_json_schema(by_alias=True)
SCHEMA["properties"]["chat_format"]["enum"] = ["none", *FORMATS]
SELECTOR = "Selector"
CONDITIONS = SCHEMA["$defs"][SELECTOR]["properties"].keys()
"""Of each selector: they have rows of their own."""
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
WORDS = {"string": "text", "boolean": "boolean", "integer": "integer", "number": "number", "null": "null"}


def settings(model: dict[str, Any], prefix: str = "", shown: tuple[str, ...] = ()) -> Iterator[str]:
    """A row for each setting with its default; those inside others have a dotted path; [] is one of a list.

    shown: models whose settings have rows already.
    """
    for name, field in model["properties"].items():
        if prefix and is_selector(model) and name in CONDITIONS:
            continue
        path = f"{prefix}{name}"
        default = f" {json.dumps(field['default'])}" if "default" in field else ""
        yield f"| `{path}:{default}` | {allowed(field)} | {field.get('description', inner(field).get('description', ''))} |"
        if inner(field) and inner(field)["title"] not in shown:
            shown = (*shown, inner(field)["title"])
            yield from settings(inner(field), f"{path}{mark(field)}.", shown)


def is_selector(model: dict[str, Any]) -> bool:
    return set(CONDITIONS) <= set(model.get("properties", ()))


def choices(field: dict[str, Any]) -> list[dict[str, Any]]:
    return list(field.get("anyOf", [field]))


def references(field: dict[str, Any]) -> list[str]:
    """Names of the models inside: itself, one of a list, one of a mapping."""
    held = [part for choice in choices(field) for part in (choice, choice.get("items", {}), choice.get("additionalProperties"))]
    parts = [one for part in held if isinstance(part, dict) for one in choices(part)]
    return [part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part]


def inner(field: dict[str, Any]) -> dict[str, Any]:
    """The model inside, if there is one."""
    return next((SCHEMA["$defs"][name] for name in references(field)), {})


def mark(field: dict[str, Any]) -> str:
    kinds = {choice.get("type") for choice in choices(field)}
    return "[]" if "array" in kinds else ""


def allowed(field: dict[str, Any]) -> str:
    """What may be written, in words. A default of null says that null may be written."""
    unsaid = {"null"} if field.get("default", "") is None else set()
    return " or ".join(dict.fromkeys(one_kind(choice) for choice in choices(field) if choice.get("type") not in unsaid))


def one_kind(field: dict[str, Any]) -> str:
    kind = str(field.get("type"))
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    if kind == "number" and (field.get("minimum"), field.get("maximum")) == (0, 1):
        return "0 to 1"
    if kind in {"integer", "number"}:
        return f"{WORDS[kind]} {', '.join(f'{sign}{field[bound]:,}' for bound, sign in BOUNDS.items() if bound in field)}".strip()
    if kind == "array":
        items = allowed(field["items"])
        return "list" if items == WORDS["string"] else f"list of {items}"
    if kind == "object":
        return f"name → {allowed(field['additionalProperties'])}"
    return WORDS.get(kind) or ("selector" if is_selector(inner(field)) else "mapping")


def table(columns: str, rows: list[str]) -> str:
    marks = "|" + "---|" * columns.count("·") + "---|"
    return "\n".join(["", f"| {columns.replace(' · ', ' | ')} |", marks, *rows, "", ""])


def all_settings() -> str:
    return table("setting, with its default · allowed · meaning", [*settings(SCHEMA)])


def conditions() -> str:
    """The settings of each selector."""
    rows = [f"| `{name}` | {field['description']} |" for name, field in SCHEMA["$defs"][SELECTOR]["properties"].items()]
    return table("condition · meaning", rows)


def presets() -> str:
    shelf = ProfileCatalog(template_folders(Settings()))
    return table("preset · what it is", [f"| `{held.name}` | {held.about} |" for held in shelf.all if held.kind == "preset"])


def models() -> str:
    names = sorted(ProfileCatalog(template_folders(Settings())).library.models)
    return f"\n{', '.join(f'`{name}`' for name in names)}\n\n"


@pytest.mark.parametrize(
    ("name", "made"), [("profile", all_settings()), ("selector", conditions()), ("presets", presets()), ("models", models())]
)
def test_the_tables_about_profiles_are_generated(name: str, made: str) -> None:
    begin, end = (
        f"<!-- {name}: UPDATE_DOCS=1 writes it, tests/unit/adapters/profiles/test_profile_docs.py -->\n",
        f"<!-- end of {name} -->",
    )
    text = PAGE.read_text("utf-8")
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(f"{head}{begin}{made}{end}{tail}", "utf-8")
    assert PAGE.read_text("utf-8") == f"{head}{begin}{made}{end}{tail}"


def test_every_setting_has_a_meaning_and_says_what_is_allowed() -> None:
    rows = [row.split(" | ") for row in all_settings().split("\n") if row.startswith("| `")]
    assert [row[0] for row in rows if len(row) != 3 or not row[1].strip() or not row[2].strip("| ")] == []
