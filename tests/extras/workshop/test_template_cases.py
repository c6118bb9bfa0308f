"""Cases of templates: what they make, what differs, what no case tries, and the first one of a new hint."""

import json
from pathlib import Path
from typing import Any

import pytest

from builder.adapters.files import FaultyFiles
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured, Rejected
from builder.extras.workshop.profile_catalog import lint_folders
from builder.extras.workshop.template_cases import NewTemplate, new_template, run_cases, states, update, without_case

TICKET = {"schema_name": "ticket.v1", "context": {"number": 7, "title": "Repair the kiln"}}


def page(lines: tuple[str, ...], profile: str) -> str:
    return f"page of {profile} with {len(lines)}\n"


def author(folder: Path, **cases: object) -> Settings:
    for name, text in {"hints/ticket.v1.md.j2": "- Ticket {{ body.number }}: {{ body.title }}\n"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "cases").mkdir()
    for name, value in cases.items():
        (folder / "cases" / f"{name}.json").write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return Settings(templates_dir=folder)


def test_every_bundled_hint_has_a_case_and_every_fragment_is_as_expected() -> None:
    results = run_cases(Settings(), page)
    assert [result.name for result in results if result.state != "ok"] == ["cases/kiln-talk.jsonl"]
    assert without_case(Settings()) == ()


def test_an_author_s_cases_are_run_alone_and_say_which_template_they_belong_to(tmp_path: Path) -> None:
    settings = author(tmp_path, ticket=TICKET, talk=[TICKET, TICKET], other=TICKET | {"schema_name": "unknown.v1"})
    (tmp_path / "cases" / "ticket.md").write_text("- Ticket 7: Repair\n", "utf-8")
    results = {result.name: result for result in run_cases(settings, page)}
    assert {name: (result.template, result.state) for name, result in results.items()} == {
        "cases/other.json": ("hints/generic.md.j2", "new"),
        "cases/talk.json": ("profile default", "new"),
        "cases/ticket.json": ("hints/ticket.v1.md.j2", "differs"),
    }
    assert results["cases/ticket.json"].difference == "-- Ticket 7: Repair\n+- Ticket 7: Repair the kiln"
    assert list(states(tuple(results.values()))) == [
        "cases: 3, differ: 1, without an expected text: 2",
        "context-builder templates test --update writes what they show now",
    ]


def test_update_writes_what_they_show_and_nothing_else(tmp_path: Path) -> None:
    settings = author(tmp_path, ticket=TICKET, talk=[TICKET, TICKET], broken="{")
    results = run_cases(settings, page)
    assert [file.name for file in update(results)] == ["talk.md", "ticket.md"]
    assert (tmp_path / "cases" / "ticket.md").read_text("utf-8") == "- Ticket 7: Repair the kiln\n"
    again = run_cases(settings, page)
    assert [result.state for result in again] == ["fails", "ok", "ok"]
    assert update(again) == ()


def test_a_case_fails_when_its_own_hint_does_although_another_text_is_shown(tmp_path: Path) -> None:
    settings = author(tmp_path, ticket=TICKET)
    (tmp_path / "hints" / "ticket.v1.md.j2").write_text("- {{ body.number // 0 }}\n", "utf-8")
    (result,) = run_cases(settings, page)
    assert result.state == "fails"
    assert "hints/ticket.v1.md.j2 line 1: ZeroDivisionError" in result.problem


def test_cases_are_chosen_by_their_name_their_hint_or_their_profile(tmp_path: Path) -> None:
    settings = author(tmp_path, ticket=TICKET, talk=[TICKET, TICKET])
    for name, expected in (("ticket", "ticket"), ("ticket.v1", "ticket"), ("default", "talk"), ("cases/talk.json", "talk")):
        assert [result.name for result in run_cases(settings, page, (name,))] == [f"cases/{expected}.json"]
    with pytest.raises(Misconfigured, match="no case, hint or profile is called 'tickt'; write ticket"):
        run_cases(settings, page, ("tickt",))


def test_templates_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    settings = author(tmp_path, ticket=TICKET)
    (tmp_path / "hints" / "ticket.v1.md.j2").write_text("{% include 'x' %}", "utf-8")
    (result,) = run_cases(settings, page)
    assert (result.state, "loads another file" in result.problem) == ("fails", True)
    assert issubclass(FaultyFiles, Misconfigured)


def test_hints_without_a_case_are_named(tmp_path: Path) -> None:
    settings = author(tmp_path, talk=[TICKET, TICKET])
    assert without_case(settings) == ("ticket.v1",)
    (tmp_path / "cases" / "t.json").write_text(json.dumps(TICKET), "utf-8")
    assert without_case(settings) == ()


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
        ("a.v1", {"schema": {"type": "string"}}, "has no properties; name the JSON Schema of a record's context"),
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
