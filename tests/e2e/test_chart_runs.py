"""What the chart renders, run as processes: the containers of Jobs and pods, with their arguments and their environment.

The broker and PostgreSQL are real; Kubernetes is not there, so addresses, ports and folders are those of this machine.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chart import documents, environment, one, pod
from tests.chart_values import VARIANTS, Json
from tests.commands import COMMAND
from tests.postgres import new_database
from tests.running import Broker, Process, all_settled, answered, jetstream, say, triggers, wait_for

SESSIONS, MESSAGES = 6, 3


class Pods:
    """The containers of a variant, with what an operator would have in the cluster."""

    def __init__(self, variant: str, folder: Path, broker: str, store: str) -> None:
        """store: the URL in the Secret."""
        self._variant = variant
        self._folder = folder
        self._own = {"CONTEXT_BUILDER_NATS__SERVERS": broker, "CONTEXT_BUILDER_HTTP__PORT": "0"}
        self._store = store

    def container(self, spec: Json, name: str, pod_name: str) -> Process:
        """One container of a pod, not yet started."""
        (found,) = [each for each in [*spec.get("initContainers", []), *spec["containers"]] if each["name"] == name]
        data = self._folder / pod_name
        data.mkdir(exist_ok=True)
        rendered = environment(found)
        given = {key: value if isinstance(value, str) else self._store for key, value in rendered.items()}
        own = self._own | {"CONTEXT_BUILDER_DATA_DIR": str(data)}
        env = {key: value for key, value in os.environ.items() if not key.startswith("CONTEXT_BUILDER_")}
        command = [sys.executable, "-c"] if found.get("command") == ["python", "-c"] else [COMMAND]
        env |= given | {key: value for key, value in own.items() if key in rendered}
        return Process([*command, *found["args"]], env, data / name)

    def ends(self, spec: Json, name: str, pod_name: str) -> int:
        """The exit code of a container that ends by itself."""
        process = self.container(spec, name, pod_name)
        process.launch()
        return process.wait()

    def job(self, name: str) -> int:
        """The exit code of a Job, behind its init container."""
        spec: Json = one(self._variant, "Job", f"-{name}")["spec"]["template"]["spec"]
        assert self.ends(spec, "wait", name) == 0
        return self.ends(spec, name, name)

    def worker(self, number: int) -> Process:
        """The service of a pod, behind its init container."""
        assert self.ends(pod(self._variant), "wait", f"worker{number}") == 0
        return self.container(pod(self._variant), "context-builder", f"worker{number}")


def ready(worker: Process) -> None:
    """Wait until the service tells where its health is."""
    wait_for(lambda: "/readyz" in worker.said(), "the worker to be ready")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    with Broker(tmp_path / "broker") as running:
        yield running.url


@pytest.mark.parametrize("variant", ["workers on PostgreSQL", "workers with claims"])
async def test_the_workers_of_a_release_share_the_messages_and_answer_each_once(
    variant: str, tmp_path: Path, broker: str
) -> None:
    pods = Pods(variant, tmp_path, broker, new_database("chart") if "store" in VARIANTS[variant] else "")
    if "Job" in {document["kind"] for document in documents(variant)}:
        assert pods.job("migrate") == 0
    with ExitStack() as stack:
        workers = [stack.enter_context(pods.worker(number)) for number in range(2)]
        for worker in workers:
            ready(worker)
        async with jetstream(broker) as js:
            spoken = [(session, number) for number in range(MESSAGES) for session in range(SESSIONS)]
            for session, number in spoken:
                await say(js, f"Valve {number} of room {session} leaks.", f"s{session}", f"m{session}-{number}")
            await all_settled(js)
            expected = {("acme", f"s{session}", f"m{session}-{number}", "default") for session, number in spoken}
            found = triggers(await answered(js))
        assert set(found) == expected
        assert len(found) == len(expected)
        assert [worker.stop() for worker in workers] == [0, 0]


def test_the_job_that_rebuilds_postgresql_says_that_a_worker_must_stop_first(tmp_path: Path, broker: str) -> None:
    pods = Pods("workers on PostgreSQL, reindex", tmp_path, broker, new_database("chart_reindex"))
    assert pods.job("migrate") == 0
    with pods.worker(0) as worker:
        ready(worker)
        assert pods.job("reindex") == 78
        assert "stop the service" in (tmp_path / "reindex" / "reindex").read_text("utf-8")
        assert worker.stop() == 0
    assert pods.job("reindex") == 0
