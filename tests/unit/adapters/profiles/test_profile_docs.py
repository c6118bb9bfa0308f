"""The tables of builder/docs/profiles.md: every setting, every preset, every model. UPDATE_DOCS=1 writes them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builder.adapters.profiles.profile_file import ProfileFile
from builder.app.config import template_folders
from builder.app.operations.profile_catalog import ProfileCatalog
from builder.app.settings import Settings

PAGE = Path(__file__).resolve().parents[4] / "builder" / "docs" / "profiles.md"
SCHEMA: dict[str, Any] = ProfileFile.model_json_schema(by_alias=True)
SELECTOR = "Selector"
NUMBERS = {"integer": "whole number", "number": "number"}
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
WORDS = {"string": "text", "boolean": "true, false", "null": "null"}


def settings(model: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """A row for each setting, those inside others under their dotted path; [] is one of a list, * any name."""
    for name, field in model["properties"].items():
        path = f"{prefix}{name}"
        default = f"`{json.dumps(field['default'])}`" if "default" in field else ""
        yield f"| `{path}` | {default} | {allowed(field)} | {field.get('description', inner(field).get('description', ''))} |"
        if inner(field):
            yield from settings(inner(field), f"{path}{mark(field)}.")


def choices(field: dict[str, Any]) -> list[dict[str, Any]]:
    return list(field.get("anyOf", [field]))


def references(field: dict[str, Any]) -> list[str]:
    """Names of the models inside: itself, one of a list, one of a mapping."""
    held = [part for choice in choices(field) for part in (choice, choice.get("items", {}), choice.get("additionalProperties"))]
    parts = [one for part in held if isinstance(part, dict) for one in choices(part)]
    return [part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part]


def inner(field: dict[str, Any]) -> dict[str, Any]:
    """The model inside, but for selectors, which have rows of their own."""
    return next((SCHEMA["$defs"][name] for name in references(field) if name != SELECTOR), {})


def mark(field: dict[str, Any]) -> str:
    kinds = {choice.get("type") for choice in choices(field)}
    return "[]" if "array" in kinds else ".*" if "object" in kinds else ""


def allowed(field: dict[str, Any]) -> str:
    """What may be written, in words."""
    return " or ".join(dict.fromkeys(map(one_kind, choices(field))))


def one_kind(field: dict[str, Any]) -> str:
    kind = str(field.get("type"))
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    if kind in NUMBERS:
        bounds = " ".join(f"{sign} {field[bound]:,}" for bound, sign in BOUNDS.items() if bound in field)
        return f"{NUMBERS[kind]} {bounds}".strip()
    if kind == "array":
        return f"list of {allowed(field['items'])}"
    if kind == "object":
        return f"name → {allowed(field['additionalProperties'])}"
    return WORDS.get(kind) or ("a selector" if references(field) == [SELECTOR] else "mapping")


def table(columns: str, rows: list[str]) -> str:
    marks = "|" + "---|" * columns.count("·") + "---|"
    return "\n".join(["", f"| {columns.replace(' · ', ' | ')} |", marks, *rows, "", ""])


def all_settings() -> str:
    selector = settings(SCHEMA["$defs"][SELECTOR], "*selector*.")
    return table("setting · default · allowed · meaning", [*settings(SCHEMA), *selector])


def presets() -> str:
    shelf = ProfileCatalog(template_folders(Settings()))
    return table("preset · what it is", [f"| `{held.name}` | {held.about} |" for held in shelf.all if held.kind == "preset"])


def models() -> str:
    known = ProfileCatalog(template_folders(Settings())).library.models
    rows = [f"| `{name}` | {facts.window:,} | `{facts.encoding}` | {facts.margin} |" for name, facts in sorted(known.items())]
    return table("model · window · encoding · margin", rows)


@pytest.mark.parametrize(("name", "made"), [("profile", all_settings()), ("presets", presets()), ("models", models())])
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
    assert [row[0] for row in rows if len(row) != 4 or not row[2].strip() or not row[3].strip("| ")] == []
