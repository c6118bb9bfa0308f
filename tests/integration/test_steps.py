"""An agent says several things to one context: each step is stored once, whichever process sends it, and none is lost."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from builder.adapters.nats.topology import BREADCRUMBS
from builder.client import Client, ReceivedContext, Rejected, connect
from builder.client.replying import Answering
from builder.connection.names import MESSAGE_ID_HEADER
from tests.running import Running, all_settled, jetstream, until

CALL = {"tool": "weather", "input": {"city": "Oslo"}, "requestId": "r1"}


@pytest.fixture
async def client(service: Running) -> AsyncIterator[Client]:
    async with connect(service.url, f"w{uuid4().hex[:8]}") as connected:
        yield connected


@asynccontextmanager
async def another(client: Client, service: Running) -> AsyncIterator[Client]:
    """The same agent in another process: it knows nothing of the first one."""
    async with connect(service.url, client.workspace) as connected:
        yield connected


async def context_of(client: Client, trigger: str, consumer: str = "default") -> ReceivedContext:
    """A delivery of the context of a trigger, as a process gets it that has just begun."""
    async with aclosing(client.contexts(consumer, durable=None, deliver="all")) as contexts:
        async for context in contexts:
            if context.trigger_event_id == trigger:
                return context
    raise AssertionError(trigger)


async def question(client: Client) -> ReceivedContext:
    return await context_of(client, await client.send_user_message("s1", "What is the weather in Oslo?"))


async def spoken(service: Running, client: Client, session: str = "s1") -> list[tuple[str, str]]:
    """Schema and words of everything that is remembered of the session."""
    async with jetstream(service.url) as js:
        await all_settled(js)
    return [(crumb.schema, crumb.text) async for crumb in client.history(session)]


async def test_let_me_look_and_the_answer_are_both_stored_without_a_tool(service: Running, client: Client) -> None:
    context = await question(client)
    for step, words in enumerate(("Let me look.", "It is cold.", "It is cold."), 1):
        assert (await client.send_response(context, words)).step == step
    assert [words for _, words in await spoken(service, client)][1:] == ["Let me look.", "It is cold.", "It is cold."]


async def test_an_agent_that_died_gets_its_first_answer_back_whatever_it_says_now(service: Running, client: Client) -> None:
    first = await client.send_response(await question(client), "It is cold.")
    async with another(client, service) as other:
        (context,) = [await context_of(other, each.id) async for each in client.history("s1") if each.speaker == "User"]
        again = await other.send_response(context, "It is 10 degrees.")
        assert (again.id, again.step, again.already_answered) == (first.id, 1, True)
        assert (await other.send_response(context, "And windy.")).step == 2
    assert [words for _, words in await spoken(service, client)][1:] == ["It is cold.", "And windy."]


@pytest.mark.parametrize(
    ("session", "schema", "body"),
    [
        ("s1", "tool.response.v1", {"tool": "weather", "requestId": "r1", "output": {"celsius": 10}}),
        ("_", "tool.response.v1", {"tool": "weather", "request_id": "r1", "output": {"celsius": 10}}),
        ("s1", "tool.error.v1", {"tool_name": "weather", "request_id": "r1", "error_message": "no answer"}),
    ],
)
async def test_once_each_call_has_its_result_the_next_step_follows_in_any_process(
    service: Running, client: Client, session: str, schema: str, body: dict[str, Any]
) -> None:
    context = await question(client)
    calls = [CALL, CALL | {"requestId": "r2"}]
    first = await client.send_response(context, "Let me look.", tool_requests=calls)
    async with another(client, service) as other:
        await client.send_tool_result("s1", "weather", "r2", {"celsius": 11})
        early = await other.send_response(await context_of(other, context.trigger_event_id), "It is 10 degrees.")
        assert (early.id, early.already_answered) == (first.id, True)
        async with jetstream(service.url) as js:
            record = json.dumps({"id": f"result-{uuid4()}", "context": body}).encode()
            await js.publish(f"breadcrumbs.{client.workspace}.{session}.{schema}", record, stream=BREADCRUMBS)
        answer = await other.send_response(await context_of(other, context.trigger_event_id), "It is 10 degrees.")
        assert (answer.step, answer.already_answered) == (2, False)
    last = await client.send_response(await context_of(client, context.trigger_event_id), "It is cold.")
    assert (last.id, last.step, last.already_answered) == (answer.id, 2, True)


async def test_the_step_does_not_hang_on_the_server_s_memory_of_message_ids(service: Running, client: Client) -> None:
    context = await question(client)
    first = await client.send_response(context, "It is cold.")
    async with jetstream(service.url) as js:
        config = (await js.stream_info(BREADCRUMBS)).config
        window = config.duplicate_window

        async def is_new() -> bool:
            """Whether a message is taken whose id was used after the answer's."""
            subject, headers = f"breadcrumbs.{client.workspace}.probe.note.v1", {MESSAGE_ID_HEADER: "probe"}
            data = b'{"id": "probe", "context": {"content": ""}}'
            return not (await js.publish(subject, data, stream=BREADCRUMBS, headers=headers)).duplicate

        try:
            await js.update_stream(config.evolve(duplicate_window=0.1))
            assert await is_new()
            await until(is_new, "the server to forget message ids")
            again = await client.send_response(await context_of(client, context.trigger_event_id), "It is 10 degrees.")
        finally:
            await js.update_stream(config.evolve(duplicate_window=window))
    assert (again.id, again.already_answered) == (first.id, True)
    assert [words for _, words in await spoken(service, client)][1:] == ["It is cold."]


