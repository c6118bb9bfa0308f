"""A page that is refreshed, and the same page explained later, over the service in memory."""

import json
import re
from typing import Any

import pytest

from builder.cli.reports import comparison_text
from builder.client.client import Client
from builder.testing import memory_client

AGENT = {"extends": "default", "triggers": ["user.message.v1", "tool.response.v1"]}


async def publish_catalog(client: Client, tool: str) -> None:
    body = {"tools": [{"name": tool, "description": f"Reads a {tool}."}]}
    await client.send("tool.catalog.v1", body, session="_")


async def remark(client: Client, text: str) -> None:
    await client.send("agent.response.v1", {"message": text, "creator": {"agent_id": "door"}}, session="s1")


async def test_a_refreshed_page_is_explained_as_of_its_place_whatever_came_since() -> None:
    async with memory_client(profiles={"kiln": AGENT}) as client:
        await publish_catalog(client, "thermometer")
        context = await client.ask("s1", "How hot is the kiln?", consumer="kiln", user_id="ada")
        name = {"trigger": context.trigger_event_id, "consumer": "kiln"}
        await remark(client, "The door is shut.")
        await publish_catalog(client, "pyrometer")
        bob = await client.send_user_message("s1", "And the studio?", user_id="bob")
        fresh = await client.request("refresh", name)
        await remark(client, "It opens.")
        await publish_catalog(client, "scale")
        at: dict[str, Any] = name | {"as_of": fresh["as_of"]}
        explained, compared = await client.request("explain", at), await client.request("replay", at)
        await check(client, at | {"id": bob})
        published = await client.request("explain", name)
    texts = ("The door is shut.", "pyrometer", "studio", "It opens.")
    assert [text in fresh["content"] for text in texts] == [True, True, False, False]
    assert (fresh["id"], fresh["refreshed"]) == (str(context.id), True)
    assert (explained["content"], explained["is_same"]) == (fresh["content"], None)
    assert f"refreshed as of sequence {fresh['as_of']}" in explained["notes"][0]
    assert (compared["before"]["content"], compared["after"]) == (context.content, fresh)
    assert "+" in comparison_text(compared, is_other=False)
    assert (published["content"], published["is_same"], published["notes"]) == (context.content, True, [])


async def check(client: Client, request: dict[str, Any]) -> None:
    answer = await client.request("why", request)
    assert "belongs to a context of its own" in answer["sentence"]


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
