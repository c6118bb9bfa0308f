"""Agents that serve, over a real nats-server with a real service, and over the broker in memory: who is answered by what."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from builder.client import Client, ReceivedContext, Rejected
from tests.clients import history
from tests.running import until

Handler = Callable[[ReceivedContext], Any]


def calls(*requests: str, text: str = "") -> dict[str, Any]:
    """A reply of OpenAI that calls the tool `look` once for each request id."""
    functions = [{"id": each, "type": "function", "function": {"name": "look", "arguments": "{}"}} for each in requests]
    return {"role": "assistant", "content": text or None, "tool_calls": functions}


def words(context: ReceivedContext) -> list[str]:
    """What people say on the page, and what it has of results."""
    return [str(message["content"]) for message in context.messages if message["role"] in {"user", "tool"}]


class Gate:
    """A tool that waits until it may go on."""

    def __init__(self) -> None:
        self.entered, self.opened = asyncio.Event(), asyncio.Event()

    async def look(self) -> str:
        self.entered.set()
        await self.opened.wait()
        return "lost in Rotterdam"


class Model:
    """Calls the tool where the page ends with no result, and answers from what it reads."""

    def __init__(self, *, uses_tools: bool = True) -> None:
        self.pages: list[ReceivedContext] = []
        self.entered, self.opened = asyncio.Event(), asyncio.Event()
        self.opened.set()
        self._uses_tools = uses_tools

    async def __call__(self, context: ReceivedContext) -> Any:
        self.pages.append(context)
        self.entered.set()
        await self.opened.wait()
        if self._uses_tools and not any(message["role"] == "tool" for message in context.messages):
            return calls(f"call-{context.id[:8]}")
        return f"answer to {', '.join(context.questions)}"


@asynccontextmanager
async def serving(client: Client, handler: Handler, consumer: str = "loop", **options: Any) -> AsyncIterator[None]:
    """An agent for the block. Its durable exists when the block begins."""
    async with client.subscribed(consumer):
        pass
    task = asyncio.create_task(client.serve(consumer, handler, **options))
    try:
        yield
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def answered(client: Client, session: str, count: int) -> list[tuple[str, ...]]:
    """The messages that each final answer answers, once there are so many answers."""
    finals: list[tuple[str, ...]] = []

    async def are_there() -> bool:
        records = [record async for record in client.history(session)]
        spoken = [each.body for each in records if each.schema == "agent.response.v1"]
        finals[:] = [tuple(body["questions"]) for body in spoken if not body.get("tool_requests")]
        return len(finals) >= count

    await until(are_there, f"{count} answers in {session}")
    return finals


async def test_an_agent_runs_its_tools_and_answers_from_what_they_give(client: Client) -> None:
    async def look(request_id: str) -> str:
        return f"found by {request_id}"

    async with serving(client, model := Model(), tools={"look": look}):
        await client.send_user_message("s1", "Where is it?", message_id="m1")
        assert await answered(client, "s1", 1) == [("m1",)]
    first, second = model.pages
    assert (first.questions, second.questions) == (("m1",), ("m1",))
    assert words(second) == ["Where is it?", f"found by call-{first.id[:8]}"]
    schemas = [record.schema for record in await history(client, "s1", 4)]
    assert schemas == ["user.message.v1", "agent.response.v1", "tool.response.v1", "agent.response.v1"]


async def test_a_person_who_writes_while_a_tool_runs_gets_one_answer_to_both_messages(client: Client) -> None:
    gate = Gate()
    async with serving(client, model := Model(), tools={"look": gate.look}):
        await client.send_user_message("s1", "Where is my order?", message_id="m1")
        await gate.entered.wait()
        await client.send_user_message("s1", "Thanks for looking!", message_id="m2")
        gate.opened.set()
        assert await answered(client, "s1", 1) == [("m1", "m2")]
    assert [page.questions for page in model.pages] == [("m1",), ("m1", "m2")]
    assert words(model.pages[-1]) == ["Where is my order?", "lost in Rotterdam", "Thanks for looking!"]


async def test_a_person_who_writes_while_the_model_thinks_is_answered_apart(client: Client) -> None:
    model = Model(uses_tools=False)
    model.opened.clear()
    async with serving(client, model):
        await client.send_user_message("s1", "Can I return a lamp?", message_id="m1")
        await model.entered.wait()
        await client.send_user_message("s1", "It is the Comet.", message_id="m2")
        model.opened.set()
        assert await answered(client, "s1", 2) == [("m1",), ("m2",)]
    second = model.pages[-1]
    assert second.event["refreshed"]
    assert [message["content"] for message in second.messages] == ["Can I return a lamp?", "answer to m1", "It is the Comet."]


async def test_a_person_who_writes_between_result_and_answer_is_answered_apart(client: Client) -> None:
    gate = Gate()
    gate.opened.set()
    model = Model()
    async with serving(client, model, tools={"look": gate.look}):
        await client.send_user_message("s1", "Where is my order?", message_id="m1")
        await gate.entered.wait()
        assert await answered(client, "s1", 1) == [("m1",)]
        await client.send_user_message("s1", "And when does it come?", message_id="m2")
        assert await answered(client, "s1", 2) == [("m1",), ("m2",)]


async def test_messages_that_came_while_no_agent_ran_get_one_answer(client: Client) -> None:
    async with client.subscribed("loop"):
        pass
    for number in (1, 2, 3):
        await client.send_user_message("s1", f"Message {number}.", message_id=f"m{number}")
    await history(client, "s1", 3)
    async with serving(client, model := Model(uses_tools=False)):
        assert await answered(client, "s1", 1) == [("m1", "m2", "m3")]
    assert len(model.pages) == 1


async def test_what_two_people_said_is_answered_apart(client: Client) -> None:
    async with serving(client, Model(uses_tools=False)):
        await client.send_user_message("s1", "Hello.", message_id="m1", speaker="Ada")
        await client.send_user_message("s1", "Good morning.", message_id="m2", speaker="Bo")
        assert sorted(await answered(client, "s1", 2)) == [("m1",), ("m2",)]


async def test_a_result_from_elsewhere_after_the_next_answer_is_read(client: Client) -> None:
    async with serving(client, model := Model()):
        await client.send_user_message("s1", "Where is my order?", message_id="m1")
        await until(lambda: called(client, "s1"), "the call")
        request = f"call-{model.pages[0].id[:8]}"
        model._uses_tools = False
        await client.send_user_message("s1", "How are you?", message_id="m2")
        assert await answered(client, "s1", 1) == [("m2",)]
        await client.send_tool_result("s1", "look", request, "lost in Rotterdam")
        assert await answered(client, "s1", 2) == [("m2",), ("m1",)]
    assert "lost in Rotterdam" in words(model.pages[-1])


async def called(client: Client, session: str) -> bool:
    return any(record.body.get("tool_requests") for record in [record async for record in client.history(session)])


async def test_two_agents_in_a_session_answer_each_message_once_each(client: Client) -> None:
    gate = Gate()
    gate.opened.set()
    async with serving(client, Model(), tools={"look": gate.look}), serving(client, Model(uses_tools=False), "critic"):
        await client.send_user_message("s1", "Where is my order?", message_id="m1")
        assert await answered(client, "s1", 2) == [("m1",), ("m1",)]
    agents = [record.body["creator"]["agent_id"] for record in await history(client, "s1", 5) if "creator" in record.body]
    assert sorted(agents) == ["critic", "loop", "loop"]


async def test_a_message_in_its_quiet_time_gets_its_own_answer(client: Client) -> None:
    async with serving(client, model := Model(uses_tools=False), "patient"):
        await client.send_user_message("s1", "Book the blue one.", message_id="m1")
        await client.send_user_message("s1", "I meant the red one.", message_id="m2")
        assert await answered(client, "s1", 1) == [("m1", "m2")]
    assert [page.trigger_event_id for page in model.pages] == ["m2"]


async def test_an_edit_of_the_question_is_on_the_page_and_a_deleted_one_is_not_answered(client: Client) -> None:
    async with client.subscribed("loop"):
        pass
    for number in (1, 2):
        await client.send_user_message(f"s{number}", "At nine?", message_id=f"m{number}")
        await history(client, f"s{number}", 1)
    await client.send("user.message.v1", {"content": "At ten?"}, session="s1", id="m1", version=2)
    await client.send("breadcrumb.deleted.v1", {"breadcrumb_id": "m2"}, session="s2")
    async with serving(client, model := Model(uses_tools=False)):
        assert await answered(client, "s1", 1) == [("m1",)]
        await client.send_user_message("s2", "At noon?", message_id="m3")
        assert await answered(client, "s2", 1) == [("m3",)]
    assert [words(page) for page in model.pages if page.session_id == "s1"] == [["At ten?"]]


async def test_a_question_that_is_deleted_while_its_tool_runs_is_not_answered(client: Client) -> None:
    gate = Gate()
    async with serving(client, model := Model(), tools={"look": gate.look}):
        await client.send_user_message("s1", "Where is my order?", message_id="m1")
        await gate.entered.wait()
        await client.send("breadcrumb.deleted.v1", {"breadcrumb_id": "m1"}, session="s1")
        gate.opened.set()
        await history(client, "s1", 2)
        await client.send_user_message("s1", "Hello.", message_id="m2")
        assert await answered(client, "s1", 1) == [("m2",)]
    assert len(model.pages) == 2


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


async def test_a_loop_over_contexts_that_is_left_gives_its_context_back(client: Client) -> None:
    async with client.subscribed("loop") as contexts:
        await client.send_user_message("s1", "Hello.", message_id="m1")
        assert (await anext(contexts)).trigger_event_id == "m1"
    async with client.subscribed("loop") as contexts:
        assert (await anext(contexts)).trigger_event_id == "m1"


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


async def test_an_unknown_consumer_is_refused_at_once(client: Client) -> None:
    with pytest.raises(Rejected, match="no profile of the service names the consumer 'nobody'"):
        await client.serve("nobody", lambda _context: None)


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
