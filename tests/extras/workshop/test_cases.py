"""Golden cases are read from their files; what is wrong with one is told with its file."""

import json
from pathlib import Path

import pytest

from builder.adapters.files import FaultyFiles
from builder.extras.workshop.cases import case_files, read_case

NOTE = {"schema_name": "note.v1", "context": {"content": "x"}}


def written(folder: Path, name: str, text: str) -> Path:
    (folder / "cases").mkdir(exist_ok=True)
    (folder / "cases" / name).write_text(text, "utf-8")
    return folder / "cases" / name


@pytest.mark.parametrize(
    ("name", "text", "records", "profile"),
    [
        ("a.json", json.dumps(NOTE), 1, ""),
        ("a.json", json.dumps([NOTE, NOTE]), 2, "default"),
        ("a.json", json.dumps({"profile": "brief", "records": [NOTE]}), 1, "brief"),
        ("a.json", json.dumps({"records": [NOTE]}), 1, "default"),
        ("a.jsonl", f"{json.dumps(NOTE)}\n\n{json.dumps(NOTE)}\n", 2, "default"),
        ("a.jsonl", f'{{"profile": "brief"}}\n{json.dumps(NOTE)}\n', 1, "brief"),
    ],
)
def test_one_record_is_a_fragment_and_several_are_a_page_of_the_profile_that_is_named(
    tmp_path: Path, name: str, text: str, records: int, profile: str
) -> None:
    case = read_case(written(tmp_path, name, text))
    assert (len(case.records), case.profile, case.schema, case.expected) == (records, profile, "note.v1", None)
    assert case.name == f"cases/{name}"


def test_a_record_without_an_id_a_session_and_a_time_gets_them(tmp_path: Path) -> None:
    case = read_case(written(tmp_path, "a.json", json.dumps([NOTE, NOTE | {"id": "own"}])))
    assert [record["id"] for record in case.records] == ["m1", "own"]
    assert case.records[0]["session"] == "case"
    assert case.records[0]["created_at"] < case.records[1]["created_at"]


def test_the_expected_text_stands_beside_it(tmp_path: Path) -> None:
    file = written(tmp_path, "a.json", json.dumps(NOTE))
    written(tmp_path, "a.md", "- x\n")
    written(tmp_path, "README", "x")
    assert read_case(file).expected == "- x\n"
    assert case_files(tmp_path) == (file,)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "cases/a.json line 1: it is no JSON: "),
        ("a.jsonl", f"{json.dumps(NOTE)}\n{{\n", "cases/a.jsonl line 2: it is no JSON: "),
        ("a.json", "[]", "cases/a.json: it holds no record; write one"),
        ("a.jsonl", '{"profile": "x"}', "cases/a.jsonl: it holds no record; write one"),
        ("a.json", json.dumps([NOTE, {"context": {}}]), "cases/a.json: record 2 has no schema_name or no context; add it"),
        ("a.json", "[[1]]", "cases/a.json: record 1 has no schema_name or no context; add it"),
    ],
)
def test_what_is_no_case_is_told_with_what_to_do(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(FaultyFiles) as caught:
        read_case(written(tmp_path, name, text))
    assert str(caught.value).startswith(message)
