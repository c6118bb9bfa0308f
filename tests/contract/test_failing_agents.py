"""Agents whose handlers fail or end, sessions side by side, and refreshed contexts: on a real broker and in memory."""

import asyncio
from typing import Any

import pytest

from builder.client import Client, ReceivedContext, Rejected
from builder.wire.records import make_record, outgoing
from tests.clients import history
from tests.serving import Model, answered, calls, serving


async def test_a_handler_that_returns_none_leaves_the_message_without_an_answer(client: Client) -> None:
    pages = asyncio.Queue[ReceivedContext]()
    async with serving(client, pages.put_nowait):
        for number in (1, 2):
            await client.send_user_message("s1", f"Note {number}.")
            await pages.get()
    assert [record.schema for record in await history(client, "s1", 2)] == ["user.message.v1"] * 2


async def test_a_handler_that_fails_is_called_again(client: Client) -> None:
    attempts: list[str] = []

    def handler(context: ReceivedContext) -> str:
        attempts.append(context.id)
        if len(attempts) < 2:
            raise RuntimeError("429 Too Many Requests")
        return "Here."

    async with serving(client, handler):
        await client.send_user_message("s1", "Hello.", message_id="m1")
        assert await answered(client, "s1", 1) == [("m1",)]
    assert len(attempts) == 2
    assert len(set(attempts)) == 1


async def test_a_context_that_fails_for_the_last_time_is_answered_by_on_failure_and_the_next_one_goes_on(client: Client) -> None:
    def handler(context: ReceivedContext) -> str:
        if "bad" in context.content:
            raise RuntimeError("400 Bad Request")
        return "Good."

    def give_up(context: ReceivedContext, error: Exception) -> str:
        return f"I cannot answer {', '.join(context.questions)}: {error}"

    async with serving(client, handler, attempts=2, on_failure=give_up):
        await client.send_user_message("s1", "A bad one.", message_id="m1")
        assert await answered(client, "s1", 1) == [("m1",)]
        await client.send_user_message("s2", "Another.", message_id="m2")
        assert await answered(client, "s2", 1) == [("m2",)]
    assert (await history(client, "s1", 2))[-1].text == "I cannot answer m1: 400 Bad Request"


async def test_what_an_agent_leaves_unanswered_goes_to_another_one_at_once(client: Client) -> None:
    first = Model(uses_tools=False)
    first.opened.clear()
    async with serving(client, first, ack_wait=600):
        await client.send_user_message("s1", "Hello.", message_id="m1")
        await first.entered.wait()
    async with serving(client, Model(uses_tools=False), ack_wait=600):
        assert await answered(client, "s1", 1) == [("m1",)]


async def test_a_loop_over_contexts_that_is_left_gives_its_last_context_back_and_no_earlier_one(client: Client) -> None:
    async with client.subscribed("loop") as contexts:
        for name in ("m1", "m2"):
            await client.send_user_message("s1", "Hello.", message_id=name)
            assert (await anext(contexts)).trigger_event_id == name
    async with client.subscribed("loop") as contexts:
        assert (await anext(contexts)).trigger_event_id == "m2"


async def test_sessions_are_served_side_by_side_and_one_session_in_order(client: Client) -> None:
    everybody, order = asyncio.Barrier(3), list[tuple[str, str]]()

    async def handler(context: ReceivedContext) -> str:
        order.append((context.session_id, context.trigger_event_id))
        if context.trigger_event_id.startswith("first"):
            await everybody.wait()
        return "Yes."

    async with serving(client, handler, parallel=3):
        for name in ("a", "b", "c"):
            await client.send_user_message(name, "One.", message_id=f"first-{name}", speaker="Ada")
            await client.send_user_message(name, "Two.", message_id=f"second-{name}", speaker="Bo")
        for name in ("a", "b", "c"):
            await answered(client, name, 2)
    assert [[trigger for session, trigger in order if session == name] for name in ("a", "b", "c")] == [
        [f"first-{name}", f"second-{name}"] for name in ("a", "b", "c")
    ]