async def test_two_processes_that_answer_at_once_store_one_answer(service: Running, client: Client) -> None:
    trigger = (await question(client)).trigger_event_id
    async with another(client, service) as other:
        contexts = [await context_of(each, trigger) for each in (client, other) * 4]
        senders = zip((client, other) * 4, contexts, strict=True)
        sending = (each.send_response(context, f"Answer {number}.") for number, (each, context) in enumerate(senders))
        answers = await asyncio.gather(*sending)
    assert len({answer.id for answer in answers}) == 1
    assert sorted(answer.already_answered for answer in answers) == [False, *[True] * 7]
    assert len(await spoken(service, client)) == 2


async def test_two_answers_sent_at_once_through_one_delivery_are_two_steps(service: Running, client: Client) -> None:
    context = await question(client)
    answers = await asyncio.gather(*(client.send_response(context, f"Part {number}.") for number in range(5)))
    assert sorted(answer.step for answer in answers) == [1, 2, 3, 4, 5]
    assert len(await spoken(service, client)) == 6


async def test_a_step_and_an_id_of_one_s_own_are_taken_as_they_are(service: Running, client: Client) -> None:
    context = await question(client)
    for step, stored in ((2, True), (2, False), (1, True)):
        answer = await client.send_response(context, "By its number.", step=step)
        assert (answer.step, answer.already_answered) == (step, not stored)
    own = await client.send_response(context, "Mine.", message_id=f"mine-{client.workspace}")
    again = await client.send_response(context, "Mine.", message_id=f"mine-{client.workspace}")
    assert (own.step, own.already_answered, again.step, again.already_answered) == (3, False, 3, True)
    with pytest.raises(Rejected, match=r"already has a breadcrumb with this id, on breadcrumbs\.\w+\.s1.*, and context\.message"):
        await client.send_response(context, "Something else.", message_id=f"mine-{client.workspace}")
    with pytest.raises(Rejected, match="step is 0"):
        await client.send_response(context, "Nothing.", step=0)
    assert len(await spoken(service, client)) == 4


async def test_where_too_much_was_said_to_find_the_step_the_agent_is_told_to_name_it(client: Client) -> None:
    context = await question(client)
    first = await client.send_response(context, "Let me look.", tool_requests=[CALL])
    for number in range(3):
        await client.send_tool_result("s1", "weather", f"other-{number}", {"celsius": number})
    short = Answering(client._stream, client, max_messages=2)
    body = {"message": "It is cold.", "trigger_event_id": context.trigger_event_id, "creator": {"agent_id": "default"}}
    with pytest.raises(Rejected, match=r"more than 2 messages on \S+\.tool\.response\.v1 come after .*name it"):
        await short.send(context, body, None, "")
    again = await short.send(context, body, 1, "")
    assert (again.id, again.already_answered) == (first.id, True)
    assert (await short.send(context, body, 2, "")).already_answered is False


