"""Agents that serve, over a real nats-server with a real service, and over the broker in memory: who is answered by what."""

from builder.client import Client
from tests.clients import history
from tests.running import until
from tests.serving import Gate, Model, answered, serving, words


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
    assert [message["role"] for message in second.messages] == ["user", "assistant", "user"]
    assert second.messages[1]["content"] == "answer to m1"
    _, _, current = second.content.partition("## Current User Message\n(1 message was answered meanwhile; answer the rest)\n")
    assert current.splitlines()[1:] == ["- User: It is the Comet."]


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
