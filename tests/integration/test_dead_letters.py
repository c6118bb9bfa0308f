"""What cannot be read is kept once with its reason, and stops nobody."""

import asyncio
import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nats.js import JetStreamContext

from builder.adapters.nats.publisher import NatsPublisher
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, Topology, ensure_streams, incarnation_of
from builder.client import ReceivedContext, Rejected, connect
from builder.connection.names import REPLAY_HEADER
from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.json_values import MAX_DEPTH
from builder.wire.records import Outgoing
from tests.commands import run
from tests.integration.inside import service_here, settings
from tests.running import Broker, Running, all_settled, answered, dead_letters, environment, jetstream, say, until

MEGABYTE = 1024 * 1024
LIMIT = 100_000
DEEP = "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)


def record(**changes: Any) -> bytes:
    """A user message, with some fields of the record as they must not be."""
    return json.dumps({"id": "bad", "schema_name": "user.message.v1", "context": {"content": "Hi."}} | changes).encode()


BAD: dict[str, tuple[str, bytes, str]] = {
    "empty": ("acme.{s}.user.message.v1", b"", "not readable JSON"),
    "too large": ("acme.{s}.user.message.v1", record(context={"content": "x" * LIMIT}), "allowed are 100,000"),
    "no schema in the subject": ("acme.{s}", record(), "is not breadcrumbs.WORKSPACE.SESSION.SCHEMA"),
    "a strange session": ("acme.späti-{s}.user.message.v1", record(), "does not fit a NATS subject"),
    "too deep": ("acme.{s}.note.v1", b'{"id": "bad", "context": {"content": "", "deep": %s}}' % DEEP.encode(), "deeper than 64"),
    "very deep": ("acme.{s}.note.v1", b"[" * (LIMIT - 1), "not readable JSON"),
    "wrong type of the context": ("acme.{s}.user.message.v1", record(context="Hi."), "valid dictionary at /context"),
    "an id of another session": ("acme.{s}.user.message.v1", record(id="before-0"), "belongs to session 's0'"),
    "a time out of time": ("acme.{s}.user.message.v1", record(created_at="0001-01-01T00:00:00+14:00"), "outside the years"),
}


@pytest.fixture(scope="module")
def service(folder: Path, broker: Broker) -> Iterator[Running]:
    with Running(folder / "service", broker.url, worker__max_body_bytes=LIMIT) as running:
        yield running


async def publish(js: JetStreamContext, subject: str, data: bytes, headers: dict[str, str] | None = None) -> int:
    """Put bytes into the stream that no client would send."""
    return (await js.publish(f"breadcrumbs.{subject}", data, stream=BREADCRUMBS, headers=headers)).seq


async def test_a_bad_event_is_kept_once_with_its_reason_and_the_good_one_after_it_is_answered(
    service: Running, broker: Broker
) -> None:
    expected = {}
    async with jetstream(broker.url) as js:
        for number, (name, (subject, data, reason)) in enumerate(BAD.items()):
            await say(js, f"Before {name}.", f"s{number}", f"before-{number}")
            filled = subject.format(s=f"s{number}")
            expected[await publish(js, filled, data)] = (name, f"breadcrumbs.{filled}", data, reason)
            await say(js, f"After {name}.", f"s{number}", f"after-{number}")
        await all_settled(js)
        letters = await dead_letters(js)
        contexts = {event["trigger_event_id"]: event["content"] for event in await answered(js, "acme")}
    assert [letter["sequence"] for letter in letters] == sorted(expected)
    for letter in letters:
        name, subject, data, reason = expected[letter["sequence"]]
        assert reason in letter["reason"], name
        assert letter["subject"] == subject
        assert (letter["bytes"], base64.b64decode(letter["data"])) == (len(data), data)
    for number, name in enumerate(BAD):
        assert f"Before {name}." in contexts[f"after-{number}"]
    assert service.outcomes().count("rejected") == len(BAD)
    assert not {"failed", "unavailable"} & set(service.outcomes())


