"""What an agent developer sees: say something, get one context, answer, get the next one."""

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from nats.js.api import ConsumerInfo

from builder.adapters.nats.topology import CONTEXTS
from builder.client import Client, ReceivedContext, Unavailable, connect
from tests.commands import COMMAND, DEADLINE, NOBODY_LISTENS, run
from tests.integration.profiles import with_profiles
from tests.running import Running, all_settled, answered, jetstream, say, until

UNTRIGGERED = "extends: default\ntriggers: []\n"


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Running]:
    """The service with more consumers, whose profiles lie in the operator's folder; two of them are never triggered."""
    templates = with_profiles(folder, {"critic": "extends: default\nbudget: 300\n", "a-b": UNTRIGGERED, "b": UNTRIGGERED})
    with Running(folder / "service", templates_dir=templates) as running:
        yield running


@asynccontextmanager
async def listening(client: Client, consumer: str = "default") -> AsyncIterator["Contexts"]:
    async with client.subscribed(consumer) as contexts:
        yield Contexts(contexts)


class Contexts:
    """Contexts one by one, with a deadline."""

    def __init__(self, contexts: AsyncIterator[ReceivedContext]) -> None:
        self._contexts = contexts

    async def next(self) -> ReceivedContext:
        """Acknowledge the last one and wait for the next one."""
        return await asyncio.wait_for(anext(self._contexts), DEADLINE)


async def test_a_user_message_leads_to_exactly_one_context_for_each_consumer(service: Running, workspace: str) -> None:
    async with connect(service.url, workspace) as client, listening(client) as default, listening(client, "critic") as critic:
        await client.send_user_message("s1", "Where do I set the API key?", message_id="m1", speaker="Maya")
        contexts = [await default.next(), await critic.next()]
    async with jetstream(service.url) as js:
        await all_settled(js)
        events = await answered(js, workspace)
    assert sorted(event["consumer_id"] for event in events) == ["critic", "default"]
    for context in contexts:
        assert context.event in events
        assert (context.workspace, context.session_id, context.trigger_event_id) == (workspace, "s1", "m1")
        assert "Maya: Where do I set the API key?" in context.content
        assert not context.late
    assert [context.event["token_budget"] for context in contexts] == [4000, 300]


async def test_a_context_that_comes_after_one_of_a_later_message_is_flagged_as_late(service: Running, workspace: str) -> None:
    async with connect(service.url, workspace) as client, listening(client) as contexts, jetstream(service.url) as js:
        await client.send_user_message("s1", "First.", message_id="m1")
        first = await contexts.next()
        for session, sequence in (("s1", first.trigger_seq - 1), ("s2", first.trigger_seq - 1)):
            event = first.event | {"id": str(uuid4()), "session_id": session, "trigger_seq": sequence}
            subject = f"contexts.{workspace}.default.{session}.{event['id']}"
            await js.publish(subject, json.dumps(event).encode(), stream=CONTEXTS)
        assert [(await contexts.next()).late for _ in range(2)] == [True, False]


async def test_an_agent_whose_durable_is_deleted_is_told_so(service: Running, workspace: str) -> None:
    async with (
        connect(service.url, workspace) as client,
        jetstream(service.url) as js,
        listening(Client(client._connection, workspace, fetch_seconds=0.3)) as contexts,
    ):
        waiting = asyncio.ensure_future(contexts.next())
        await _exists(service, f"{workspace}=default")
        await js.delete_consumer(CONTEXTS, f"{workspace}=default")
        with pytest.raises(Unavailable, match="subscribe again"):
            await waiting


async def test_the_session_of_the_reserved_name_is_answered_like_any_other(service: Running, workspace: str) -> None:
    async with jetstream(service.url) as js:
        await say(js, "Is anybody there?", "_", "m1", workspace)
        await all_settled(js)
        assert [event["session_id"] for event in await answered(js, workspace, "default")] == ["_"]