async def test_a_refreshed_context_has_what_came_since_under_its_own_id(client: Client) -> None:
    async with client.subscribed("loop") as contexts:
        await client.send_user_message("s1", "Can I return a lamp?", message_id="m1")
        first = await anext(contexts)
        await client.send_user_message("s1", "It is the Comet.", message_id="m2")
        second = await anext(contexts)
        assert (second.questions, second.supersedes) == (("m1", "m2"), first.id)
        await client.send_response(first, "Within 30 days.")
        fresh = await client.refresh(second)
    assert (fresh.id, fresh.questions, fresh.is_over) == (second.id, ("m2",), False)
    assert fresh.event["as_of"] > second.trigger_seq
    assert "Within 30 days." in fresh.content
    assert (await client.refresh(first)).is_over
    assert not (await client.send_response(fresh, "The Comet, too.")).already_answered


async def test_two_answers_to_one_message_are_one(client: Client) -> None:
    async with client.subscribed("loop") as contexts:
        for number in (1, 2):
            await client.send_user_message("s1", f"Message {number}.", message_id=f"m{number}")
        first, second = await anext(contexts), await anext(contexts)
        await client.send_response(second, "To both.")
        assert (await client.send_response(first, "To the first.")).already_answered
        await client.send_user_message("s1", "Message 3.", message_id="m3")
        await client.send_user_message("s1", "Message 4.", message_id="m4")
        third, fourth = await anext(contexts), await anext(contexts)
        await client.send_response(third, "To the third.")
        with pytest.raises(Rejected, match=r"1 of the 2 messages that context .* were answered meanwhile"):
            await client.send_response(fourth, "To both.")
    assert len(await history(client, "s1", 6)) == 6


async def test_the_results_of_a_turn_that_a_note_began_are_read(client: Client) -> None:
    pages: list[ReceivedContext] = []

    def handler(context: ReceivedContext) -> Any:
        pages.append(context)
        return "It is 99 degrees." if len(pages) > 1 else calls("call-1")

    async with serving(client, handler, "watch", tools={"look": lambda: "99 degrees"}):
        await client.send("note.v1", {"content": "The pump is hot."}, session="s1", id="n1")
        assert (await history(client, "s1", 4))[-1].text == "It is 99 degrees."
    assert pages[0].trigger_event_id == "n1"


async def test_a_handler_that_is_cancelled_or_runs_out_of_words_fails_like_any_other(client: Client) -> None:
    async def cancelled(context: ReceivedContext) -> str:
        if context.session_id == "s1":
            raise asyncio.CancelledError
        return "Yes."

    async with serving(client, cancelled, attempts=1, on_failure=lambda _context, error: str(error)):
        await client.send_user_message("s1", "Hello.", message_id="m1")
        assert await answered(client, "s1", 1) == [("m1",)]
        await client.send_user_message("s1", "Still there?", message_id="m2")
        assert await answered(client, "s1", 2) == [("m1",), ("m2",)]
    replies = iter(["Once."])
    async with serving(client, lambda _context: next(replies), attempts=1, on_failure=lambda _context, error: str(error)):
        await client.send_user_message("s2", "One.", message_id="m3")
        await answered(client, "s2", 1)
        await client.send_user_message("s2", "Two.", message_id="m4")
        assert await answered(client, "s2", 2) == [("m3",), ("m4",)]
    assert (await history(client, "s2", 4))[-1].text == "StopIteration()"


async def test_an_answer_to_a_message_that_was_deleted_meanwhile_is_not_stored(client: Client) -> None:
    async with client.subscribed("loop") as contexts:
        await client.send_user_message("s1", "My secret is 1234.", message_id="m1")
        context = await anext(contexts)
        await client.forget("m1", session="s1")
        with pytest.raises(Rejected, match="the message m1 was deleted meanwhile"):
            await client.send_response(context, "You said: My secret is 1234.")


async def test_a_line_of_an_import_takes_no_messages_answer(client: Client) -> None:
    async with client.subscribed("loop"):
        pass
    await client.send_user_message("s1", "Where is my order?", message_id="m1")
    record = make_record("user.message.v1", "old", "s1", {"content": "An older line."})
    await client.publish(outgoing(record, client.workspace), replay=True)
    await history(client, "s1", 2)
    async with serving(client, Model(uses_tools=False)):
        assert await answered(client, "s1", 1) == [("m1",)]