async def test_headers_of_the_publisher_change_neither_the_place_nor_the_way_of_a_breadcrumb(
    service: Running, broker: Broker
) -> None:
    forged = {
        "Nats-Subject": "breadcrumbs.globex.forged.user.message.v1",
        "Nats-Sequence": "1",
        "Nats-Time-Stamp": "2020-01-01T00:00:00Z",
    }
    async with jetstream(broker.url) as js:
        await publish(js, "forged.forged.user.message.v1", record(id="subject"), forged)
        for status in ("404", "408", "409", "500", "503"):
            await publish(js, "forged.forged.user.message.v1", record(id=f"status-{status}"), {"Status": status})
            empty = await publish(js, "forged.forged.user.message.v1", b"", {"Status": status, "Description": "x"})
        await say(js, "Does this still arrive?", "forged", "last", "forged")
        await all_settled(js)
        contexts = await answered(js)
        letters = await dead_letters(js)
    assert letters[-1]["sequence"] == empty
    assert [event["trigger_event_id"] for event in contexts if event["session_id"] == "forged"] == [
        "subject",
        *(f"status-{status}" for status in ("404", "408", "409", "500", "503")),
        "last",
    ]
    assert all(event["workspace"] != "globex" for event in contexts)
    assert not {"failed", "unavailable"} & set(service.outcomes())


