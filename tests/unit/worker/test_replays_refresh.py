"""A page that is refreshed, over the service in memory."""

import json
import re
from typing import Any

import pytest

from builder.client.client import Client
from builder.testing import memory_client

AGENT = {"extends": "default", "triggers": ["user.message.v1", "tool.response.v1"]}
CALLED = {"tool_requests": [{"tool": "probe", "input": {"kiln": "north"}, "requestId": "r1"}]}


async def respond(client: Client, to: str, text: str, calls: dict[str, Any] | None = None) -> None:
    body = {"message": text, "trigger_event_id": to, "creator": {"agent_id": "kiln"}} | (calls or {})
    await client.send("agent.response.v1", body, session="s1")


@pytest.mark.parametrize("chat_format", ["openai", "anthropic"])
async def test_a_refreshed_page_says_what_was_answered_meanwhile_and_asks_for_the_rest(chat_format: str) -> None:
    note = "(1 message was answered meanwhile; answer the rest)"
    async with memory_client(profiles={"kiln": AGENT | {"chat_format": chat_format}}) as client:
        asked = await client.send_user_message("s1", "How hot is it?", user_id="ada")
        await respond(client, asked, "", CALLED)
        other = await client.send_user_message("s1", "May I open the lid?", user_id="bob")
        result = await client.send("tool.response.v1", {"tool": "probe", "output": "981 C", "request_id": "r1"}, session="s1")
        published = await client.request("context", {"trigger": result, "consumer": "kiln"})
        await respond(client, other, "No, it is too hot.")
        fresh = await client.request("refresh", {"trigger": result, "consumer": "kiln"})
        over = await client.request("refresh", {"trigger": other, "consumer": "kiln"})
    assert (published["questions"], fresh["questions"]) == ([asked, other], [asked])
    current = rf"## Current User Message\n{re.escape(note)}\n\[\d+ \w+ \d+\]\n- User: How hot is it\?\n"
    assert re.search(rf"{current}\Z", fresh["content"])
    assert [json.dumps(event["messages"]).count(note) for event in (published, fresh, over)] == [0, 1, 0]
    assert (over["is_over"], note in over["content"]) == (True, False)
