"""The configuration of `builder/docs/permissions.md`: each user can do its work, and nothing of what the page says it cannot."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import nats
import nats.errors
import pytest

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DURABLE
from builder.client import ReceivedContext, connect
from builder.extras.operations.purge_lock import PurgeLock
from builder.wire.subjects import DEFAULT
from tests.commands import DEADLINE, run
from tests.http_api import Api, write_tokens
from tests.integration.profiles import with_profiles
from tests.running import ROOT, Broker, Running, all_settled, dead_letters, environment, jetstream, say, until

PAGE = (ROOT / "builder" / "docs" / "permissions.md").read_text("utf-8")
AGENT_CANNOT = (
    "breadcrumbs.acme.s1.breadcrumb.deleted.v1", "breadcrumbs.acme.s1.user.message.v1", "breadcrumbs.acme._.agent.def.v1",
    "breadcrumbs.other.s1.agent.response.v1", "contexts.acme.weather.s1.x", "deadletters.1.1", "requests.acme.forget",
    "requests.acme.history", "requests.acme.fetch", "requests.acme.explain", "requests.acme.strip", "requests.other.consumers",
    "$JS.API.STREAM.MSG.GET.BREADCRUMBS", "$JS.API.STREAM.MSG.GET.CONTEXTS", "$JS.API.STREAM.MSG.DELETE.CONTEXTS",
    "$JS.API.DIRECT.GET.CONTEXTS", "$JS.API.DIRECT.GET.CONTEXTS.contexts.acme.default.s1.x", "$JS.API.DIRECT.GET.BREADCRUMBS",
    "$JS.API.CONSUMER.CREATE.CONTEXTS.mine.contexts.acme.default.>", "$JS.API.CONSUMER.CREATE.BREADCRUMBS.mine.breadcrumbs.>",
    "$JS.API.CONSUMER.CREATE.CONTEXTS.acme=weather.contexts.acme.weather.>", "requests.acme.search", "requests.acme.export",
    "$JS.API.CONSUMER.CREATE.CONTEXTS", "$JS.API.CONSUMER.DURABLE.CREATE.CONTEXTS.mine", "$JS.API.CONSUMER.DELETE.CONTEXTS.x",
    "$JS.API.CONSUMER.MSG.NEXT.CONTEXTS.acme=default", "$JS.API.CONSUMER.MSG.NEXT.BREADCRUMBS.context-builder",
    "$JS.API.STREAM.SNAPSHOT.BREADCRUMBS", "$JS.API.STREAM.PURGE.CONTEXTS", "$JS.API.STREAM.DELETE.CONTEXTS", "_INBOX.x",
    "$SRV.PING", "$SRV.STATS.context-builder", "requests.acme.refresh", "requests.acme.refresh.default",
    "requests.acme.responses.default", "requests.acme.durable.default", "requests.acme.fail.default",
)  # fmt: skip
WEB_CANNOT = (
    "breadcrumbs.acme.s1.agent.response.v1", "breadcrumbs.acme.s1.breadcrumb.deleted.v1", "breadcrumbs.acme._.note.v1",
    "breadcrumbs.other.s1.user.message.v1", "requests.acme.forget", "requests.acme.durable", "requests.other.history",
    "$JS.API.STREAM.MSG.GET.BREADCRUMBS", "$JS.API.CONSUMER.CREATE.CONTEXTS.mine.contexts.acme.weather.>", "contexts.acme.x.s1.y",
)  # fmt: skip
WEB_CANNOT_HEAR = ("contexts.>", "breadcrumbs.acme.>", "breadcrumbs.other.*.agent.response.v1", "requests.>", "_INBOX.weather.>")
AGENT_CANNOT_HEAR = ("contexts.>", "contexts.acme.default.>", "breadcrumbs.>", "requests.>", "_INBOX.>", "$JS.EVENT.>", "$SRV.>")
ASSISTANT_CANNOT = (
    "breadcrumbs.acme.s1.agent.response.v1", "breadcrumbs.acme.s1.breadcrumb.deleted.v1", "breadcrumbs.acme._.note.v1",
    "requests.acme.forget", "requests.acme.export", "requests.acme.durable", "requests.other.history",
    "contexts.acme.default.s1.x", "$JS.API.DIRECT.GET.CONTEXTS.contexts.acme.weather.s1.x",
    "$JS.API.CONSUMER.CREATE.CONTEXTS.mine.contexts.acme.default.>",
)  # fmt: skip
WATCHER_CANNOT = (
    "breadcrumbs.acme.s1.user.message.v1", "requests.acme.history",
    "$JS.API.CONSUMER.CREATE.CONTEXTS.mine.contexts.acme.default.>",
    "$JS.API.CONSUMER.DURABLE.CREATE.CONTEXTS.mine", "$JS.API.CONSUMER.DELETE.CONTEXTS.acme=weather",
    "$JS.API.CONSUMER.MSG.NEXT.BREADCRUMBS.context-builder", "$JS.API.STREAM.MSG.GET.CONTEXTS",
)  # fmt: skip
MONITOR_CANNOT = ("requests.acme.consumers", "breadcrumbs.acme.s1.user.message.v1", "$JS.API.STREAM.INFO.CONTEXTS", "_INBOX.x")
WORKER_CANNOT = (
    "orders.new", "breadcrumbs.acme.s1.tool.response.v1", "breadcrumbs.acme._.agent.def.v1", "requests.acme.forget",
    "$JS.API.STREAM.CREATE.ORDERS", "$JS.API.STREAM.UPDATE.BREADCRUMBS", "$JS.API.STREAM.PURGE.BREADCRUMBS",
    "$JS.API.STREAM.DELETE.BREADCRUMBS", "$JS.API.STREAM.SNAPSHOT.BREADCRUMBS", "$JS.API.STREAM.RESTORE.BREADCRUMBS",
    "$JS.API.STREAM.MSG.GET.ORDERS", "$JS.API.CONSUMER.DELETE.CONTEXTS.acme=weather", "_INBOX.x", "$SRV.PING",
)  # fmt: skip
WORKER_CANNOT_HEAR = ("orders.>", "breadcrumbs.>", "contexts.>", "$JS.EVENT.>")


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[Broker]:
    users, more = re.findall(r"<!-- (?:least privilege|more users): .*? -->\n\n```conf\n(.*?)```", PAGE, re.DOTALL)
    with Broker(folder / "guarded", configuration=users.rstrip().removesuffix("]}") + more + "]}\n") as broker:
        yield broker


@pytest.fixture(scope="module")
def worker(folder: Path, guarded: Broker) -> Iterator[Running]:
    """A worker as the worker's user, with a profile for the agent."""
    tokens = write_tokens(folder / "tokens.yaml", {"shop": {"workspace": "acme", "rights": ["read", "write"]}})
    templates = with_profiles(folder, {"weather": "extends: default\n"})
    with Running(
        folder / "worker", url(guarded, "worker"), embedding__engine="none", templates_dir=templates, http__tokens=tokens
    ) as running:
        yield running


