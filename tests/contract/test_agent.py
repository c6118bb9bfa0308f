"""An agent's steps and tool calls, over a real nats-server with a real service, and over the broker in memory."""

import re
from typing import Any

import pytest

from builder.client import Client, ReceivedContext, Rejected
from builder.client.responses import response_id
from tests.clients import history
from tests.commands import DEADLINE

CALLS: list[dict[str, Any]] = [
    {"tool": "weather", "input": {"city": city}, "requestId": f"call_{city}"} for city in ("Oslo", "Lima")
]


async def test_an_agent_answers_in_steps_and_each_is_stored_once(client: Client) -> None:
    context = await client.ask("s1", "What is the weather?", timeout=DEADLINE)
    first = await client.send_response(context, "Let me look.", tool_requests=CALLS[:1], tags=("busy",))
    await client.send_tool_result("s1", "weather", "call_Oslo", {"celsius": 10})
    second = await client.send_response(context, "Ten degrees.")
    assert [(first.step, first.id), (second.step, second.id)] == [
        (1, response_id(context.id, 1)), (2, response_id(context.id, 2)),
    ]  # fmt: skip
    stored = await client.responses(context)
    assert [(each.step, each.message) for each in stored] == [(1, "Let me look."), (2, "Ten degrees.")]
    assert stored[0].results["call_Oslo"]["output"] == {"celsius": 10}
    again = await client.context(trigger=context.trigger_event_id, session="s1")
    repeated = await client.send_response(again, "Once more.", tool_requests=CALLS[:1])
    assert (repeated.already_answered, repeated.id) == (True, first.id)
    assert [record.schema for record in await history(client, "s1", 4)] == [
        "user.message.v1", "agent.response.v1", "tool.response.v1", "agent.response.v1",
    ]  # fmt: skip
    assert (await client.fetch(first.id)).tags == ("busy",)


async def test_two_calls_at_once_lead_to_one_context_with_both_pairs(client: Client) -> None:
    async with client.subscribed("loop") as contexts:
        await client.send_user_message("s1", "Where is it warmer, Oslo or Lima?")
        first = await anext(contexts)
        assert first.messages[-1]["role"] == "user"
        await client.send_reply(first, completion("", CALLS), tools={"weather": weather})
        second = await anext(contexts)
        tail = second.messages[-3:]
        assert [call["id"] for call in tail[0]["tool_calls"]] == ["call_Oslo", "call_Lima"]
        assert [(message["role"], message["tool_call_id"]) for message in tail[1:]] == [
            ("tool", "call_Oslo"),
            ("tool", "call_Lima"),
        ]
        await client.send_reply(second, completion("In Lima.", []))
    assert [record.schema for record in await history(client, "s1", 5)][-1] == "agent.response.v1"


@pytest.mark.parametrize("sessions", [("_", "_"), ("s1", "_"), ("_", "s1")])
async def test_results_of_no_session_close_the_turn_of_the_session_that_called(client: Client, sessions: tuple[str, str]) -> None:
    first = await client.ask("s1", "Where is it warmer, Oslo or Lima?", consumer="loop", timeout=DEADLINE)
    await client.send_response(first, "", tool_requests=CALLS)
    async with client.subscribed("loop") as contexts:
        results = [
            await client.send_tool_result(session, call["tool"], call["requestId"], call["input"])
            for session, call in zip(sessions, CALLS, strict=True)
        ]
        second = await anext(contexts)
        assert (second.session_id, second.trigger_event_id) == ("s1", results[-1])
        assert [message["role"] for message in second.messages[-3:]] == ["assistant", "tool", "tool"]
        await client.ask("s1", "Thanks.", consumer="loop", timeout=DEADLINE)
        assert (await anext(contexts)).trigger_seq > second.trigger_seq
    assert second.id == (await client.context("loop", trigger=results[-1])).id
    for identity, session in ((results[0], ""), (results[-1], "_")):
        with pytest.raises(Rejected, match="no context of 'loop'"):
            await client.context("loop", trigger=identity, session=session)


async def test_contexts_of_a_session_keep_the_order_of_the_stream_when_results_name_no_session(client: Client) -> None:
    first = await client.ask("s1", "How warm is it in Oslo?", consumer="loop", timeout=DEADLINE)
    async with client.subscribed("loop") as contexts:
        await client.send_response(first, "", tool_requests=CALLS[:1])
        sent = [await client.send_tool_result("_", "weather", "call_Oslo", {"celsius": 10})]
        sent += [await client.send_user_message("s1", f"And in {city}?") for city in ("Lima", "Rome")]
        triggers = [(await anext(contexts)).trigger_event_id for _ in sent]
    assert triggers == sent


async def test_a_reply_in_the_shape_of_anthropic_goes_round_as_well(client: Client) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}}
    async with client.subscribed("claude") as contexts:
        await client.send_user_message("s1", "How warm is it in Oslo?")
        first = await anext(contexts)
        await client.send_reply(
            first, {"role": "assistant", "content": [{"type": "text", "text": "One moment."}, use]}, tools=TOOLS
        )
        calling, result = (await anext(contexts)).messages[-2:]
    assert [part["type"] for part in calling["content"]] == ["text", "tool_use"]
    assert (calling["content"][1]["id"], result["content"][0]["tool_use_id"]) == ("toolu_1", "toolu_1")


