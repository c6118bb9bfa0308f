"""Calls as breadcrumbs keep them: by place, with arguments as an object."""

import json
from typing import Any

import pytest

from builder.remember.calls import call_of, call_signature, calls_of
from tests.factories import make_breadcrumb


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({"b": 1, "a": "x"}, {"a": "x", "b": 1}),
        (None, {}),
        ("kiln", {"input": "kiln"}),
        ([1, 2], {"input": [1, 2]}),
        ({"key\x1b": "a\x07b"}, {"key⟨U+001B⟩": "a⟨U+0007⟩b"}),
        ({"a": "x<|", "b|>": 1}, {"a": "x<\\|", "b|>": 1}),
    ],
)
def test_arguments_are_an_object_without_control_text(arguments: Any, sent: dict[str, Any]) -> None:
    crumb = make_breadcrumb(calls=("r1",), call_signatures=(call_signature("search", arguments),))
    (call,) = calls_of(crumb)
    assert (call.id, call.tool, json.loads(call.arguments)) == ("r1", "search", sent)


def test_two_calls_of_one_id_are_two_calls_by_their_place() -> None:
    signatures = (call_signature("search", {"q": 1}), call_signature("search", {"q": 2}))
    first, second = calls_of(make_breadcrumb(calls=("r1", "r1"), call_signatures=signatures))
    assert (first.id, json.loads(first.arguments)) == ("r1", {"q": 1})
    assert (second.id, json.loads(second.arguments)) == ("r1-2", {"q": 2})


def test_an_answer_makes_no_calls() -> None:
    assert calls_of(make_breadcrumb(schema="tool.response.v1", calls=("r1",))) == ()


def test_one_of_many_calls_is_read_alone() -> None:
    signatures = (call_signature("search", {"q": 1}), "not read", call_signature("search", {"q": 2}))
    crumb = make_breadcrumb(calls=("r1", "r2", "r1"), call_signatures=signatures)
    assert json.loads(call_of(crumb, "r1").arguments) == {"q": 1}
    assert json.loads(call_of(crumb, "r1-2").arguments) == {"q": 2}
