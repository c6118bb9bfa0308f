"""The page once more as messages, in each provider's shape: an `expected.SHAPE.json` for each beside expected.md.

`chat_messages` has calls of one message of which one is not answered, a result without its call, a tool request, an id used
twice, a name that no provider takes, long arguments, and images; `code_in_chat` has code of a person, an agent and a tool, two
people, short answers, and a failure on the next day; `two_agents` has another agent's words and calls; `hidden_results` has calls
whose results may not be seen; `loop_of_twenty_rounds` is a long tool loop; `memory_of_a_person` has rules and talk of other
sessions in its system message; `responses` is a turn of parallel calls, with pictures of a person and of a tool.
UPDATE_GOLDEN=1 writes the files.
"""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from jsonschema import Draft202012Validator

from builder.app.config import bundled_folder
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.extras.chat_formats.formats import FORMATS
from builder.publish.event import encode
from builder.recall.histories import HistoryCache
from builder.service import ContextBuilder
from tests.chat_rules import broken_by_anthropic, broken_by_openai, broken_by_responses
from tests.golden.stored_vectors import StoredVectors
from tests.golden.test_golden import events, folder_of, helpers, profile
from tests.stores import durable_store

CASES = (
    "chat_messages",
    "code_in_chat",
    "hidden_results",
    "loop_of_twenty_rounds",
    "memory_of_a_person",
    "responses",
    "two_agents",
)
SCHEMA = json.loads((bundled_folder("schemas") / "agent.context.v1.json").read_text("utf-8"))
HERE = Path(__file__).parent
Shape = Literal["openai", "anthropic", "responses"]
RULES: dict[Shape, Callable[..., list[str]]] = {
    "openai": broken_by_openai,
    "anthropic": broken_by_anthropic,
    "responses": broken_by_responses,
}


@cache
def shapes(case: str) -> dict[Shape, dict[str, Any]]:
    """The events of a case, remembered once for all."""
    wanted = profile(case)
    names = get_args(Shape)
    return dict(zip(names, published(case, *(replace(wanted, chat_format=FORMATS[name]) for name in names)), strict=True))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", get_args(Shape))
def test_the_messages_are_the_expected_ones_and_the_provider_takes_them(case: str, shape: Shape) -> None:
    event = shapes(case)[shape]
    found = {name: event[name] for name in ("system", "messages") if name in event}
    expected = HERE / case / f"expected.{shape}.json"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        expected.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")
    Draft202012Validator(SCHEMA).validate(event)
    assert found == json.loads(expected.read_text("utf-8"))
    assert RULES[shape](**found) == []


def published(case: str, *wanted: Profile) -> list[dict[str, Any]]:
    """The events of a case, one a profile."""
    return [json.loads(encode(context)) for context in asyncio.run(contexts(case, wanted))]


async def contexts(case: str, wanted: tuple[Profile, ...]) -> list[Context]:
    with closing(durable_store()) as store:
        functions = helpers(profile(case).encoding)
        builder = ContextBuilder(store, StoredVectors(folder_of(case)), wanted, functions, HistoryCache(100_000))
        *earlier, trigger = events(case)
        for crumb in earlier:
            await builder.remember(crumb)
        return [context for each in wanted for context in (await builder.build(trigger, (each,))).contexts]
