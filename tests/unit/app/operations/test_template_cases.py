"""Cases of the bundled templates and of an author: what they make, what differs, and what no case tries."""

import json
from pathlib import Path

import pytest

from builder.app.operations.template_cases import run_cases, states, update, without_case
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import FaultyFiles

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
