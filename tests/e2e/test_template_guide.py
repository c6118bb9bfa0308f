"""Every block of the pages for template authors is used: the commands run, the files make pages."""

import json
import os
import re
from pathlib import Path
from typing import Any

from builder.app.settings import EmbeddingSettings, Settings
from builder.cli.build import build_once
from builder.extras.workshop.profile_catalog import open_catalog
from builder.extras.workshop.template_cases import run_cases
from tests.commands import run, run_script
from tests.running import Running, environment

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "builder" / "docs"
HOUR, REFERENCE, RECORDS = ((DOCS / name).read_text("utf-8") for name in ("first-hour.md", "templates.md", "llm-hints.md"))
FENCE = re.compile(r"^```(\w*) ?([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = FENCE.findall(HOUR + REFERENCE + RECORDS)
FILES = {name: text for _, name, text in BLOCKS if name}
LINES = FILES["talk.jsonl"].splitlines()
SCRIPTS = [text for language, name, text in FENCE.findall(HOUR) if language == "sh"]
"""Of the first hour: without a service, and beside one."""


def folder_of(home: Path) -> Path:
    """A templates folder with all files of the guide."""
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, "utf-8")
    return home


def test_every_block_is_a_file_a_script_or_an_output() -> None:
    assert [language for language, name, _ in BLOCKS if not name and language not in {"sh", "text"}] == []


async def test_the_files_of_the_guide_are_free_of_errors_and_make_the_pages_that_they_promise(tmp_path: Path) -> None:
    settings = Settings(templates_dir=folder_of(tmp_path), embedding=EmbeddingSettings(engine="none"))
    assert [str(each) for each in open_catalog(settings).findings() if each.severity == "error"] == []
    pages: dict[str, str] = {}
    for name in ("brief", "support", "german", "dutch", "coding-agent"):
        event = await build_once(settings, LINES, "acme", "s1", name, "", lambda _: None)
        pages[name] = event["content"]
    assert "## What we just said\n" in pages["brief"]
    assert "- User asks: The blue kiln is broken.\n" in pages["brief"]
    assert pages["support"].startswith(
        "## Role\nYou help people who fire kilns.\n\n## Open Ticket\n- Ticket 7 (open): Repair the blue kiln.\n"
    )
    assert pages["support"].endswith("\n## Reminder\nNever promise a date.\n")
    assert "## Aktuelle Nachricht des Nutzers\n[14. September 2026]\n- Kunde asks: " in pages["german"]
    assert "- Beraterin: I opened a ticket." in pages["german"]
    assert "## Huidig bericht van de gebruiker\n[14 september 2026]\n- Gebruiker asks: " in pages["dutch"]
    assert "## Conversation\n" in pages["coding-agent"]


async def test_the_records_of_the_guide_are_shown_by_their_hints_where_a_profile_trusts_them(tmp_path: Path) -> None:
    settings = Settings(templates_dir=folder_of(tmp_path), embedding=EmbeddingSettings(engine="none"))
    ticket = json.dumps(json.loads(FILES["records/ticket.json"]) | {"created_at": "2026-09-14T09:01:30Z"})
    answer = json.dumps(
        {"id": "a1", "schema_name": "agent.response.v1", "context": {"message": "Joost repairs it. He comes on Friday."}}
        | {"created_at": "2026-09-14T09:01:40Z"}
    )
    pages: dict[str, str] = {}
    for name in ("support", "trusting"):
        lines = [LINES[0], ticket, answer, LINES[3]]
        pages[name] = (await build_once(settings, lines, "acme", "s1", name, "", lambda _: None))["content"]
    assert "## Open Ticket\n- Ticket 7: Repair the blue kiln\n" in pages["support"].replace("kiln.\n", "kiln\n")
    assert "\n- #7 for Joost: Repair the blue kiln\n" in pages["trusting"]
    assert "Joost repairs it.\n" in pages["trusting"]
    assert "He comes on Friday." in pages["support"]
    assert "He comes on Friday." not in pages["trusting"]