def url(broker: Broker, user: str) -> str:
    return broker.url.replace("//", f"//{user}:secret@")


async def test_each_user_can_do_its_work(guarded: Broker, worker: Running) -> None:
    administrator, agent = url(guarded, "administrator"), url(guarded, "weather")
    async with (
        connect(administrator, "acme") as other,
        connect(agent, "acme", inbox_prefix="_INBOX.weather") as client,
        client.subscribed("weather", skip_superseded=True) as contexts,
    ):
        await other.send_user_message("s1", "Is it raining?", message_id="m1")
        context = await anext(contexts)
        await client.send_response(context, "It rains.")
        await other.send_user_message("s1", "And tomorrow?", message_id="m2")
        assert "It rains." in (await anext(contexts)).content
        (receipt,) = await other.forget("m1", session="s1")
        assert receipt.contexts > 0
        assert context.trigger_event_id == "m1"
    async with jetstream(administrator) as js:
        await js.publish("breadcrumbs.acme.s1.user.message.v1", b"no record", stream=BREADCRUMBS)
        await all_settled(js)
        assert len(await dead_letters(js)) == 1
        await js.delete_consumer(BREADCRUMBS, DURABLE)
        await say(js, "Is anybody there?", "s1", "m3")
        await until(lambda: holds(js, "m3"), "the worker to make its durable again")
    async with jetstream(url(guarded, "worker")) as js:
        lock = PurgeLock(js, DEFAULT)
        assert [await lock.claim(), await PurgeLock(js, DEFAULT).claim()] == [True, False]
        await lock.release()
    assert "Permissions Violation" not in worker.said()
    assert "the permission" not in worker.said()


async def holds(js: nats.js.JetStreamContext, trigger: str) -> bool:
    """Whether a message has its context for the agent."""
    held = (await js.stream_info(CONTEXTS, subjects_filter="contexts.acme.weather.>")).state.subjects or {}
    events = [json.loads((await js.get_last_msg(CONTEXTS, subject)).data or b"{}") for subject in held]
    return trigger in [event.get("trigger_event_id") for event in events]


@pytest.mark.parametrize(
    ("user", "publish", "subscribe"),
    [
        ("weather", AGENT_CANNOT, AGENT_CANNOT_HEAR),
        ("web", WEB_CANNOT, WEB_CANNOT_HEAR),
        ("worker", WORKER_CANNOT, WORKER_CANNOT_HEAR),
        ("assistant", ASSISTANT_CANNOT, ("contexts.>", "contexts.acme.weather.>", "breadcrumbs.>", "requests.>")),
        ("watcher", WATCHER_CANNOT, ("contexts.>", "contexts.acme.weather.>", "breadcrumbs.>")),
        ("monitor", MONITOR_CANNOT, ("contexts.>", "$SRV.>", "requests.>")),
    ],
)
async def test_a_user_can_neither_publish_nor_hear_anything_else(
    user: str, publish: tuple[str, ...], subscribe: tuple[str, ...], guarded: Broker
) -> None:
    refused: list[str] = []

    async def note(error: Exception) -> None:
        refused.extend(re.findall(r'(?:publish|subscription) to "([^"]+)"', str(error), re.IGNORECASE))

    connection = await nats.connect(url(guarded, user), error_cb=note, inbox_prefix=f"_INBOX.{user}")
    try:
        for subject in publish:
            await connection.publish(subject, b"{}")
        for subject in subscribe:
            await connection.subscribe(subject)

        async def all_refused() -> bool:
            return len(refused) >= len(publish) + len(subscribe)

        await until(all_refused, f"{user} to be refused")
        assert sorted(refused) == sorted(subject.lower() for subject in (*publish, *subscribe))
    finally:
        await connection.close()