async def test_many_agents_answer_in_one_session_at_once_and_none_is_lost(service: Running, client: Client) -> None:
    context = await question(client)
    agents = [
        replace(context, consumer_id=f"agent{n}", event={**context.event, "id": str(uuid4())}, steps=set()) for n in range(12)
    ]
    answers = await asyncio.gather(*(client.send_response(agent, f"I am {agent.consumer_id}.") for agent in agents))
    assert [(answer.step, answer.already_answered) for answer in answers] == [(1, False)] * 12
    assert len(await spoken(service, client)) == 13


async def test_a_step_whose_answer_was_forgotten_is_not_taken_again(service: Running, client: Client) -> None:
    context = await question(client)
    first = await client.send_response(context, "A secret.")
    await spoken(service, client)
    await client.forget(first.id)
    delivered_again = replace(context, steps=set())
    answer = await client.send_response(delivered_again, "Said anew.")
    assert (answer.step, answer.already_answered) == (2, False)
    with pytest.raises(Rejected, match="was forgotten, nothing is kept under its id again"):
        await client.send_response(delivered_again, "Once more.", step=1)
    assert ("agent.response.v1", "Said anew.") in await spoken(service, client)


async def test_two_responses_with_ids_of_their_own_have_two_steps(service: Running, client: Client) -> None:
    context = await question(client)
    assert (await client.send_response(context, "One.", message_id="own-1")).step == 1
    async with another(client, service) as other:
        again = await context_of(other, context.trigger_event_id)
        assert (await other.send_response(again, "Two.", message_id="own-2")).step == 2
        with pytest.raises(Rejected, match="step 2 has the response 'own-2' already"):
            await other.send_response(again, "Three.", message_id="own-3", step=2)
    assert [response.step for response in await client.responses(context)] == [1, 2]


async def test_in_a_stream_that_was_made_again_an_agent_goes_on_with_its_next_step(service: Running, client: Client) -> None:
    """A context of the former stream has a sequence that the new one has not come to."""
    context = replace(await question(client), trigger_seq=10**9)
    assert [(await client.send_response(context, words)).step for words in ("Let me look.", "It is cold.")] == [1, 2]
    async with another(client, service) as other:
        again = replace(await context_of(other, context.trigger_event_id), trigger_seq=10**9)
        assert (await other.send_response(again, "It is warm.")).already_answered


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("said", [1, 2, 3])
@pytest.mark.parametrize("same_ids", [True, False], ids=["the same request ids", "new request ids"])
async def test_an_agent_that_starts_over_says_nothing_twice_however_far_it_came(
    client: Client, said: int, same_ids: bool
) -> None:
    """said: 1 = it died behind its call, 2 = behind the result, 3 = behind its answer."""

    async def agent(context: ReceivedContext, request: str, words: str, steps: int) -> list[tuple[int, bool]]:
        calls = [CALL | {"requestId": request}]
        answers = [await client.send_response(context, "Let me look.", tool_requests=calls)]
        if steps > 1:
            await client.send_tool_result(
                "s1", "weather", request, {"celsius": 10}, message_id=f"{context.event['id']}-{request}"
            )
        if steps > 2:
            answers.append(await client.send_response(context, words))
        return [(answer.step, answer.already_answered) for answer in answers]

    context = await question(client)
    await agent(context, "q1", "It is 10 degrees.", said)
    again = await agent(await context_of(client, context.trigger_event_id), "q1" if same_ids else "q2", "Ten degrees.", 3)
    if same_ids or said != 2:
        assert again == [(1, True), (2, said == 3)]
    else:  # what calls under new ids, once all results are there, may as well be the next round of another process
        assert again == [(2, False), (3, False)]
