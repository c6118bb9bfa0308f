"""RCRT's records in, hint templates and hints in Jinja2 out."""

import json
from pathlib import Path
from typing import Any

import pytest

from builder.domain.errors import Rejected
from builder.extras.rcrt.hint_conversion import convert_hints, read_files, write_hints

TEMPLATE = {"type": "template", "template": "{{context.title}}: {{#each context.rows}}{{this}} {{/each}}"}
EXTRACT = {"type": "extract", "value": "$.tools[*].name"}


def record(hints: Any, schema: str = "ticket.v1", **fields: Any) -> dict[str, Any]:
    return {"schema_name": schema, "context": {}, "llm_hints": hints, **fields}


def converted(value: Any, source: str = "records.json") -> dict[str, str]:
    return {each.file: each.text for each in convert_hints(json.dumps(value), source)}


def problems(value: Any) -> list[str]:
    return [str(finding) for each in convert_hints(json.dumps(value), "records.json") for finding in each.findings]


def test_a_single_template_becomes_a_hint_template_of_its_schema() -> None:
    hints = {"transform": {"line": TEMPLATE}, "mode": "replace"}
    expected = {"hints/ticket.v1.md.j2": "{{ body.title }}: {% for this in body.rows %}{{ this }} {% endfor %}\n"}
    assert converted(record(hints)) == expected
    assert converted([record(hints), {"schema_name": "x.v1", "context": {}}]) == expected


def test_all_else_stays_hints_with_its_templates_in_jinja() -> None:
    hints = {"transform": {"line": TEMPLATE, "names": EXTRACT}, "exclude": ["x"]}
    (text,) = converted(record(hints)).values()
    assert json.loads(text) == {
        "transform": {
            "line": {
                "type": "template",
                "template": "{{ context.title }}: {% for this in context.rows %}{{ this }} {% endfor %}",
            },
            "names": EXTRACT,
        },
        "exclude": ["x"],
    }


def test_hints_by_themselves_are_named_after_their_file() -> None:
    assert list(converted({"transform": {"line": TEMPLATE}}, "mine.json")) == ["llm_hints/mine.json"]


def test_a_definition_gives_the_hint_of_the_schema_that_it_defines() -> None:
    hints = {"transform": {"line": TEMPLATE}}
    assert list(converted(record(hints, "schema.def.v1", tags=["defines:note.v1"]))) == ["hints/note.v1.md.j2"]
    assert list(converted(record(hints, "schema.def.v1", context={"target_schema": "note.v1"}))) == ["hints/note.v1.md.j2"]
    assert list(converted({"schema_name": "a.v1", "context": {"llm_hints": hints}})) == ["hints/a.v1.md.j2"]


def test_json_lines_are_read_line_by_line() -> None:
    lines = "\n".join(json.dumps(record({"include": ["a"]}, schema)) for schema in ("a.v1", "b.v1"))
    assert [each.file for each in convert_hints(lines, "all.jsonl")] == ["llm_hints/a.v1.json", "llm_hints/b.v1.json"]
    with pytest.raises(Rejected, match=r"all.jsonl line 2 is no JSON: .*; give records, JSON lines, or llm_hints"):
        convert_hints(json.dumps(record({})) + "\nnot json", "all.jsonl")


def test_the_report_names_record_rule_and_line() -> None:
    broken = {"transform": {"line": {"type": "template", "template": "a\n{{> footer}}\n{{title}}"}}}
    first, second = problems(record(broken))
    assert first == "record 1 (ticket.v1) transform.line: line 2: {{> footer}} is not converted; write its text here"
    assert second == (
        "record 1 (ticket.v1) transform.line: line 3: note: {{title}} is empty in RCRT, whose data are under context; "
        "body.title is written; take it out if nothing was meant"
    )


def test_what_the_service_would_refuse_is_reported_as_it_would() -> None:
    noted = {"mode": "transform", "template": "# {{title}}", "exclude": ["context.links"]}
    first, second = problems(record(noted, "note.v1"))
    assert first.startswith("record 1 (note.v1): note: nothing reads 'template' of hints; write it as a rule of `transform`")
    assert second == "record 1 (note.v1): mode: 'transform' is no mode; use one of merge, replace"
    assert problems(record({"transform": {"n": {"type": "extract", "value": "$.items.length()"}}}))


def test_two_records_of_one_schema_with_different_hints_are_reported() -> None:
    one, other = record({"include": ["a"]}), record({"include": ["b"]})
    assert problems([one, one]) == []
    assert problems([one, other]) == [
        "record 2: another record gives llm_hints/ticket.v1.json with other content; convert them apart, and choose"
    ]


def test_a_schema_that_is_no_file_name_gives_none() -> None:
    assert list(converted(record({"transform": {"line": TEMPLATE}}, "../../etc/x"), "r.json")) == ["llm_hints/r.json"]


def test_files_of_a_folder_are_read_and_written_once(tmp_path: Path) -> None:
    source, output = tmp_path / "records", tmp_path / "templates"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "a.json").write_text(json.dumps(record({"transform": {"line": TEMPLATE}})))
    (source / "b.txt").write_text("no record")
    texts = list(read_files(source))
    assert [name for name, _ in texts] == ["a.json"]
    results = [each for name, text in texts for each in convert_hints(text, name)]
    assert write_hints(results, output) == write_hints(results, output) == ("hints/ticket.v1.md.j2",)
    (output / "hints" / "ticket.v1.md.j2").write_text("mine")
    with pytest.raises(Rejected, match="is there already, with other content; take it away, or choose another --output"):
        write_hints(results, output)
    for wrong in (tmp_path / "nothing.json", output):
        with pytest.raises(Rejected, match="; "):
            list(read_files(wrong))


@pytest.mark.parametrize("source", ["{{#each context.rows}}{{this}}", "{{context.[__class__]}}", "{{/if}}"])
def test_what_cannot_be_read_or_would_be_refused_is_reported_and_not_written(source: str, tmp_path: Path) -> None:
    hints = {"transform": {"line": {"type": "template", "template": source}}}
    values = [record(hints), record(hints | {"exclude": ["x"]}, "order.v1"), record({"transform": {"line": TEMPLATE}}, "note.v1")]
    results = convert_hints(json.dumps(values), "r.json")
    assert [bool(each.text) for each in results] == [False, False, True]
    assert [any(finding.problem.severity == "error" for finding in each.findings) for each in results] == [True, True, False]
    assert write_hints(results, tmp_path) == ("hints/note.v1.md.j2",)
    assert [file.name for file in tmp_path.rglob("*.*") if file.is_file()] == ["note.v1.md.j2"]