async def test_an_agent_serves_and_a_front_end_hears_its_answer_and_each_says_when_nobody_serves(
    guarded: Broker, worker: Running, caplog: pytest.LogCaptureFixture
) -> None:
    assert worker.running
    calls: list[str] = []

    def rain(context: ReceivedContext) -> str:
        calls.append(context.trigger_event_id)
        return f"It rains on {context.trigger_event_id}."

    async with (
        connect(url(guarded, "weather"), "acme", inbox_prefix="_INBOX.weather") as agent,
        connect(url(guarded, "web"), "acme", inbox_prefix="_INBOX.web") as web,
    ):
        first = asyncio.ensure_future(web.answer("s2", "Is it raining?", consumer="weather", message_id="first"))
        await until(lambda: has_warned(caplog), "a warning that nobody serves")
        serving = asyncio.create_task(agent.serve("weather", rain))
        assert await first == "It rains on first.", "the first message before the agent's first start is answered"
        assert await web.answer("s2", "And now?", consumer="weather", message_id="second") == "It rains on second."
        serving.cancel()
        await asyncio.wait({serving})
    assert [each for each in dict.fromkeys(calls) if each in {"first", "second"}] == ["first", "second"]


async def test_an_assistant_asks_and_looks_up(guarded: Broker, worker: Running) -> None:
    assert worker.running
    async with connect(url(guarded, "assistant"), "acme", inbox_prefix="_INBOX.assistant") as client:
        context = await client.ask("s4", "Is it raining?", message_id="asked", timeout=DEADLINE)
        assert (await client.ask("s4", "Is it raining?", message_id="asked", timeout=DEADLINE)).id == context.id
        assert [record.id async for record in client.history("s4")] == ["asked"]
        assert "s4" in [end.session async for end in client.sessions()]
        assert (await client.fetch("asked")).text == "Is it raining?"
        assert [each.id for each in await client.search("raining", session="s4")] == ["asked"]
        assert (await client.context(trigger="asked", session="s4")).id == context.id
        for verb in ("explain", "strip"):
            assert await client.request(verb, {"trigger": "asked", "session": "s4", "consumer": "default"})


async def test_a_watcher_hears_new_contexts(guarded: Broker, worker: Running) -> None:
    assert worker.running
    async with (
        connect(url(guarded, "administrator"), "acme") as other,
        connect(url(guarded, "watcher"), "acme", inbox_prefix="_INBOX.watcher") as client,
        client.subscribed("weather", durable=None) as contexts,
    ):
        await other.send_user_message("s5", "Is it raining?", message_id="watched")
        assert (await anext(contexts)).trigger_event_id == "watched"


async def test_a_monitor_finds_the_service(guarded: Broker, worker: Running) -> None:
    assert worker.running
    connection = await nats.connect(url(guarded, "monitor"), inbox_prefix="_INBOX.monitor")
    try:
        ping = json.loads((await connection.request("$SRV.PING", timeout=DEADLINE)).data)
        for subject in ("$SRV.STATS.context-builder", f"$SRV.INFO.context-builder.{ping['id']}"):
            assert json.loads((await connection.request(subject, timeout=DEADLINE)).data)["id"] == ping["id"]
    finally:
        await connection.close()


async def test_the_http_door_of_a_worker_takes_messages(worker: Running) -> None:
    async with Api(worker.http, "shop") as api:
        note = {"schema_name": "note.v1", "session": "s3", "context": {"content": "It may rain."}}
        assert (await api.post("/v1/messages", **note)).status == 200
        assert (await api.post("/v1/contexts", session="s3", content="Is it raining?", id="h2", consumer="weather")).status == 200


async def has_warned(caplog: pytest.LogCaptureFixture) -> bool:
    return any("no process fetches the contexts of 'weather' now" in record.getMessage() for record in caplog.records)


async def test_only_the_administrator_exports_and_saves(guarded: Broker, worker: Running, tmp_path: Path) -> None:
    assert worker.running
    async with connect(url(guarded, "administrator"), "acme") as client:
        await client.send_user_message("s6", "Is it raining?", message_id="exported")
    commands = (("export", "s6", "-w", "acme"), ("backup", str(tmp_path / "backup")), ("dead-letters", "list"))
    agent, administrator = (environment(tmp_path, nats__servers=url(guarded, user)) for user in ("weather", "administrator"))
    refused = await asyncio.gather(*(asyncio.to_thread(run, *command, env=agent) for command in commands))
    assert [done.returncode in {69, 78} for done in refused] == [True] * len(commands)
    assert [run(*command, env=administrator).returncode for command in commands] == [0] * len(commands)
