"""Which broker a command talks to: the one it is given, or that of the service on its data folder, and never a secret guess."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builder.app.address import FILE_NAME, announcement, broker_address, running
from builder.app.settings import NatsSettings, Settings
from tests.commands import NOBODY_LISTENS, run
from tests.running import Broker, Running, environment

GUESS = "no servers are configured and no service runs on "


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Running]:
    with Running(folder / "data", nats__port=0) as started:
        yield started


def commands_of(service: Running, **changes: object) -> dict[str, str]:
    """The environment of another shell on the same data folder: it knows no port."""
    data = Path(service.env["CONTEXT_BUILDER_DATA_DIR"])
    env = environment(data, **changes)
    return {name: value for name, value in env.items() if changes.get("nats__port") or not name.endswith("NATS__PORT")}


def test_commands_on_the_data_folder_find_the_service_on_whatever_port_it_listens(service: Running) -> None:
    sent = run("send", "Where is the key?", "-s", "s1", "--wait", "default", env=commands_of(service))
    assert (sent.returncode, sent.stderr) == (0, NOBODY_LISTENS)
    assert "Where is the key?" in run("history", "s1", env=commands_of(service)).stdout
    assert run("dead-letters", "list", env=commands_of(service)).stderr == "no dead letters\n"


def test_the_port_moves_every_command(service: Running, tmp_path: Path) -> None:
    port = service.url.rpartition(":")[2]
    elsewhere = environment(tmp_path, nats__port=port)
    sent = run("send", "Over there?", "-s", "s2", "--wait", "default", env=elsewhere)
    assert (sent.returncode, sent.stderr) == (0, NOBODY_LISTENS)
    for command in (("history", "s2"), ("export", "s2")):
        assert "Over there?" in run(*command, env=elsewhere).stdout
    assert "Over there?" in run("history", "s2", "--servers", service.url, env=environment(tmp_path)).stdout


def test_a_command_that_cannot_know_whose_broker_it_is_says_which_one_it_takes(tmp_path: Path) -> None:
    env = {name: value for name, value in environment(tmp_path).items() if not name.endswith("NATS__PORT")}
    done = run("history", "s1", env=env)
    assert done.stderr.startswith(f"{GUESS}{tmp_path}: trying nats://127.0.0.1:4222\n")


def test_one_of_two_services_on_a_folder_is_found_and_a_folder_that_takes_no_file_stops_nobody(tmp_path: Path) -> None:
    config = Settings(data_dir=tmp_path)
    with announcement(config, "nats://me:secret@one:4222,nats://two:4222", 1), announcement(config, "nats://other:4222", 2):
        found = running(config)
    assert found is not None
    assert (found.nats, found.http, found.pid) == ("nats://one:4222,nats://two:4222", "http://127.0.0.1:1", os.getpid())
    (tmp_path / "file").write_text("", "utf-8")
    below = Settings(data_dir=tmp_path / "file" / "data")
    with announcement(below, "nats://one:4222", 1):
        assert running(below) is None


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_stops_no_service(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE_NAME).symlink_to("/dev/full")
    config = Settings(data_dir=tmp_path)
    with announcement(config, "nats://one:4222", 1):
        assert running(config) is None
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("commands will not find this service: ")
    assert line.endswith("cannot be written: No space left on device")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"nats": 1}', b'{"other": 1}'])
def test_a_file_that_says_nothing_is_no_service(tmp_path: Path, content: bytes) -> None:
    with announcement(Settings(data_dir=tmp_path), "nats://one:4222", 1):
        (tmp_path / FILE_NAME).write_bytes(content)
        assert running(Settings(data_dir=tmp_path)) is None


def test_what_is_given_wins_over_what_is_configured_and_that_over_what_runs(tmp_path: Path) -> None:
    plain, with_port, with_servers = (
        Settings(data_dir=tmp_path, nats=nats)
        for nats in (NatsSettings(), NatsSettings(port=4571), NatsSettings(servers="nats://far:4222", port=4571))
    )
    with announcement(plain, "nats://here:4600", 1):
        assert broker_address(with_servers, "nats://given:1").servers == "nats://given:1"
        assert broker_address(with_servers, "").servers == "nats://far:4222"
        assert broker_address(with_port, "").servers == "nats://127.0.0.1:4571"
        assert broker_address(plain, "").servers == "nats://here:4600"
        assert broker_address(Settings(data_dir=tmp_path, nats=NatsSettings(port=-1)), "").servers == "nats://here:4600"


def doctor(*arguments: str, env: dict[str, str]) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code and findings by part."""
    done = run("doctor", "--json", *arguments, env=env)
    return done.returncode, {finding["part"]: finding for finding in json.loads(done.stdout)}


def test_doctor_looks_at_the_running_service_and_its_broker(service: Running, tmp_path: Path) -> None:
    code, parts = doctor(env=commands_of(service))
    assert (code, parts["service"]["ok"], parts["service"]["warning"]) == (0, True, False)
    assert f"{service.http}/readyz says ok" in parts["service"]["said"]
    assert f"at {service.url}; BREADCRUMBS holds" in parts["broker"]["said"]
    assert "store.sqlite3 belongs to the stream of " in parts["store"]["said"]
    code, parts = doctor("--servers", service.url, env=environment(tmp_path))
    assert parts["store"]["said"].endswith("is made by the first start")
    assert parts["service"]["said"] == f"one answers at {service.url}, for default, framework, recall"
    assert f"at {service.url}; " in parts["broker"]["said"]
    code, parts = doctor(env=environment(tmp_path))
    assert (code, parts["service"]["warning"]) == (0, True)
    assert "start it with `context-builder up`" in parts["service"]["said"]


def test_a_store_of_another_stream_is_told_at_start_and_by_doctor_before_and_after_it(tmp_path: Path) -> None:
    told = "1 of 1 breadcrumbs of the store are of another stream than BREADCRUMBS on this broker"
    with Broker(tmp_path / "one") as one, Broker(tmp_path / "two") as two:
        with Running(tmp_path / "data", one.url, embedding__engine="none") as service:
            assert run("send", "Hello.", "--wait", "default", env=service.env).returncode == 0
            assert "another stream" not in service.said()
            assert service.stop() == 0
        for _ in ("without streams", "with streams"):
            _, parts = doctor("--servers", two.url, env=service.env)
            assert (parts["store"]["warning"], told in parts["store"]["said"]) == (True, True)
            with Running(tmp_path / "data", two.url, embedding__engine="none") as moved:
                assert told in moved.said()
                assert "CONTEXT_BUILDER_DATA_DIR" in moved.said()
                assert doctor(env=moved.env)[1]["store"]["warning"]
                assert moved.stop() == 0


def test_a_session_of_which_nothing_is_remembered_is_named(service: Running) -> None:
    done = run("history", "nowhere", env=commands_of(service))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nothing is remembered of session 'nowhere'\n")


def test_doctor_says_why_a_service_is_not_ready(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "data", broker.url) as service:
        broker.stop()
        code, parts = doctor(env=service.env)
        assert code == 1
        assert f"{service.http}/readyz says failing: stream: no answer about the durable" in parts["service"]["said"]
        assert parts["broker"]["said"].startswith(f"no NATS server answered at {broker.url}: ")


def test_a_search_shows_the_passages_and_says_when_nothing_answers(service: Running) -> None:
    done = run("search", "Where is the key?", "--session", "s1", env=commands_of(service))
    assert done.returncode == 0, done.stderr
    assert "Where is the key?" in done.stdout
    done = run("search", "Anything?", "--session", "nowhere", env=commands_of(service))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nothing answers it\n")