async def test_a_large_bad_event_is_kept_even_when_its_letter_would_be_larger_than_the_broker_takes(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker", max_payload="1MB") as broker:
        env = environment(tmp_path, nats__servers=broker.url)
        async with jetstream(broker.url) as js, service_here(settings(tmp_path, broker.url)):
            data = b"x" * (MEGABYTE - 4000)
            sequence = await publish(js, "acme.s1.user.message.v1", data)
            await say(js, "Is anybody there?", "s2", "m1")
            await all_settled(js)
            (letter,) = await dead_letters(js)
            assert [event["trigger_event_id"] for event in await answered(js)] == ["m1"]
            assert (letter["sequence"], letter["bytes"]) == (sequence, len(data))
            assert data.startswith(base64.b64decode(letter["data"]))
            assert (await asyncio.to_thread(run, "dead-letters", "retry", str(sequence), env=env)).returncode == 0
            await all_settled(js)
            (again,) = await dead_letters(js)
            assert (again["sequence"] > sequence, again["bytes"]) == (True, len(data))


async def test_dead_letters_can_be_listed_shown_and_published_again_after_the_repair(
    service: Running, broker: Broker, tmp_path: Path
) -> None:
    async with jetstream(broker.url) as js:
        sequence = await publish(js, "repair.s1.user.message.v1", record(context={"content": "y" * LIMIT}))
        await all_settled(js)
        asked = (("list", "--json"), ("list",), ("show", str(sequence)), ("show", str(sequence + 1000)))
        asking = (asyncio.to_thread(run, "dead-letters", *arguments, env=service.env) for arguments in asked)
        as_json, as_text, shown, missing = await asyncio.gather(*asking)
        listed = json.loads(as_json.stdout)
        assert sorted(letter["sequence"] for letter in listed) == [letter["sequence"] for letter in await dead_letters(js)]
        assert listed[-1].keys() == {"reason", "subject", "sequence", "incarnation", "replay", "received_at", "bytes"}
        assert f"{sequence}  {listed[-1]['received_at'][:19]}  breadcrumbs.repair.s1.user.message.v1\n" in as_text.stdout
        assert "allowed are 100,000" in shown.stdout
        assert "yyyy" in shown.stdout
        assert missing.returncode == 65

        service.stop()
        async with service_here(settings(tmp_path, broker.url)):
            env = environment(tmp_path, nats__servers=broker.url)
            result = await asyncio.to_thread(run, "dead-letters", "retry", str(sequence), "--json", env=env)
            assert result.returncode == 0, result.stderr
            await all_settled(js)
            (event,) = await answered(js, "repair")
            assert event["trigger_event_id"] == "bad"
            assert json.loads(result.stdout)["sequence"] > sequence
        left = [letter["sequence"] for letter in await dead_letters(js)]
        assert left == sorted(letter["sequence"] for letter in listed if letter["sequence"] != sequence)


async def test_letters_that_nobody_needs_are_cleared_one_by_one_or_all(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker:
        env = environment(tmp_path, nats__servers=broker.url)
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            for number in range(4):
                arrival = await _arrival(js, await publish(js, f"clear.s{number}.note.v1", b"{"))
                await NatsPublisher(js._nc, MEGABYTE).dead_letter(arrival, "made up")

            async def clear(*arguments: str) -> tuple[int, list[int]]:
                done = await asyncio.to_thread(run, "dead-letters", "clear", *arguments, env=env)
                return done.returncode, [letter["sequence"] for letter in await dead_letters(js)]

            assert await clear("2", "3") == (0, [1, 4])
            assert await clear("3") == (65, [1, 4])
            assert await clear() == (65, [1, 4])
            assert await clear("--all") == (0, [])


async def test_a_rejected_replay_is_published_again_as_a_replay(service: Running, broker: Broker) -> None:
    env = environment(Path(service.env["CONTEXT_BUILDER_DATA_DIR"]), nats__servers=broker.url)
    async with jetstream(broker.url) as js:
        await ensure_streams(js, Topology())
        for number, headers in enumerate(({REPLAY_HEADER: "1"}, None)):
            arrival = await _arrival(js, await publish(js, f"replays.s{number}.user.message.v1", b"{", headers))
            await NatsPublisher(js._nc, MEGABYTE).dead_letter(arrival, "made up")
            result = await asyncio.to_thread(run, "dead-letters", "retry", str(arrival.place.sequence), "--json", env=env)
            assert (await _arrival(js, json.loads(result.stdout)["sequence"])).replay is arrival.replay is (headers is not None)


async def test_a_letter_that_holds_the_beginning_only_is_not_completed_from_another_stream_or_subject(tmp_path: Path) -> None:
    env = environment(tmp_path)
    with Broker(tmp_path / "broker") as broker:
        env["CONTEXT_BUILDER_NATS__SERVERS"] = broker.url
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            held = await _arrival(js, await publish(js, "acme.s1.note.v1", b"whole"))
            older = Place(held.place.incarnation - 1, held.place.sequence)
            subject = "breadcrumbs.acme.s2.note.v1"
            for letter, reason in (
                (replace(held, place=older), "made again"),
                (replace(held, subject=subject), "its dead letter says"),
            ):
                await NatsPublisher(js._nc, 0).dead_letter(letter, "made up")
                result = await asyncio.to_thread(run, "dead-letters", "retry", str(held.place.sequence), env=env)
                assert (result.returncode, reason in result.stderr) == (65, True), result.stderr
            assert (await js.stream_info(BREADCRUMBS)).state.messages == 1


async def _arrival(js: JetStreamContext, sequence: int) -> StreamMessage:
    incarnation = incarnation_of(await js.stream_info(BREADCRUMBS))
    arrival = await NatsStream(js, lambda: incarnation).get(sequence)
    assert arrival is not None
    return arrival


async def test_what_the_broker_would_refuse_is_refused_by_the_client_first(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker", max_payload="1MB") as broker:
        async with jetstream(broker.url) as js, connect(broker.url, "acme") as client:
            await ensure_streams(js, Topology())
            for spare in (0, 10, 200, 5000):
                event = Outgoing(subject="breadcrumbs.acme.s1.note.v1", data=b"x" * (MEGABYTE - spare), message_id=f"m{spare}")
                if spare < 1000:
                    with pytest.raises(Rejected, match="allowed are"):
                        await client.publish(event)
                else:
                    assert (await client.publish(event)).sequence == 1


async def test_a_context_that_an_agent_gives_up_is_a_letter_with_consumer_context_and_error(
    service: Running, broker: Broker, tmp_path: Path
) -> None:
    if not service.running:  # a test before this one ended it
        await asyncio.to_thread(service.start)

    def reply(_context: ReceivedContext) -> str:
        raise RuntimeError("400 Bad Request")

    workspace = "hopeless"
    env = environment(tmp_path, nats__servers=broker.url)
    async with connect(broker.url, workspace) as client, jetstream(broker.url) as js:
        async with client.subscribed("default"):
            pass
        agent = asyncio.create_task(client.serve("default", reply, attempts=1))
        context = await client.ask("s1", "Hello.", message_id="m1")
        await until(lambda: letter_of(js, workspace), "the letter")
        agent.cancel()
        await asyncio.wait({agent})
        letter = await letter_of(js, workspace)
        assert letter["reason"] == (
            f"the agent 'default' gave up context {context.id} of message 'm1': RuntimeError: 400 Bad Request"
        )
        assert (letter["consumer"], letter["sequence"]) == ("default", context.trigger_seq)
        sequence = str(letter["sequence"])
        assert letter["reason"] in (await asyncio.to_thread(run, "dead-letters", "list", env=env)).stdout
        refusal = await asyncio.to_thread(run, "dead-letters", "retry", sequence, env=env)
        assert "once the agent works, let the person write again" in refusal.stderr
        await asyncio.to_thread(run, "dead-letters", "clear", sequence, env=env)
        assert not await letter_of(js, workspace)


async def letter_of(js: JetStreamContext, workspace: str) -> dict[str, Any]:
    letters = [letter for letter in await dead_letters(js) if letter["subject"].startswith(f"breadcrumbs.{workspace}.")]
    return letters[0] if letters else {}
