"""A page that is refreshed, and the same page explained later, over the service in memory."""

import json
from typing import Any

from builder.client.client import Client
from builder.extras.explain.answers import receipt_values
from builder.extras.explain.reports import comparison_text
from builder.testing import memory_client
from tests.explanations import make_explanation
from tests.factories import make_remembered

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


def test_a_receipt_is_json_with_short_numbers_and_without_what_is_not_known() -> None:
    rows = [make_remembered(f"Number {n} of the kilns is hot.", n) for n in range(1, 40)]
    _, explanation = make_explanation(make_remembered("Which kiln is hot?", 50), rows)
    values = receipt_values(explanation.receipt())
    assert json.loads(json.dumps(values)) == values
    heading = values["parts"][0]
    assert heading == {"first": 1, "last": 1, "section": "conversation", "tokens": 0, "reduced": "", "reason": heading["reason"]}
    assert values["budget"]["unused"] == values["budget"]["allowance"] - values["budget"]["tokens"]
    probabilities = [absent["evidence"]["probability"] for absent in values["absent"] if "evidence" in absent]
    assert all(len(str(value)) <= 12 for value in probabilities)
