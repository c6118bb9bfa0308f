"""What an agent says in the end, over a real nats-server with a real service, and over the broker in memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from builder.client import Client, ReceivedContext, Rejected, Unavailable
from builder.client.asking import AnswerSteps
from builder.wire.records import make_record, outgoing
from tests.clients import history
from tests.commands import DEADLINE

QUESTION = "Is it warmer in Oslo or in Lima?"
Work = Callable[[ReceivedContext], Awaitable[Any]]


@asynccontextmanager
async def listening(client: Client, work: Work, consumer: str = "loop") -> AsyncIterator[None]:
    async with client.subscribed(consumer) as contexts:

        async def serve() -> None:
            async for context in contexts:
                await work(context)

        task = asyncio.create_task(serve())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})


async def answer_of(steps: AnswerSteps) -> str:
    return await steps


def call(city: str) -> dict[str, Any]:
    return {"tool": "weather", "input": {"city": city}, "requestId": f"call_{city}"}


def asked(client: Client, text: str, message_id: str, consumer: str = "loop", timeout: float = DEADLINE) -> AnswerSteps:
    return client.answer("s1", text, consumer=consumer, message_id=message_id, timeout=timeout)


async def test_the_answer_comes_through_all_rounds_of_tools_and_its_steps_are_seen(client: Client) -> None:
    cities = ["Oslo", "Lima"]

    async def work(context: ReceivedContext) -> None:
        if not cities:
            await client.send_response(context, "In Lima.")
            return
        city = cities.pop(0)
        await client.send_response(context, f"{city} first.", tool_requests=[call(city)])
        await client.send_tool_result("s1", "weather", f"call_{city}", city)

    async with listening(client, work):
        steps = [step async for step in asked(client, QUESTION, "m1")]
        again = await asked(client, QUESTION, "m1")
    assert [step.message for step in steps] == ["Oslo first.", "Lima first.", "In Lima."]
    assert [[request["tool"] for request in step.tool_requests] for step in steps] == [["weather"], ["weather"], []]
    assert [result["output"] for step in steps for result in step.results.values()] == ["Oslo", "Lima"]
    assert again == "In Lima."
    assert [record.schema for record in await history(client, "s1", 6)].count("user.message.v1") == 1


async def test_two_messages_in_a_row_have_the_answer_of_the_page_that_has_both(client: Client) -> None:
    pages: list[ReceivedContext] = []
    first_came = asyncio.Event()

    async def work(context: ReceivedContext) -> None:
        pages.append(context)
        first_came.set()
        if context.supersedes:
            await client.send_response(context, "The red one is booked.")

    async with listening(client, work):
        first = asyncio.create_task(answer_of(asked(client, "Book the blue one.", "m1")))
        await first_came.wait()
        assert await asked(client, "I meant the red one.", "m2") == "The red one is booked."
        assert await first == "The red one is booked."
    assert [page.trigger_event_id for page in pages] == ["m1", "m2"]


async def test_a_message_that_comes_while_a_tool_runs_has_the_answer_that_covers_it(client: Client) -> None:
    calls, both = asyncio.Event(), asyncio.Event()

    async def work(context: ReceivedContext) -> None:
        if context.trigger_event_id == "m1":
            await client.send_response(context, "", tool_requests=[call("Oslo")])
            calls.set()
        elif context.trigger_event_id == "m2":
            both.set()
        else:
            await client.send_response(context, "Ten degrees, you are welcome.")

    async with listening(client, work):
        first = asyncio.create_task(answer_of(asked(client, "How warm is it in Oslo?", "m1")))
        await calls.wait()
        second = asyncio.create_task(answer_of(asked(client, "Thanks for looking!", "m2")))
        await both.wait()
        await client.send_tool_result("s1", "weather", "call_Oslo", 10)
        assert {*await asyncio.gather(first, second)} == {"Ten degrees, you are welcome."}


async def test_only_the_agent_of_the_consumer_answers(client: Client) -> None:
    criticised = asyncio.Event()

    async def criticise(context: ReceivedContext) -> None:
        await client.send_response(context, "A bad question.")
        criticised.set()

    async def work(context: ReceivedContext) -> None:
        await criticised.wait()
        await client.send_response(context, "In Lima.")

    async with listening(client, criticise, "critic"), listening(client, work):
        assert await asked(client, QUESTION, "m1") == "In Lima."
        assert await asked(client, QUESTION, "m1", "critic") == "A bad question."


async def test_what_an_agent_says_to_another_one_is_a_step_and_the_answer_comes_after_it(client: Client) -> None:
    async def work(context: ReceivedContext) -> None:
        step = await client.send_response(context, "Check Lima, please.", to="critic")
        critic = {"type": "agent", "agent_id": "critic"}
        body = {"message": "It is right.", "trigger_event_id": step.id, "creator": critic}
        reply = await client.send("agent.response.v1", body, session="s1")
        loop = {"type": "agent", "agent_id": "loop"}
        await client.send("agent.response.v1", {"message": "In Lima.", "trigger_event_id": reply, "creator": loop}, session="s1")

    async with listening(client, work):
        assert [step.message async for step in asked(client, QUESTION, "m1")] == ["Check Lima, please.", "In Lima."]


async def test_an_agent_without_the_client_is_followed_by_the_results_of_its_calls_even_of_no_session(client: Client) -> None:
    """It names no message, only what triggered it."""

    async def say(trigger: str, text: str, **more: Any) -> None:
        creator = {"type": "agent", "agent_id": "loop"}
        body = {"message": text, "trigger_event_id": trigger, "creator": creator, **more}
        await client.send("agent.response.v1", body, session="s1")

    async def work(context: ReceivedContext) -> None:
        if context.trigger_event_id == "m1":
            await say("m1", "", tool_requests=[call("Oslo")])
            await client.send_tool_result("_", "weather", "call_Oslo", 10)
        else:
            await say("another message", "This is about something else.")
            await say(context.trigger_event_id, "Ten degrees.")

    async with listening(client, work):
        steps = [step async for step in asked(client, "How warm is it in Oslo?", "m1")]
    assert [step.message for step in steps] == ["", "Ten degrees."]
    assert steps[0].results["call_Oslo"]["output"] == 10


async def test_without_an_answer_in_time_the_same_call_waits_again(client: Client) -> None:
    with pytest.raises(
        Unavailable, match=r"m1 was sent, and 'loop' has not answered it within 1 s; (no process fetches|does it run)"
    ):
        await asked(client, QUESTION, "m1", timeout=1)
    context = await client.ask("s1", QUESTION, consumer="loop", message_id="m1", timeout=DEADLINE)
    await client.send_response(context, "In Lima.")
    assert await asked(client, QUESTION, "m1") == "In Lima."


async def test_a_message_that_the_broker_no_longer_knows_by_its_id_is_not_sent_again(client: Client) -> None:
    """The broker knows ids for two minutes; this message has none for it."""
    event = outgoing(make_record("user.message.v1", "m1", "s1", {"content": QUESTION}), client.workspace)
    await client._js.publish(event.subject, event.data, stream="BREADCRUMBS")
    await history(client, "s1", 1)
    context = await client.ask("s1", QUESTION, consumer="loop", message_id="m1", timeout=DEADLINE)
    await client.send_response(context, "In Lima.")
    assert await asked(client, QUESTION, "m1") == "In Lima."
    assert [record.id async for record in client.history("s1")].count("m1") == 1


async def test_what_nobody_can_answer_is_refused_before_anything_is_sent(client: Client) -> None:
    with pytest.raises(Rejected, match="its profile has no triggers"):
        await asked(client, QUESTION, "m1", "silent")
    with pytest.raises(Rejected, match="known are"):
        await asked(client, QUESTION, "m1", "nobody")
    assert [record async for record in client.history("s1")] == []
