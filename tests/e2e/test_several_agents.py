"""The example of `builder/docs/several-agents.md`: who hears whom, and who is woken by whom."""

import runpy
from pathlib import Path

from builder.client import Client, Rejected
from builder.testing import memory_client

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "builder" / "docs" / "examples" / "several_agents.py"))


async def test_three_agents_write_to_each_other_and_one_answers_the_person() -> None:
    async with memory_client(profiles=EXAMPLE["PROFILES"]) as client:
        assert await EXAMPLE["answer"](client, "s1", "I need a mean.") == "mean is written and reviewed."
        said = [(record.speaker, record.text) async for record in client.history("s1")]
        assert [speaker for speaker, _ in said] == ["Maya", "Planner", "Coder", "Critic", "Coder", "Critic", "Planner"]
        pages = {name: (await client.context(name, session="s1")).content for name in ("planner", "coder", "critic")}
        _, _, current = pages["coder"].partition("## Current Message of an Agent\n")
        assert current.splitlines()[1:] == ["- Critic: It fails for an empty list."]
        assert pages["critic"].endswith("- Coder: return sum(numbers) / len(numbers) if numbers else None\n")
        assert "I need a mean." not in pages["coder"] + pages["critic"]
        assert "Write mean(numbers)." not in pages["critic"]
        assert "It fails" not in pages["planner"]
        await is_woken_by_nothing_more(client)


async def is_woken_by_nothing_more(client: Client) -> None:
    """The answer to everybody, and the word of one agent to another, make no further context."""
    crumbs = [record async for record in client.history("s1")]
    woken: dict[str, list[str]] = {}
    for record in crumbs:
        for name in EXAMPLE["PROFILES"]:
            try:
                await client.context(name, trigger=record.id, session="s1")
            except Rejected:
                continue
            woken.setdefault(record.speaker, []).append(name)
    assert woken == {"Maya": ["planner"], "Planner": ["coder"], "Coder": ["critic", "critic"], "Critic": ["coder", "planner"]}