async def test_a_tool_that_fails_is_unknown_or_gives_no_json_answers_with_the_reason(client: Client) -> None:
    names = ("broken", "missing", "strange", "shapeless")
    calls = [{"tool": name, "input": "no object" if name == "shapeless" else {}, "requestId": name} for name in names]
    context = await client.ask("s1", "Do it.", consumer="loop", timeout=DEADLINE)
    reply = completion("", calls)
    await client.send_reply(context, reply, tools={"broken": broken, "strange": lambda: {1}, "shapeless": weather})
    (response,) = await client.responses(context)
    errors = {name: response.results[name]["error"] for name in names}
    assert errors["broken"] == "ValueError: out of order"
    assert errors["missing"] == "Rejected: there is no tool 'missing'; there are broken, strange, shapeless"
    assert errors["strange"].startswith("its output cannot be sent: the tool.response.v1 is no JSON")
    assert errors["shapeless"].startswith("Rejected: the arguments of shapeless are a text of")
    assert all("trigger_event_id" not in result for result in response.results.values())


async def test_a_tool_gets_the_id_of_its_call_and_the_context_whatever_the_model_wrote(client: Client) -> None:
    context = await client.ask("s1", "Pay.", consumer="loop", timeout=DEADLINE)
    seen: list[object] = []

    def pay(amount: int, request_id: str, context: ReceivedContext) -> str:
        seen.extend((amount, request_id, context.trigger_event_id))
        return "paid"

    call = {"tool": "pay", "input": {"amount": 3, "request_id": "forged"}, "requestId": "call_pay"}
    await client.send_reply(context, completion("", [call]), tools={"pay": pay})
    assert seen == [3, "call_pay", context.trigger_event_id]


async def test_the_model_reads_what_a_cut_left_out_and_nothing_that_its_page_does_not_name(client: Client) -> None:
    log = "\n".join(f"line {number}: {'ok' if number != 1500 else 'der Zünder ist nass'}" for number in range(5_000))
    hidden = (await client.ask("s2", "My password is plum.", consumer="loop", timeout=DEADLINE)).trigger_event_id
    async with client.subscribed("loop") as contexts:
        await client.send_user_message("s1", "Read the log.")
        reading = {"tool": "read", "input": {}, "requestId": "call_read"}
        await client.send_reply(await anext(contexts), completion("", [reading]), tools={"read": lambda: log})
        page = await anext(contexts)
        assert "Zünder" not in page.content
        named = re.search(r"characters left out, id ([\w-]+) ", page.content)
        assert named
        offset, pieces = 0, ""
        while "Zünder" not in pieces:
            piece = await client.fetch_omitted(named[1], page, offset)
            head, _, words = piece.partition("\n")
            pieces, offset = pieces + words, int(head.removesuffix("]").rpartition(" ")[2])
            assert len(words.encode()) <= 4_000
        assert log.startswith(pieces)
        calls = [
            {"tool": "fetch_omitted", "input": {"id": identity, "offset": offset}, "requestId": f"call_{offset}_{identity[:4]}"}
            for identity, offset in ((named[1], len(log) - 40), (hidden, 0), (named[1], len(log)))
        ]
        await client.send_reply(page, completion("", calls), tools={"fetch_omitted": client.fetch_omitted})
        last, foreign, outside = [message["content"] for message in (await anext(contexts)).messages[-3:]]
    assert last.startswith(f"[characters {len(log) - 40} to {len(log)} of {len(log)}, the end]\n")
    assert last.endswith(log[-40:])
    assert "plum" not in foreign
    assert f"this context names no '{hidden}'" in foreign
    assert f"offset is {len(log)}, and the text has {len(log)} characters" in outside


async def test_a_result_that_is_forgotten_leaves_its_call_answered_and_the_turn_goes_on(client: Client) -> None:
    async with client.subscribed("loop") as contexts:
        await client.send_user_message("s1", "Where is it warmer?")
        first = await anext(contexts)
        await client.send_response(first, "", tool_requests=CALLS)
        secret = await client.send_tool_result("s1", "weather", "call_Oslo", {"celsius": 10})
        await client.forget(secret, session="s1")
        await client.send_tool_result("s1", "weather", "call_Lima", {"celsius": 22})
        second = await anext(contexts)
    assert [message["content"] for message in second.messages[-2:]] == ["(no longer available)", '{"celsius":22}']


async def test_an_agent_that_died_between_its_calls_runs_those_that_are_open(client: Client) -> None:
    context = await client.ask("s1", "Where is it warmer?", consumer="loop", timeout=DEADLINE)
    await client.send_reply(context, completion("", CALLS))
    await client.send_tool_result("s1", "weather", "call_Oslo", {"celsius": 10})
    again = await client.context("loop", session="s1")
    cities: list[str] = []

    def look(city: str) -> None:
        cities.append(city)

    others = [{"tool": "weather", "input": {"city": "Rome"}, "requestId": "call_Rome"}]
    answer = await client.send_reply(again, completion("", others), tools={"weather": look})
    assert (answer.already_answered, cities) == (True, ["Lima"])


def weather(city: str) -> dict[str, float]:
    return {"celsius": {"Oslo": 10.0, "Lima": 19.0}[city]}


TOOLS = {"weather": weather}


async def broken() -> None:
    raise ValueError("out of order")


def completion(text: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    tool_calls = [
        {"id": call["requestId"], "type": "function", "function": {"name": call["tool"], "arguments": json_text(call["input"])}}
        for call in calls
    ]
    return {"choices": [{"message": {"role": "assistant", "content": text or None, "tool_calls": tool_calls or None}}]}


def json_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value).replace("'", '"')


async def test_an_agent_whose_profile_leaves_tools_unanswered_is_warned_once(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(2):
        context = await client.ask(f"s{number}", "Do it.", consumer="default", timeout=DEADLINE)
        reply = completion("", [{"requestId": "c1", "tool": "look", "input": {}}])
        await client.send_reply(context, reply, tools={"look": lambda: "none"})
    (warning,) = [record.getMessage() for record in caplog.records if "results of these tools" in record.getMessage()]
    assert warning.endswith("the profile of 'default' has the triggers user.message.v1; add tool.response.v1")