def test_the_conversion_of_the_guide_prints_what_it_promises(tmp_path: Path) -> None:
    block = next(text for _, _, text in BLOCKS if text.startswith("$ context-builder hints convert "))
    command, expected = block.split("\n", 1)
    folder_of(tmp_path)
    arguments = command.removeprefix("$ context-builder ").split()
    done = run(*arguments[:-1], str(tmp_path / arguments[-1]), env={"PATH": os.defpath})
    assert (done.stdout + done.stderr, done.returncode) == (expected, 1)
    output = run(*arguments[:-1], str(tmp_path / arguments[-1]), "--output", str(tmp_path / "mine"), env={"PATH": os.defpath})
    assert output.stdout == f"{tmp_path / 'mine' / 'hints' / 'tool.catalog.v1.md.j2'}\n"
    assert (tmp_path / "mine" / "hints" / "tool.catalog.v1.md.j2").read_text("utf-8").startswith("You have {{ body.totalTools }}")
    as_json = run("hints", "convert", str(tmp_path / "records" / "catalog.json"), "--json", env={"PATH": os.defpath})
    (row,) = json.loads(as_json.stdout)
    assert (row["file"], len(row["problems"])) == ("hints/tool.catalog.v1.md.j2", 3)


def test_the_first_hint_of_the_guide_is_written_and_reads_as_it_says(tmp_path: Path) -> None:
    (script,) = [text for language, name, text in FENCE.findall(REFERENCE) if language == "sh"]
    (tmp_path / "order.schema.json").write_text(FILES["order.schema.json"], "utf-8")
    done = run_script(script, environment(tmp_path), tmp_path)
    assert done.returncode == 0, done.stderr
    shown = next(text for language, _, text in BLOCKS if language == "text" and text.startswith("- Order\n"))
    assert done.stdout.startswith(shown)
    assert "cases/order.v1.json                  hints/order.v1.md.j2                 ok\n" in done.stdout


def test_the_case_of_the_guide_shows_its_ticket(tmp_path: Path) -> None:
    (result,) = run_cases(Settings(templates_dir=folder_of(tmp_path)), lambda *_: "")
    assert (result.template, result.text) == ("hints/ticket.v1.md.j2", "- Ticket 7 (open): Repair the blue kiln.\n")


async def test_a_tool_s_look_changes_for_one_tool_alone(tmp_path: Path) -> None:
    outputs = {"weather": {"celsius": 10.5, "city": "Oslo"}, "search": "Nothing."}
    calls = [{"tool": tool, "request_id": tool, "arguments": {}} for tool in outputs]
    records: list[tuple[str, dict[str, Any]]] = [("agent.response.v1", {"message": "", "tool_requests": calls})]
    records += [
        ("tool.response.v1", {"tool": tool, "request_id": tool, "status": "success", "output": output})
        for tool, output in outputs.items()
    ]
    records += [("user.message.v1", {"content": "Thanks."})]
    lines = [json.dumps({"id": f"r{n}", "schema_name": schema, "context": body}) for n, (schema, body) in enumerate(records)]
    settings = Settings(templates_dir=folder_of(tmp_path), embedding=EmbeddingSettings(engine="none"))
    page = (await build_once(settings, lines, "acme", "s1", "default", "", lambda _: None))["content"]
    assert "  Result: 10.5 °C in Oslo\n" in page
    assert "  Result: Nothing.\n" in page


def test_the_commands_of_the_first_hour_show_pages_without_a_service_and_beside_one(tmp_path: Path) -> None:
    folder_of(tmp_path / "mine")
    (tmp_path / "talk.jsonl").write_text(FILES["talk.jsonl"], "utf-8")
    (folder_of(tmp_path / "new") / "hints" / "user.message.v1.md.j2").write_text(
        "- {{ speaker }} wonders: {{ text | block }}\n", "utf-8"
    )
    with Running(tmp_path / "data", embedding__engine="none", templates_dir=tmp_path / "mine") as service:
        said = []
        for script in SCRIPTS:
            done = run_script(script, service.env | {"COLUMNS": "200"}, tmp_path)
            assert done.returncode == 0, done.stderr
            said.append(done.stdout)
    alone, beside = said
    question = "Is the ticket for the blue kiln still open?"
    assert "## Current User Message\n[14 September 2026]\n- User asks: Which ticket is open?\n" in alone
    assert f"- User asks: {question}\n" in beside
    assert "t7 v1 (ticket.v1" in beside
    assert f"- User wonders: {question}" in beside
    assert question in (tmp_path / "s42.jsonl").read_text("utf-8")
