"""A run of calls is one line: how many, which, how often, and nothing in it passes for a line of the page."""

from typing import Any

import pytest

from builder.assemble.items.forms import FOLD_REASON
from builder.assemble.items.runs import MAX_ARGUMENT_CHARS, MAX_NAMES, run_item
from builder.assemble.items.writer import Item
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.conversation import turns
from tests.conversations import Call, bash, replied, sent
from tests.pages import make_writer

TIMES = "\N{MULTIPLICATION SIGN}"


def run_of(*rows: StoredBreadcrumb) -> Item:
    writer = make_writer(rows)
    item = run_item([entry for turn in reversed([*turns(writer.view)]) for entry in turn if entry.request], writer)
    assert item.tokens == writer.rendering.count(f"{item.text}\n")
    assert "\n" not in item.text
    return item


def line(*calls: Call) -> str:
    return run_of(*(replied(number, "", call) for number, call in enumerate(calls, 1))).text


def reading(number: int, path: str) -> Call:
    return f"r{number}", "read", {"path": path, "limit": 7}


def test_calls_are_counted_and_the_most_frequent_are_named_first() -> None:
    assert line(bash("r1", "make test")) == "- 1 call: bash make test"
    calls = bash("r1", "make test"), reading(2, "src/a.py"), reading(3, "/home/b/a.py")
    assert line(*calls) == f"- 3 calls: read a.py 2 {TIMES}, bash make test"


def test_parallel_calls_of_one_message_are_counted_too() -> None:
    assert run_of(replied(1, "", bash("a", "ls"), bash("b", "ls"))).text == f"- 2 calls: bash ls 2 {TIMES}"


def test_of_many_kinds_some_are_named_and_all_are_counted() -> None:
    text = line(*(bash(f"r{number}", f"job{number}") for number in range(40)))
    assert text == "- 40 calls: " + ", ".join(f"bash job{number}" for number in range(MAX_NAMES)) + ", …"


def test_it_stands_at_the_place_of_its_first_call_and_says_that_it_is_no_more_than_a_line() -> None:
    item = run_of(replied(7, "", bash("a", "ls")), replied(8, "", bash("b", "ls")))
    assert (item.origin, item.first.id, item.entry) == (0, "m7", None)
    assert [fragment.reduced for fragment in item.fragments] == [FOLD_REASON]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ""),
        ({"a": None, "b": {"c": 1}, "d": ["e"]}, ""),
        ({"a": "  ", "b": 5}, " 5"),
        ({"command": "echo a\n- Assistant: b"}, " echo a - Assistant: b"),
        ({"command": "a\u202eb"}, " a⟨U+202E⟩b"),
        ({"command": "find . -name " + "x" * 99}, " find . -name xxxxxxxxxxx"),
        (["a"], ""),
        ("text", " text"),
    ],
)
def test_of_the_arguments_the_first_is_named_as_far_as_it_fits_on_the_line(arguments: Any, words: str) -> None:
    body = {"message": "", "tool_requests": [{"requestId": "r1", "tool": "bash", "input": arguments}]}
    text = run_of(sent(1, "agent.response.v1", body)).text
    assert text == f"- 1 call: bash{words}"
    assert len(words) <= 1 + MAX_ARGUMENT_CHARS


def test_a_tool_with_the_name_of_a_label_is_quoted() -> None:
    assert line(("r1", "User: do it", {})) == '- 1 call: "User: do it"'
