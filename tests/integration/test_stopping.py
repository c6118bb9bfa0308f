"""How the service ends: when it is told to, and when it cannot begin."""

import asyncio
import fcntl
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.commands import DEADLINE, run
from tests.free_ports import LOOPBACK, free_port
from tests.integration.inside import service_here, settings
from tests.running import Broker, Running, all_settled, answered, dead_letters, environment, jetstream, say, until


async def test_sigterm_finishes_what_was_begun_and_after_a_restart_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "service", broker.url, worker__ack_wait_seconds=2) as service:

        async def some_are_done() -> bool:
            return len(service.outcomes()) >= 5

        async with jetstream(broker.url) as js:
            for number in range(100):
                await say(
                    js, f"Message {number} about {('kilns', 'glazes', 'tyres')[number % 3]}.", f"s{number % 10}", f"m{number}"
                )
            await until(some_are_done, "work to have begun")
            assert service.stop() == 0
            assert attempts(tmp_path / "service") == 0
            before = len(await answered(js))
            assert before >= 5
            async with service_here(settings(tmp_path / "service", broker.url, ack_wait_seconds=2)):
                await all_settled(js)
            assert sorted(event["trigger_event_id"] for event in await answered(js)) == sorted(
                f"m{number}" for number in range(100)
            )
            assert await dead_letters(js) == []


def attempts(data: Path) -> int:
    """Deliveries that were begun and not finished."""
    with closing(sqlite3.connect(data / "store.sqlite3")) as store:
        return int(store.execute("SELECT count(*) FROM attempts").fetchone()[0])


def test_an_idle_service_ends_at_once_and_can_be_started_again_on_its_port_even_after_it_was_killed(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    running = Running(tmp_path / "data", nats__port=free_port(), worker__graceful_seconds=10 * DEADLINE)
    running.env["TMPDIR"] = str(tmp_path / "tmp")
    with running as service:
        url = service.url
        for number in (signal.SIGTERM, signal.SIGINT):
            service.signal(number)
            assert service.wait() == 0, "it did not wait for unfinished work, which has longer than this test"
            if number is signal.SIGTERM:
                service.start()
                service.kill()
                service.start()
                assert service.url == url
    assert list((tmp_path / "tmp").glob("context-builder*")) == []


async def test_a_service_that_cannot_begin_ends_with_its_code_and_a_sentence(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken, socket.socket() as silent, in_use(tmp_path / "used" / "nats"):
        port = taken.getsockname()[1]
        silent.bind((LOOPBACK, 0))  # nobody listens there, and no other test can take it
        (tmp_path / "file").mkdir()
        (tmp_path / "file" / "nats").touch()
        nobody = f"nats://{LOOPBACK}:{silent.getsockname()[1]}"
        cases = {
            f"HTTP cannot listen on {LOOPBACK}:{port}": (78, environment(tmp_path / "http", http__port=port)),
            "the embedded nats-server did not start": (78, environment(tmp_path / "nats", nats__port=port)),
            "run `context-builder models prepare`": (78, environment(tmp_path / "model", embedding__models_dir=tmp_path)),
            "is in use by another service": (78, environment(tmp_path / "used")),
            "cannot be written: [Errno 17] File exists": (78, environment(tmp_path / "file")),
            "CONTEXT_BUILDER_WORKER__BATCH": (78, environment(tmp_path / "batch", worker__batch="many")),
            f"no NATS server answered at {nobody}": (69, environment(tmp_path / "broker", nats__servers=nobody)),
        }
        ended = await asyncio.gather(*(asyncio.to_thread(run, "up", env=env) for _, env in cases.values()))
        for (sentence, (code, _)), process in zip(cases.items(), ended, strict=True):
            assert process.returncode == code, (sentence, process.stderr)
            last = process.stderr.strip().splitlines()[-1]
            assert last.startswith("context-builder: ")
            assert sentence in last
            assert "Traceback" not in process.stderr


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """The folder of an embedded server, as if a server were on it."""
    folder.mkdir(parents=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
