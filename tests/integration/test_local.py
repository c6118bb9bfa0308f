"""The whole service inside a process, on a folder: kept, stopped, and nobody else's while it runs."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.client import Client, Rejected
from builder.client.sync import SyncClient
from builder.domain.errors import Misconfigured
from builder.local import local
from tests.commands import python_path
from tests.running import Process, wait_for

ROOT = Path(__file__).resolve().parents[2]
OTHER = """
import sys, threading
from builder.local import local
with local(sys.argv[1]) as client:
    client.send_user_message("s1", "The kiln is called K-4711.")
    print("begun", flush=True)
    threading.Event().wait()
"""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_BUILDER_EMBEDDING__ENGINE", "none")
    monkeypatch.setenv("CONTEXT_BUILDER_NATS__SERVERS", "nats://127.0.0.1:1")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Process]:
    """Another process with the folder `memory`."""
    env = os.environ | {"PYTHONPATH": python_path(ROOT)}
    script = tmp_path / "other.py"
    script.write_text(OTHER, "utf-8")
    process = Process([str(script), str(tmp_path / "memory")], env, tmp_path / "log")
    with process:
        wait_for(lambda: "begun" in process.said() or not process.running, "the other process to have the folder")
        assert process.running, process.said()
        yield process


def texts(client: SyncClient) -> list[str]:
    return [record.text for record in client.history("s1")]


def is_free(folder: Path) -> bool:
    """Whether no nats-server has the folder."""
    running = subprocess.run(["pgrep", "-f", f"nats-server.*{folder}"], capture_output=True, check=False)
    return running.returncode == 1


def test_what_was_sent_is_there_in_the_next_block_and_nothing_runs_between(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "memory"
    before = gc.get_threshold(), bool(gc.get_freeze_count()), sys.getswitchinterval()
    memory = local(folder)
    for number in range(2):
        with memory as client:
            assert "Message 0." in client.ask("s1", f"Message {number}.").content
        assert is_free(folder)
    assert (gc.get_threshold(), bool(gc.get_freeze_count()), sys.getswitchinterval()) == before
    with local(str(folder), "other") as client:
        assert texts(client) == []


async def test_a_block_may_be_asynchronous(tmp_path: Path) -> None:
    async with local(tmp_path) as client:
        assert isinstance(client, Client)
        await client.send_user_message("s1", "Hello.")
    async with local(tmp_path) as client:
        assert [record.text async for record in client.history("s1")] == ["Hello."]
    starting = asyncio.create_task(local(tmp_path).__aenter__())
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert await asyncio.to_thread(is_free, tmp_path)


def test_another_process_is_told_who_has_the_folder_and_may_share_it(tmp_path: Path, other: Process) -> None:
    folder = tmp_path / "memory"
    with pytest.raises(Misconfigured) as refused, local(folder):
        pass
    sentence = str(refused.value)
    assert sentence.startswith(f'{folder} is in use by process {other.pid}; stop it, use its service with local(url="nats://')
    with local(url=sentence.partition('"')[2].partition('"')[0]) as client:
        assert texts(client) == ["The kiln is called K-4711."]
    assert other.running


def test_what_a_killed_process_had_sent_is_there(tmp_path: Path, other: Process) -> None:
    other.signal(signal.SIGKILL)
    other.wait()
    with local(tmp_path / "memory") as client:
        assert texts(client) == ["The kiln is called K-4711."]


def test_a_block_that_fails_stops_the_service_and_the_folders_templates_count(tmp_path: Path) -> None:
    (tmp_path / "templates" / "profiles").mkdir(parents=True)
    (tmp_path / "templates" / "profiles" / "short.yaml").write_text("extends: default\nbudget: 300\n", "utf-8")
    with local(tmp_path) as client:
        assert client.ask("s1", "Hello.", consumer="short").event["token_budget"] == 300
    with pytest.raises(ZeroDivisionError), local(tmp_path):
        raise ZeroDivisionError
    assert is_free(tmp_path)


def test_what_is_wrong_is_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Rejected, match=r"workspace 'a\.b' does not fit"):
        local(tmp_path, "a.b")
    file = tmp_path / "file"
    file.write_text("", "utf-8")
    with pytest.raises(Misconfigured, match=f"{file} cannot be written: .*; give a folder of this user"), local(file):
        pass
    monkeypatch.setenv("CONTEXT_BUILDER_LOG__LEVEL", "LOUD")
    with pytest.raises(Misconfigured, match="CONTEXT_BUILDER_LOG__LEVEL"), local(tmp_path / "memory"):
        pass
    assert not (tmp_path / "memory").exists()
    monkeypatch.setitem(sys.modules, "builder.local.service", None)
    with (
        pytest.raises(Misconfigured, match=r"builder\.local\.service is not installed: builder\.local runs the whole service"),
        local(),
    ):
        pass
