"""A first hint is made of a known schema, a JSON Schema, its definition or a sample; it passes lint and its own case."""

import json
from pathlib import Path
from typing import Any

import pytest

from builder.app.operations.profile_catalog import lint_folders
from builder.app.operations.template_cases import NewTemplate, new_template, run_cases
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured, Rejected

SCHEMA = {"type": "object", "properties": {"title": {"type": "string", "examples": ["Clay"]}, "kilos": {"type": "integer"}}}
RECORD = {"id": "d1", "schema_name": "delivery.v1", "context": {"title": "Clay", "kilos": 400}}


def made(folder: Path, name: str, **sources: Any) -> NewTemplate:
    files: dict[str, Path | None] = {"schema": None, "record": None}
    for kind, value in sources.items():
        files[kind] = folder / f"{kind}.json"
        (folder / f"{kind}.json").write_text(json.dumps(value), "utf-8")
    return new_template(Settings(), name, folder / "templates", files["schema"], files["record"])


@pytest.mark.parametrize(
    ("sources", "text"),
    [
        ({"schema": SCHEMA}, "- Delivery\n  - Title: Clay\n  - Kilos: 3\n"),
        ({"record": RECORD}, "- Delivery\n  - Title: Clay\n  - Kilos: 400\n"),
        ({"record": RECORD["context"]}, "- Delivery\n  - Title: Clay\n  - Kilos: 400\n"),
    ],
)
def test_the_example_is_shown_and_stands_beside_the_hint_as_a_case(tmp_path: Path, sources: dict[str, Any], text: str) -> None:
    new = made(tmp_path, "delivery.v1", **sources)
    assert new.text == new.expected.read_text("utf-8") == text
    assert new.hint.read_text("utf-8") == new.source
    settings = Settings(templates_dir=tmp_path / "templates")
    assert [result.state for result in run_cases(settings, lambda *_: "")] == ["ok"]
    assert [finding for finding in lint_folders(settings)[1] if finding.severity == "error"] == []


@pytest.mark.parametrize(
    ("schema", "text"), [("note.v1", "- Note (https://example.org/notes/7): "), ("context.config.v1", "- Context config\n")]
)
def test_a_known_schema_begins_with_its_bundled_hint_or_its_own_json_schema(tmp_path: Path, schema: str, text: str) -> None:
    assert made(tmp_path, schema).text.startswith(text)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    new = made(tmp_path, "delivery.v1", record=RECORD)
    new.hint.write_text("mine", "utf-8")
    with pytest.raises(Misconfigured, match="is there already, and nothing is written over; edit it"):
        made(tmp_path, "delivery.v1", record=RECORD)
    assert new.hint.read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("schema", "sources", "message"),
    [
        ("note.v2", {}, "nothing is known of the schema 'note.v2'; write note.v1, or name a JSON Schema by --from-schema"),
        (
            "a.v1",
            {"schema": {"type": "string"}},
            "has no properties; name the JSON Schema of a record's context",
        ),
        ("a.v1", {"schema": []}, "holds a JSON list; name a file with one object"),
    ],
)
def test_what_no_hint_can_be_made_of_is_told_with_what_to_do(
    tmp_path: Path, schema: str, sources: dict[str, Any], message: str
) -> None:
    with pytest.raises(Misconfigured) as caught:
        made(tmp_path, schema, **sources)
    assert message in str(caught.value)
    assert not (tmp_path / "templates").exists()


def test_a_name_that_is_no_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Rejected, match="; "):
        made(tmp_path, "../x", record=RECORD)
