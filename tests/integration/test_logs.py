"""With CONTEXT_BUILDER_LOG__FORMAT=json every line of standard error is one object, from start to stop and in every failure."""

import json
import os
import re
import socket
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from builder.adapters.nats.topology import BREADCRUMBS
from tests.commands import COMMAND, run
from tests.running import ROOT, Broker, Process, environment, jetstream, wait_for


def objects(written: str) -> list[dict[str, Any]]:
    """Each line; fails with one that is no object of the log."""
    lines = [json.loads(line) for line in written.splitlines()]
    for line in lines:
        assert [*line][:4] == ["time", "level", "logger", "message"]
        assert datetime.fromisoformat(line["time"]).utcoffset() == timedelta(0)
        assert line["level"] in {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}
        assert line["message"]
        assert "\n" not in line["message"]
    return lines


def messages(process: Process) -> str:
    """All of them; a line that is being written is left out."""
    return "\n".join(line["message"] for line in objects(process.said().rpartition("\n")[0]))


async def test_every_line_is_an_object_while_all_goes_wrong(tmp_path: Path) -> None:
    profiles = tmp_path / "templates" / "profiles"
    profiles.mkdir(parents=True)
    with Broker(tmp_path / "broker") as broker:
        settings = {"nats__servers": broker.url, "log__format": "json", "templates_dir": tmp_path / "templates"}
        with Process([COMMAND, "worker"], environment(tmp_path, **settings), tmp_path / "log") as service:
            wait_for(lambda: "started" in messages(service), "the start")
            async with jetstream(broker.url) as js:
                await js.publish("breadcrumbs.acme.s1.user.message.v1", b"no JSON", stream=BREADCRUMBS)
            wait_for(lambda: "rejected breadcrumbs.acme" in messages(service), "a rejected message")
            (profiles / "default.yaml").write_text("budget: much\n", "utf-8")
            wait_for(lambda: "the last good profiles" in messages(service), "a refused edit")
            broker.kill()
            wait_for(lambda: "trying again" in messages(service), "the loss of the broker")
            broker.start()
            wait_for(lambda: re.search(r"connected to .* again", messages(service)), "its return")
            assert service.stop() == 0
            assert messages(service).endswith("stopped")


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ({"nats__servers": "nats://127.0.0.1:9"}, 69, "no NATS server answered"),
        ({"log__levle": "INFO"}, 78, "is no setting; did you mean"),
        ({"nats__port": "x"}, 78, "Input should be a valid integer"),
        ({"http__port": "taken"}, 78, "port"),
    ],
)
def test_a_refused_start_is_an_object_with_the_exit_code(tmp_path: Path, settings: dict[str, str], code: int, said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        own = {name: value.replace("taken", str(taken.getsockname()[1])) for name, value in settings.items()}
        process = Process([COMMAND, "up"], environment(tmp_path, log__format="json", **own), tmp_path / "log")
        process.launch()
        assert process.wait() == code
    last = objects(process.said())[-1]
    assert said in last["message"]
    assert (last["level"], last["exit_code"]) == ("ERROR", code)


def test_a_command_of_a_job_writes_objects_for_collectors(tmp_path: Path, broker: Broker) -> None:
    env = environment(tmp_path, nats__servers=broker.url, log__format="json")
    done = run("reindex", env=env)
    assert done.returncode == 0
    assert objects(done.stderr)[-1]["message"].endswith("breadcrumbs remembered, 0 could not be read")


UNHANDLED = """
import asyncio, threading, warnings
from builder.app.logs import report_unhandled, set_up_logging

def fails(): raise ValueError("first\\nsecond")
async def forgets(): asyncio.get_running_loop().create_task(fails_later()); await asyncio.sleep(0.01)
async def fails_later(): fails()

class Unraisable:
    def __del__(self): fails()

set_up_logging("INFO", "json")
report_unhandled()
warnings.warn("old\\nway", stacklevel=1)
thread = threading.Thread(target=fails); thread.start(); thread.join()
asyncio.run(forgets())
Unraisable()
fails()
"""


def test_warnings_and_exceptions_that_nobody_caught_are_objects_with_the_traceback_in_a_field() -> None:
    run = subprocess.run([sys.executable, "-c", UNHANDLED], cwd=ROOT, env=dict(os.environ), capture_output=True, check=False)
    assert run.returncode == 1
    lines = objects(run.stderr.decode())
    assert [line["level"] for line in lines] == ["WARNING", "CRITICAL", "ERROR", "CRITICAL", "CRITICAL"]
    assert "old way" in lines[0]["message"]
    assert ["in fails" in line["exception"] and "ValueError: first\nsecond" in line["exception"] for line in lines[1:]] == [
        True
    ] * 4