async def test_two_workspaces_whose_names_run_into_those_of_their_consumers_do_not_share_a_durable(
    service: Running, workspace: str
) -> None:
    async with connect(service.url, workspace) as short, connect(service.url, f"{workspace}-a") as long:
        async with short.subscribed("a-b"), long.subscribed("b"), jetstream(service.url) as js:
            names = {info.name: info.config.filter_subject for info in await js.consumers_info(CONTEXTS)}
        assert names[f"{workspace}=a-b"] == f"contexts.{workspace}.a-b.>"
        assert names[f"{workspace}-a=b"] == f"contexts.{workspace}-a.b.>"
        with pytest.raises(Unavailable, match=rf"hears contexts\.{workspace}\.a-b\.>, wanted is contexts\.{workspace}-a\.b\.>"):
            await anext(long.contexts("b", durable=f"{workspace}=a-b"))


async def test_an_event_that_is_no_context_of_the_agent_is_passed_over_and_does_not_come_again(
    service: Running, workspace: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connect(service.url, workspace) as client, listening(client) as contexts, jetstream(service.url) as js:
        await client.send_user_message("s1", "First.", message_id="m1")
        first = (await contexts.next()).event
        bad = (b"{", b"[]", *(json.dumps(first | change).encode() for change in ({"workspace": "else"}, {"consumer_id": "else"})))
        for data in bad:
            await js.publish(f"contexts.{workspace}.default.s1.{uuid4()}", data, stream=CONTEXTS)
        await client.send_user_message("s1", "Second.", message_id="m2")
        assert (await contexts.next()).trigger_event_id == "m2"

        async def only_the_second_is_left() -> bool:
            info: ConsumerInfo = await js.consumer_info(CONTEXTS, f"{workspace}=default")
            return info.num_ack_pending == 1

        await until(only_the_second_is_left, "the others to be settled")
    assert [record.levelname for record in caplog.records if record.name == "builder.client"] == ["WARNING"] * len(bad)


async def test_the_commands_show_what_the_agent_says_in_the_end(service: Running, workspace: str) -> None:
    place = ("--workspace", workspace, "--servers", service.url)
    calls = [{"tool": "kiln\x1b[2J", "input": {"cone": 6}, "requestId": "r1"}]

    async def work(client: Client, contexts: AsyncIterator[ReceivedContext]) -> None:
        async for context in contexts:
            await client.send_response(context, "One moment.", tool_requests=calls)
            await client.send_tool_result(context.session_id, "kiln", "r1", 1222)
            await client.send_response(context, f"Answer {context.trigger_seq}.")

    async with connect(service.url, workspace) as client, client.subscribed("critic") as contexts:
        agent = asyncio.create_task(work(client, contexts))
        sent = await asyncio.to_thread(run, "send", "And now?", "--wait", "critic", *place, env=service.env)
        known = await asyncio.to_thread(run, "send", "And now?", "--wait", "critic", *place, "--json", env=service.env)
        lines = f"How hot?\n\n{'x' * 2_000_000}\nAnd in Fahrenheit?"
        chat = [COMMAND, "chat", "--consumer", "critic", *place]
        talk = await asyncio.to_thread(subprocess.run, chat, input=lines, env=service.env, capture_output=True, text=True)
        agent.cancel()
        await asyncio.wait({agent})
    page, answer = sent.stdout.splitlines()[-2:]
    assert (page, answer[:7]) == ("- User: And now?", "Answer ")
    assert json.loads(known.stdout)["answer"].startswith("Answer ")
    assert (talk.returncode, re.findall("Answer|And|x{9}", talk.stdout)) == (0, ["Answer", "Answer"]), talk.stderr
    assert talk.stderr.count('One moment.\nkiln⟨U+001B⟩[2J {"cone":6}\n') == 2
    assert re.search("context-builder: the breadcrumb has 2,[0-9,]+ bytes", talk.stderr)
    alone = await asyncio.to_thread(run, "send", "Anybody?", "--wait", "default", *place, env=service.env)
    assert (alone.returncode, alone.stdout[-9:], alone.stderr) == (0, "Anybody?\n", NOBODY_LISTENS)


async def _exists(service: Running, durable: str) -> None:
    async def there() -> bool:
        return durable in {info.name for info in await js.consumers_info(CONTEXTS)}

    async with jetstream(service.url) as js:
        await until(there, f"the durable {durable}")
