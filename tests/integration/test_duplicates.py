"""What the stream takes for a duplicate is looked at: the same is fine, anything else is told to the sender."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4, uuid5

import pytest

from builder.adapters.nats.publisher import NatsSender
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, Topology, ensure_streams
from builder.chat_files.ids import NAMESPACE
from builder.client import Client, Rejected, connect
from builder.wire.records import make_record, outgoing
from tests.commands import run
from tests.running import Broker, environment, jetstream

THERE = r"was not published: the stream already has a breadcrumb with this id, on breadcrumbs\.\w+\.A\.\S+ as sequence \d+, and "


@pytest.fixture
async def client(broker: Broker) -> AsyncIterator[Client]:
    """A client of a workspace of its own, on a broker with the streams."""
    async with jetstream(broker.url) as js:
        await ensure_streams(js, Topology())
    async with connect(broker.url, f"w{uuid4().hex[:8]}") as connected:
        yield connected


async def test_a_message_with_the_id_of_another_session_s_is_an_error(client: Client) -> None:
    await client.send_user_message("A", "Where is the key?", message_id="m1")
    assert await client.send_user_message("A", "Where is the key?", message_id="m1") == "m1"
    with pytest.raises(Rejected, match=THERE + "the subject differ; take another id"):
        await client.send_user_message("B", "Where is the key?", message_id="m1")


async def test_other_words_under_one_id_are_an_error_that_names_the_field_and_not_the_words(client: Client) -> None:
    await client.send_user_message("A", "kumquat", message_id="m1")
    with pytest.raises(Rejected, match=THERE + r"context\.content differ") as caught:
        await client.send_user_message("A", "walnut", message_id="m1")
    assert not {"kumquat", "walnut"} & set(str(caught.value).split())
    await client.send_tool_result("A", "weather", "r1", {"celsius": 10}, message_id="t1")
    with pytest.raises(Rejected, match=THERE + r"context\.error, context\.output, context\.status differ"):
        await client.send_tool_result("A", "weather", "r1", None, error="no answer", message_id="t1")


async def test_any_breadcrumb_published_twice_is_a_duplicate_only_when_it_is_the_same(client: Client) -> None:
    record = make_record("note.v1", "n1", "A", {"content": "One."})
    first = await client.publish(outgoing(record, client.workspace))
    again = await client.publish(outgoing(record, client.workspace))
    assert (again.sequence, first.duplicate, again.duplicate) == (first.sequence, False, True)
    with pytest.raises(Rejected, match=THERE + "title differ"):
        await client.publish(outgoing(record | {"title": "Other"}, client.workspace))


async def test_what_was_deleted_meanwhile_is_not_taken_for_published(client: Client, broker: Broker) -> None:
    event = outgoing(make_record("note.v1", "n1", "A", {"content": "One."}), client.workspace)
    published = await client.publish(event)
    async with jetstream(broker.url) as js:
        await js.delete_msg(BREADCRUMBS, published.sequence)
    with pytest.raises(Rejected, match="which was deleted since; take another id"):
        await client.publish(event)


async def test_the_service_s_own_breadcrumbs_never_stand_for_those_of_another_session(client: Client, broker: Broker) -> None:
    async with jetstream(broker.url) as js:
        sender = NatsSender(js, NatsStream(js, lambda: 1))
        event = outgoing(make_record("note.v1", "n1", "A", {"content": "One."}), client.workspace)
        first = await sender.send(event.subject, event.data, event.message_id)
        assert await sender.send(event.subject, event.data, event.message_id) == first
        with pytest.raises(Rejected, match="it stands on"):
            await sender.send(event.subject.replace(".A.", ".B."), event.data, event.message_id)


def line(identity: str, text: str, **fields: Any) -> str:
    return json.dumps({"id": identity, "schema_name": "note.v1", "context": {"content": text}} | fields)


async def test_an_import_tells_which_events_the_stream_has_with_other_content_and_imports_the_others(
    client: Client, broker: Broker, tmp_path: Path
) -> None:
    await client.publish(outgoing(json.loads(line("n1", "One.", session="A")), client.workspace))
    file = tmp_path / "events.jsonl"
    env = environment(tmp_path / "data", nats__servers=broker.url, workspace=client.workspace)
    said = [line("n0", "Zero."), line("n1", "Other."), line("n2", "Two."), line("n2", "Two."), line("n2", "Changed.")]
    file.write_text("\n".join(said), "utf-8")
    for published, skipped in ((2, 1), (0, 3)):
        done = run("import", str(file), "--session", "A", "--json", env=env)
        result = json.loads(done.stdout)
        assert (result["published"], result["skipped"]) == (published, skipped)
        assert [sentence.partition(":")[0] for sentence in result["refusals"]] == ["line 2", "line 5"]
        assert done.returncode == 65
        assert f"line 2: the stream has {client.workspace}:n1:1 with other content" in done.stderr
    file.write_text("\n".join(said[:1] + said[2:4]), "utf-8")
    assert json.loads(run("import", str(file), "--session", "A", "--json", env=env).stdout)["refusals"] == []


CHAT = [{"role": "user", "content": "The kiln is blue.", "id": "1"}, {"role": "assistant", "content": "Noted."}]


async def test_what_an_earlier_release_imported_under_its_ids_is_not_imported_again(
    client: Client, broker: Broker, tmp_path: Path
) -> None:
    former = str(uuid5(NAMESPACE, 'A\0001\0{"content":"Noted.","role":"assistant"}'))
    for identity, schema, body in (
        ("1", "user.message.v1", {"content": "The kiln is blue."}),
        (former, "agent.response.v1", {"message": "Noted.", "trigger_event_id": "1"}),
    ):
        record = {"id": identity, "schema_name": schema, "session": "A", "context": body}
        await client.publish(outgoing(record, client.workspace), replay=True)
    env = environment(tmp_path / "data", nats__servers=broker.url, workspace=client.workspace)
    file = tmp_path / "chat.jsonl"
    for chat, published in ((CHAT, 0), ([*CHAT, {"role": "user", "content": "Which colour?"}], 1)):
        file.write_text("\n".join(map(json.dumps, chat)), "utf-8")
        result = json.loads(run("import", str(file), "--session", "A", "--json", env=env).stdout)
        assert (result["published"], result["skipped"], result["refusals"]) == (published, 2, [])


async def test_a_chat_that_got_new_fields_is_not_imported_again(client: Client, broker: Broker, tmp_path: Path) -> None:
    env = environment(tmp_path / "data", nats__servers=broker.url, workspace=client.workspace)
    file = tmp_path / "chat.jsonl"
    newer = [{**message, "name": "Mia", "score": 0.5, "timestamp": 1777888000} for message in CHAT]
    for chat, published in ((CHAT, 2), (newer, 0)):
        file.write_text("\n".join(map(json.dumps, chat)), "utf-8")
        result = json.loads(run("import", str(file), "--session", "A", "--json", env=env).stdout)
        assert (result["published"], result["refusals"]) == (published, [])


BAD = (
    {"role": "user", "content": "One.", "timestamp": "soon"},
    {"role": "user", "content": 5},
    {"role": "user", "content": "One.", "name": "n" * 250},
    {"id": "a b", "schema_name": "note.v1", "context": {"content": "One."}},
    {"id": "c", "schema_name": "note.v1", "context": {"content": "word " * 300_000}},
)


async def test_an_import_publishes_nothing_that_the_service_refuses(client: Client, broker: Broker, tmp_path: Path) -> None:
    env = environment(tmp_path / "data", nats__servers=broker.url, workspace=client.workspace)
    file = tmp_path / "chat.jsonl"
    lines = [*(json.dumps(each).encode() for each in (CHAT[0], *BAD)), b'{"role": "user", "content": "gr\xfcn"}', b'{"ro']
    file.write_bytes(b"\n".join(lines))
    strict = run("import", str(file), "--session", "A", "--strict", env=env)
    assert (strict.returncode, "nothing was imported, because of --strict; line 2: timestamp is 'soon'" in strict.stderr) == (
        65,
        True,
    )
    done = run("import", str(file), "--session", "A", "--json", env=env)
    result = json.loads(done.stdout)
    assert (done.returncode, result["published"]) == (65, 1)
    assert [line.partition(":")[0] for line in result["refusals"]] == [f"line {number}" for number in (2, 3, 4, 5, 6, 7, 8)]
    async with jetstream(broker.url) as js:
        stored = await js.get_msg(BREADCRUMBS, subject=f"breadcrumbs.{client.workspace}.A.user.message.v1", seq=1, next=True)
        assert json.loads(stored.data or b"")["context"] == {"content": "The kiln is blue."}


async def test_an_import_reads_standard_input_and_says_that_there_is_nothing(
    client: Client, broker: Broker, tmp_path: Path
) -> None:
    env = environment(tmp_path / "data", nats__servers=broker.url, workspace=client.workspace)
    done = run("import", "-", "--session", "A", "--json", env=env, stdin="\ufeff" + "\r\n".join(map(json.dumps, CHAT)))
    assert json.loads(done.stdout)["published"] == 2
    (tmp_path / "empty.jsonl").write_text("\n", "utf-8")
    for file, text in (("-", ""), (str(tmp_path / "empty.jsonl"), "")):
        empty = run("import", file, "--session", "A", env=env, stdin=text)
        assert (empty.returncode, f"there is nothing to import in {file}" in empty.stderr) == (65, True)
