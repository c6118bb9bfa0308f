"""The page once more as messages, in each provider's shape: expected.openai.json and expected.anthropic.json beside expected.md.

`chat_messages` has calls of one message of which one is not answered, a result without its call, a tool request, an id used
twice, a name that no provider takes, long arguments, and images; `code_in_chat` has code of a person, an agent and a tool, two
people, short answers, and a failure on the next day; `two_agents` has another agent's words and calls; `hidden_results` has calls
whose results may not be seen; `loop_of_twenty_rounds` is a long tool loop; `memory_of_a_person` has rules and talk of other
sessions in its system message. UPDATE_GOLDEN=1 writes the files.
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator

from builder.adapters.embedding import CachedEmbedder
from builder.app.config import bundled_folder
from builder.domain.profile import Profile
from builder.publish.event import encode
from builder.recall.scopes import HistoryCache
from builder.service import ContextBuilder
from tests.chat_rules import broken_by_anthropic, broken_by_openai
from tests.golden.test_golden import events, helpers, profile
from tests.stores import durable_store

CASES = ("chat_messages", "code_in_chat", "hidden_results", "loop_of_twenty_rounds", "memory_of_a_person", "two_agents")
SCHEMA = json.loads((bundled_folder("schemas") / "agent.context.v1.json").read_text("utf-8"))
HERE = Path(__file__).parent
Shape = Literal["openai", "anthropic"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
async def test_the_messages_are_the_expected_ones_and_the_provider_takes_them(
    case: str, shape: Shape, embedder: CachedEmbedder
) -> None:
    event = await published(case, replace(profile(case), chat_format=shape), embedder)
    found = {name: event[name] for name in ("system", "messages") if name in event}
    expected = HERE / case / f"expected.{shape}.json"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        expected.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")
    Draft202012Validator(SCHEMA).validate(event)
    assert found == json.loads(expected.read_text("utf-8"))
    broken = broken_by_openai(**found) if shape == "openai" else broken_by_anthropic(**found)
    assert broken == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_profile_keeps_the_words_of_people_out_of_the_system_message(embedder: CachedEmbedder) -> None:
    wanted = replace(profile("memory_of_a_person"), chat_format="openai", words_of_people="user", system_prompt="You cook.")
    system, last = (await published("memory_of_a_person", wanted, embedder))["messages"]
    assert system == {"role": "system", "content": "## Role\nYou cook."}
    assert last["role"] == "user"
    assert last["content"][0]["text"].startswith("## Earlier Conversations\n[2 March 2026]\n- Assistant: Hello!")
    assert "## Standing Instructions\n- Lena: And please always give quantities in grams" in last["content"][0]["text"]
    assert last["content"][0]["text"].endswith("## Current User Message\n")
    assert last["content"][1]["text"].startswith("Good morning!")


async def published(case: str, wanted: Profile, embedder: CachedEmbedder) -> dict[str, Any]:
    """The event of a case."""
    builder = ContextBuilder(durable_store(), embedder, (wanted,), helpers(), HistoryCache(100_000))
    *earlier, trigger = events(case)
    for crumb in earlier:
        await builder.remember(crumb)
    (context,) = (await builder.build(trigger, (wanted,))).contexts
    event: dict[str, Any] = json.loads(encode(context))
    return event
