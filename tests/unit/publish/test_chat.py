"""Ids and names of calls that providers take, every id once."""

import re

import pytest

from builder.domain.context import Call, Exchange, Message
from builder.publish.chat import MAX_ID_CHARS, acceptable


def calls(*pairs: tuple[str, str]) -> tuple[Message, ...]:
    exchanges = tuple(
        Exchange(call=Call(id=id_, tool=tool, arguments="{}"), results=("done",), ids=("m2",), failed=False)
        for id_, tool in pairs
    )
    return (Message(role="assistant", parts=(), ids=("m1",), exchanges=exchanges),)


def sent(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
    return [(exchange.call.id, exchange.call.tool) for message in acceptable(calls(*pairs)) for exchange in message.exchanges]


def test_what_providers_take_stays() -> None:
    assert sent(("r1", "web-search"), ("r2", "add")) == [("r1", "web-search"), ("r2", "add")]


def test_repeated_ids_are_numbered_within_the_limit() -> None:
    long = "x" * MAX_ID_CHARS
    ids = [id_ for id_, _ in sent(*[(long, "add")] * 3)]
    assert len(set(ids)) == 3
    assert ids[1:] == [f"{'x' * 34}_2", f"{'x' * 34}_3"]


@pytest.mark.parametrize("id_", ["a b", "é", "x" * 41, ""])
def test_an_id_that_no_provider_takes_is_replaced_by_its_hash_always_the_same(id_: str) -> None:
    ((first, _),) = sent((id_, "add"))
    assert re.fullmatch("call_[0-9a-f]{16}", first)
    assert sent((id_, "add")) == [(first, "add")]


@pytest.mark.parametrize(("tool", "name"), [("web.search", "web_search"), ("", "tool"), ("x" * 70, "x" * 64)])
def test_names_of_tools_have_only_letters_that_providers_take(tool: str, name: str) -> None:
    assert sent(("r1", tool)) == [("r1", name)]
