"""A restore goes on where it was, and refuses what it could damage or cannot trust."""

import asyncio
import json
import os
import shutil
from dataclasses import fields
from pathlib import Path

import nats
import pytest
from nats.aio.msg import Msg

from builder.adapters.nats.topology import BREADCRUMBS, DEADLETTERS, RESTORED_FILE, RESTORING, Topology, ensure_streams
from builder.extras.operations.snapshot import Snapshot, restore_snapshot
from tests.commands import run
from tests.integration.test_backup import OPTIONS, talk
from tests.running import Broker, Running, all_settled, environment, jetstream, until


@pytest.fixture(scope="module")
def backup(folder: Path, service: Running) -> Path:
    target = folder / "backup"

    async def make() -> None:
        async with jetstream(service.url) as js:
            await talk(js, 0, 5)
            await all_settled(js)

    asyncio.run(make())
    assert run("backup", str(target), env=service.env).returncode == 0
    return target


async def test_a_stream_of_which_the_restore_was_cut_off_is_restored_whole(tmp_path: Path) -> None:
    """nats-server 2.15 shows it with the messages that it got."""
    with Broker(tmp_path / "one") as broker, Broker(tmp_path / "two") as empty:
        env, folder = environment(tmp_path, nats__servers=empty.url), tmp_path / "backup"
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            for _ in range(60):
                await js.publish("breadcrumbs.acme.s1.note.v1", os.urandom(50_000))
            assert run("backup", str(folder), "--servers", broker.url, env=env).returncode == 0
        saved = json.loads((folder / "manifest.json").read_text("utf-8"))["streams"][BREADCRUMBS]
        connection = await nats.connect(empty.url)
        metadata = {RESTORED_FILE: saved["sha256"], RESTORING: "a run that was killed"}
        config = saved["config"] | {"metadata": metadata, "subjects": ["restoring.BREADCRUMBS"]}
        request = json.dumps({"config": config, "state": saved["earliest"]}).encode()
        target = json.loads((await connection.request(f"$JS.API.STREAM.RESTORE.{BREADCRUMBS}", request)).data)["deliver_subject"]
        data = (folder / "BREADCRUMBS.tar.s2").read_bytes()
        for start in range(0, len(data) * 2 // 3, 100_000):
            await connection.request(target, data[start : start + 100_000])
        await connection.close()
        async with jetstream(empty.url) as js:
            again = run("restore", str(folder), env=env)
            assert again.returncode == 0, again.stderr
            assert (await js.stream_info(BREADCRUMBS)).state.messages == 60


async def test_a_restore_sends_a_part_again_that_nobody_heard(backup: Path, tmp_path: Path) -> None:
    """A client answers in place of JetStream. It listens to the subject that it named once a part was lost, as in a cluster."""
    account = 'users: [{user: a, password: a}], mappings: {"$JS.API.STREAM.RESTORE.*": "restore.$1"}'
    saved = json.loads((backup / "manifest.json").read_text("utf-8"))["streams"][DEADLETTERS]
    snapshot = Snapshot(**{field.name: saved[field.name] for field in fields(Snapshot)})
    parts: list[bytes] = []
    with Broker(tmp_path / "broker", configuration=f"accounts {{A {{{account}}}}}\n") as broker:
        url = broker.url.replace("nats://", "nats://a:a@")
        server, client = await nats.connect(url), await nats.connect(url)

        async def is_lost() -> bool:
            return client.stats["in_msgs"] > 1  # beside the subject, an answer to a part

        async def name_a_subject(message: Msg) -> None:
            await message.respond(b'{"deliver_subject": "parts"}')
            await until(is_lost, "a part to be lost")
            await server.subscribe("parts", cb=take)

        async def take(message: Msg) -> None:
            parts.append(message.data)
            await message.respond(b'{"state": {"messages": 0}}')

        await server.subscribe("restore.*", cb=name_a_subject)
        await server.flush()
        file = backup / f"{DEADLETTERS}.tar.s2"
        assert await restore_snapshot(client, snapshot, {}, file, lambda *_: None) == {"messages": 0}
        assert b"".join(parts) == file.read_bytes()
        for connection in (server, client):
            await connection.close()


async def test_a_restore_refuses_a_stream_with_messages_of_its_own_and_takes_an_empty_one(backup: Path, tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "service", broker.url, **OPTIONS) as service:
        running = run("restore", str(backup), env=service.env)
        assert (running.returncode, "stop every worker" in running.stderr) == (78, True)
        assert service.stop() == 0
        async with jetstream(broker.url) as js:
            await talk(js, 0, 1)
            refused = run("restore", str(backup), env=service.env)
            assert refused.returncode == 65
            assert "stream BREADCRUMBS of this broker has 1 messages of its own" in refused.stderr
            await js.purge_stream(BREADCRUMBS)
        assert run("restore", str(backup), env=service.env).returncode == 0


@pytest.mark.parametrize(
    ("file", "words"), [("CONTEXTS.tar.s2", "is damaged: its SHA-256 is not"), ("manifest.json", "is no manifest of a backup")]
)
def test_a_damaged_backup_is_refused_before_anything_is_changed(file: str, words: str, backup: Path, tmp_path: Path) -> None:
    damaged = shutil.copytree(backup, tmp_path / "backup") / file
    data = damaged.read_bytes()
    damaged.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
    done = run("restore", str(tmp_path / "backup"), env=environment(tmp_path, nats__servers="nats://127.0.0.1:1"))
    assert (done.returncode, words in done.stderr) == (65, True)


@pytest.mark.parametrize(
    ("command", "path", "words"),
    [
        ("restore", "/nowhere", "the backup folder /nowhere cannot be used"),
        ("backup", "/proc/nowhere", "the backup folder /proc/nowhere cannot be used"),
    ],
)
def test_a_folder_that_cannot_be_used_is_named(command: str, path: str, words: str, service: Running, tmp_path: Path) -> None:
    env = environment(tmp_path, nats__servers=service.url)
    done = run(command, path, env=env)
    assert (done.returncode, words in done.stderr) == (65, True)


def test_another_installation_neither_saves_nor_takes_these_streams(backup: Path, service: Running, tmp_path: Path) -> None:
    env = environment(tmp_path, nats__servers=service.url, name="staging")
    saved, restored = run("backup", str(tmp_path / "backup"), env=env), run("restore", str(backup), env=env)
    assert (saved.returncode, "has no stream staging-BREADCRUMBS" in saved.stderr) == (65, True)
    assert (restored.returncode, "is a backup of installation 'context-builder'" in restored.stderr) == (65, True)
