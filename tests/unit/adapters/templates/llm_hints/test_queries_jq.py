"""jq in its process; without the package, what is said instead."""

import os
from typing import Any

import pytest

from builder.adapters.templates.llm_hints import queries
from builder.adapters.templates.llm_hints.queries import MEMORY_BYTES, JqFailed, JqProcess, check_query
from tests.commands import DEADLINE

CATALOG = {"tools": [{"name": "b", "category": "llm"}, {"name": "a", "category": "llm"}], "secret": "hunter2"}


@pytest.fixture(scope="module")
def process() -> JqProcess:
    return JqProcess(wall=DEADLINE)


@pytest.mark.parametrize(
    ("query", "result"),
    [
        (".tools | map(.category) | unique", ["llm"]),
        (".tools[].name", ["b", "a"]),
        (".tools[0].name", "b"),
        ("empty", None),
        (".nothing", None),
        ('"\\(.tools | length) tools"', "2 tools"),
    ],
)
def test_no_output_is_null_one_is_the_value_and_many_are_a_list(process: JqProcess, query: str, result: Any) -> None:
    check_query(query)
    assert process.value(query, CATALOG)[0] == result


@pytest.mark.parametrize(
    "query",
    [
        "input",
        "[inputs]",
        "env",
        "$ENV.PATH",
        '"\\(env)"',
        '"\\("# ")" | env',
        '"#" | env',
        ". # a comment\n| env",
        'import "a" as $a; $a',
        'include "a"; .',
        "now",
        "debug",
        "halt",
        ".a|input_filename",
        "(input)",
        "stderr",
        "get_search_list",
        "." * 2_001,
        "$__prog_args",
    ],
)
def test_a_query_that_looks_beyond_the_body_is_refused_when_it_is_read(query: str) -> None:
    with pytest.raises(ValueError, match="; "):
        check_query(query)


@pytest.mark.parametrize(
    "query",
    [
        ".a # env",
        '# "now"\n.a',
        '.a | test("#") # input',
        ".env",
        ".input.now",
        '{"env": .a}',
        ".tools | map(.now)",
        '.["import"]',
        ".include",
    ],
)
def test_fields_of_these_names_are_read(query: str) -> None:
    check_query(query)


HOSTILE = ("def f: f; f", "[range(1e9)]", '"x" * 1000000000', '[limit(100000000; repeat("x"))] | length', "[recurse(.)] | length",
           "[range(1e7)] | map(tostring) | add | length", "last(range(1e10))", '[range(2e5)] | map("xxxxxxxxxx")',
           '("a" * 30 + "b") | test("(a+)+$")', "reduce range(1e9) as $i (0; . + $i)")  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
def test_a_query_that_needs_too_much_fails_and_the_next_one_is_answered(process: JqProcess, query: str) -> None:
    check_query(query)
    with pytest.raises(JqFailed):
        process.value(query, None)
    assert process.value(".a", {"a": 1})[0] == 1


@pytest.mark.parametrize(
    ("process", "query"),
    [
        (JqProcess(cpu=0.01, wall=DEADLINE), "last(range(1e10))"),
        (JqProcess(cpu=DEADLINE, wall=0.01), "last(range(1e10))"),
        (JqProcess(cpu=DEADLINE, wall=DEADLINE), f'"x" * {MEMORY_BYTES} | length'),
    ],
    ids=["processor time", "time", "memory"],
)
def test_each_limit_ends_a_query_alone(process: JqProcess, query: str) -> None:
    with pytest.raises(JqFailed, match="the query needs more than"):
        process.value(query, None)


def test_the_process_has_no_environment_no_files_and_no_words_of_people_in_its_reasons(process: JqProcess, tmp_path: Any) -> None:
    (tmp_path / "data.json").write_text('"secret"')
    assert process.value("$ENV | length", None)[0] <= len({"LC_CTYPE"})
    with pytest.raises(JqFailed):
        process.value(f'import "data" as $d {{search: "{tmp_path}"}}; $d', None)
    for query in (".secret.x", ".secret | tonumber", "error(.secret)", ".secret | .[]"):
        with pytest.raises(JqFailed) as failed:
            process.value(query, CATALOG)
        assert "hunter2" not in str(failed.value)
    with pytest.raises(JqFailed, match="syntax error"):
        process.value(".a |", None)


def test_a_process_that_was_killed_is_started_again(process: JqProcess) -> None:
    process.value(".", 1)
    assert process._process is not None
    before = process._process.pid
    os.kill(before, 9)
    process._process.wait()
    assert process.value(".", 2)[0] == 2
    assert process._process.pid != before


def test_without_the_package_a_query_is_refused_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"the package jq is not installed; run pip install '.\[jq\]'"):
        check_query(".a")
