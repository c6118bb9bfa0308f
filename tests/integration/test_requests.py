"""What can be asked of a running service, within one workspace, and of its store while none runs."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import nats
import pytest

from builder.client import Client, Rejected, connect
from tests.commands import DEADLINE, run
from tests.running import Broker, Running, all_settled, jetstream, say


@pytest.fixture
async def client(service: Running) -> AsyncIterator[Client]:
    async with connect(service.url, "acme") as connected:
        yield connected


async def test_who_said_it_and_by_which_clock_comes_back_as_it_was_sent(client: Client, service: Running) -> None:
    by_clock = datetime(2026, 7, 1, 0, 30, tzinfo=ZoneInfo("Asia/Kathmandu"))
    await client.send_user_message("who", "Good night.", message_id="w1", user_id="u7", created_at=by_clock)
    await client.send_user_message("who", "Good night!", message_id="w2", created_at=by_clock.astimezone(UTC))
    async with jetstream(service.url) as js:
        await all_settled(js)
    held = {crumb.id: crumb async for crumb in client.history("who")}
    assert (held["w1"].user_id, held["w1"].created_at.isoformat()) == ("u7", "2026-07-01T00:30:00+05:45")
    assert (held["w2"].user_id, held["w2"].created_at.isoformat()) == (None, "2026-06-30T18:45:00+00:00")
    assert await client.fetch("w1") == held["w1"]


async def test_the_command_says_who_the_person_is(service: Running) -> None:
    sent = run("send", "Hello.", "-s", "cli", "-w", "acme", "--user", "u9", "--speaker", "Maya", "--json", env=service.env)
    async with jetstream(service.url) as js, connect(service.url, "acme") as client:
        await all_settled(js)
        held = await client.fetch(json.loads(sent.stdout)["id"])
    assert (held.user_id, held.speaker) == ("u9", "Maya")


async def test_commands_take_sessions_of_any_text(service: Running, tmp_path: Path) -> None:
    def output(*arguments: str) -> str:
        done = run(*arguments, "-w", "acme", env=service.env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    name = "maya@example.com"
    event = json.loads(output("send", "Hello.", "-s", name, "--wait", "default", "--json"))
    assert event["session_id"] == "_x-maya_40example_2Ecom"
    (record,) = json.loads(output("history", name, "--json"))
    assert (record["id"], record["session"]) == (event["trigger_event_id"], name)
    assert output("context", "-s", name) == event["content"]
    file = tmp_path / "maya.jsonl"
    file.write_text(output("export", name), "utf-8")
    assert json.loads(file.read_text("utf-8"))["session"] == "_x-maya_40example_2Ecom"
    assert output("build", str(file)) == event["content"]
    assert "nothing was summarised" in run("compact", name, "-w", "acme", env=service.env).stderr
    (receipt,) = json.loads(output("forget", record["id"], "-s", name, "--json"))
    assert receipt["session"] == name


async def test_the_subject_decides_the_workspace_and_nothing_crosses_it(client: Client, service: Running) -> None:
    async with jetstream(service.url) as js:
        await say(js, "Ours.", "mine", "only-acme")
        await all_settled(js)
    async with connect(service.url, "rival") as rival:
        for asked in (rival.fetch("only-acme"), rival.forget("only-acme"), rival.context(trigger="only-acme")):
            with pytest.raises(Rejected, match="in workspace 'rival'"):
                await asked
        assert [crumb async for crumb in rival.history("mine")] == []
        with pytest.raises(Rejected, match=r"workspace: Extra inputs are not permitted"):
            await rival.request("fetch", {"id": "only-acme", "workspace": "acme"})
    assert (await client.fetch("only-acme")).text == "Ours."


@pytest.mark.parametrize(
    ("verb", "data", "why"),
    [
        ("fetch", b"{", "not readable JSON"),
        ("fetch", b"[]", "the request: Input should be a valid dictionary"),
        ("history", b'{"session": "a.b"}', "does not fit a NATS subject"),
        ("history", b'{"session": "s", "limit": 0}', "limit: Input should be greater than"),
        (
            "refresh.weather",
            b'{"consumer": "default", "trigger": "m1"}',
            "names the consumer 'weather', and the request 'default'",
        ),
        ("responses.default", b'{"agent": "x", "session": "s", "trigger": "m", "trigger_seq": 1}', "the agent default, not 'x'"),
        ("fetch.weather", b'{"id": "m1"}', "consumer: Extra inputs are not permitted"),
        ("refresh.weather", b"x", "not readable JSON"),
        ("refresh.weather.x", b"{}", "consumer 'weather.x' does not fit a NATS subject"),
        (
            "dance",
            b"{}",
            "no request 'dance'; there are fetch, history, sessions, identities, context, consumers, fail, forget",
        ),
    ],
)
async def test_a_wrong_request_is_answered_with_a_sentence(service: Running, verb: str, data: bytes, why: str) -> None:
    assert why in (await asked(service.url, f"requests.acme.{verb}", data))["error"]


async def test_an_answer_that_the_broker_would_not_take_is_refused(tmp_path: Path) -> None:
    with (
        Broker(tmp_path / "broker", max_payload="64KB") as small,
        Running(tmp_path, small.url, worker__max_body_bytes=60000) as one,
    ):
        async with jetstream(small.url) as js:
            for number in range(3):
                await say(js, "word " * 5000, "s1", f"m{number}", "acme", schema="note.v1")
            await all_settled(js)
        async with connect(one.url, "acme") as client:
            with pytest.raises(Rejected, match=r"the answer has [\d,]+ bytes, the broker takes 64,512; ask for less"):
                await client.request("history", {"session": "s1"})


async def asked(url: str, subject: str, data: bytes) -> dict[str, Any]:
    connection = await nats.connect(url)
    try:
        answer: dict[str, Any] = json.loads((await connection.request(subject, data, timeout=DEADLINE)).data)
    finally:
        await connection.close()
    return answer


async def test_the_command_line_reads_and_forgets_with_a_service_only(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker:
        with Running(tmp_path / "data", broker.url, workspace="acme") as one:
            async with jetstream(one.url) as js:
                await say(js, "Keep this.", "s1", "m1")
                await say(js, "Forget this.", "s1", "m2")
                await all_settled(js)
            assert run("fetch", "m1", env=one.env).stdout == "Keep this.\n"
            assert "Forget this." in run("context", "-s", "s1", env=one.env).stdout
            (receipt,) = json.loads(run("forget", "m2", "--by", "Maya", "--json", env=one.env).stdout)
            assert (receipt["id"], receipt["by"], receipt["messages"]) == ("m2", "Maya", 1)
            assert [crumb["id"] for crumb in json.loads(run("history", "s1", "--json", env=one.env).stdout)] == ["m1"]
            rest = run("forget", "-s", "s1", env=one.env)
            assert "forgot 1 breadcrumbs of session s1: " in rest.stdout + rest.stderr
            assert "out of reach: contexts that agents have read, " in rest.stdout + rest.stderr
            assert one.stop() == 0
        for command in ("fetch", "forget"):
            refused = run(command, "m1", env=one.env)
            assert (refused.returncode, "is the service up" in refused.stderr) == (69, True)
