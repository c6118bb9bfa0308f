"""Workers on one broker see each other: a key-value bucket in which each of them writes what it runs, every few seconds."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import StorageType
from nats.js.errors import APIError, BucketNotFoundError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.errors import Error as JetStreamError
from nats.js.kv import KeyValue

from builder.adapters.nats.errors import Throttle
from builder.client.connecting import reason
from builder.domain.peer import Peer, comparison
from builder.wire.subjects import Installation

log = logging.getLogger("builder.nats")

BEAT_SECONDS = 2.0
"""Between two heartbeats of a worker, and between two looks at the others."""
TTL_SECONDS = 8.0
"""Age at which the broker removes a heartbeat: a killed worker is gone then. One that stops removes its own at once."""
CLOSE_SECONDS = 1.0
"""How long a stopping worker waits for the broker to take its keys away."""
WORKER, TASK = "worker", "task"
"""First words of the keys: one key a worker, one a task that only one worker does at a time."""
ADVICE = "a cluster that elects a leader answers within seconds; otherwise look at the broker and the rights on the bucket"
FAILURES = (APIError, JetStreamError, NatsError, OSError, TimeoutError)
"""What the bucket may raise; nothing else of the service depends on it."""


class PeerBucket:
    """The bucket of an installation, which is made where it is missing. Methods raise `FAILURES`."""

    def __init__(self, js: JetStreamContext, installation: Installation, replicas: int = 1, ttl: float = TTL_SECONDS) -> None:
        """replicas: of the bucket. ttl: seconds after which the broker removes a key, where the bucket is made."""
        self._js = js
        self._name = installation.bucket
        self._replicas = replicas
        self._ttl = ttl
        self._bucket: KeyValue | None = None

    async def write(self, key: str, data: bytes) -> None:
        """Set a key, which lasts TTL_SECONDS."""
        try:
            await (await self._open()).put(key, data)
        except FAILURES:
            self._bucket = None  # it may have been deleted
            raise

    async def claim(self, key: str, data: bytes) -> bool:
        """Set a key that is free; False when another worker has set it."""
        try:
            await (await self._open()).create(key, data)
        except KeyWrongLastSequenceError:
            return False
        return True

    async def remove(self, key: str) -> None:
        """Free a key."""
        await (await self._open()).delete(key)

    async def read(self) -> tuple[Peer, ...]:
        """Every worker, the one that started first in front. Keys that cannot be read are passed over."""
        stream, subject = f"KV_{self._name}", f"$KV.{self._name}.{WORKER}.*"
        info = await self._js.stream_info(stream, subjects_filter=subject)
        bucket = await self._open()
        peers = []
        for key in (name.removeprefix(f"$KV.{self._name}.") for name in info.state.subjects or {}):
            with contextlib.suppress(KeyNotFoundError, ValueError, TypeError, KeyError):
                peers.append(_peer((await bucket.get(key)).value or b""))
        return tuple(sorted(peers, key=lambda peer: (peer.started_at, peer.id)))

    async def _open(self) -> KeyValue:
        if self._bucket is None:
            try:
                self._bucket = await self._js.key_value(self._name)
            except BucketNotFoundError:
                self._bucket = await self._create()
        return self._bucket

    async def _create(self) -> KeyValue:
        """In memory, because a heartbeat that outlives the broker is of no use; on disk where the account has no memory."""
        options: dict[str, Any] = {"bucket": self._name, "ttl": self._ttl, "replicas": self._replicas}
        try:
            return await self._js.create_key_value(**options, storage=StorageType.MEMORY)
        except APIError:
            return await self._js.create_key_value(**options, storage=StorageType.FILE)


class Peers:
    """Writes this worker's heartbeat and compares the others with it."""

    def __init__(self, bucket: PeerBucket, own: Callable[[], Peer], every: float = BEAT_SECONDS) -> None:
        """own: what this worker runs now. every: seconds between two heartbeats."""
        self._bucket = bucket
        self._own = own
        self._every = every
        self._problem = ""
        self._throttle = Throttle()
        self._comparisons: dict[str, str] = {}
        self._tasks: set[str] = set()
        self.same = 0
        """Other workers that run the same, as of the last look."""

    @property
    def differing(self) -> int:
        """Other workers that run something else."""
        return len(self._comparisons)

    async def state(self) -> str:
        """What other workers run otherwise, or why they cannot be seen; empty when all run the same."""
        return self._problem or "; ".join(self._comparisons.values())

    async def run(self) -> None:
        """Until cancelled; then `close`."""
        while True:
            await self.beat()
            await asyncio.sleep(self._every)

    async def beat(self) -> None:
        """One heartbeat and one look at the others. Never raises for what the broker does."""
        own = self._own()
        try:
            await self._bucket.write(_key(own), _data(own))
            for task in self._tasks:
                await self._bucket.write(task, own.id.encode())
            peers = await self._bucket.read()
        except FAILURES as error:
            self._problem = f"other workers cannot be seen: {reason(error)}; {ADVICE}"
            if self._throttle.is_open():
                log.warning("%s", self._problem)
            return
        self._problem = ""
        self._compare(own, tuple(peer for peer in peers if peer.id != own.id))

    async def close(self) -> None:
        """Take this worker's keys away, so that the others do not wait for their end."""
        with contextlib.suppress(*FAILURES):
            async with asyncio.timeout(CLOSE_SECONDS):
                for key in (_key(self._own()), *self._tasks):
                    await self._bucket.remove(key)

    async def claim(self, task: str) -> bool:
        """Whether this worker may do the task now, until `release`. True where the bucket fails: tasks may be done twice."""
        key = f"{TASK}.{task}"
        try:
            is_ours = await self._bucket.claim(key, self._own().id.encode())
        except FAILURES:
            return True
        if is_ours:
            self._tasks.add(key)
        return is_ours

    async def release(self, task: str) -> None:
        """Let another worker do the task."""
        key = f"{TASK}.{task}"
        if key in self._tasks:
            self._tasks.remove(key)
            with contextlib.suppress(*FAILURES):
                await self._bucket.remove(key)

    def _compare(self, own: Peer, others: tuple[Peer, ...]) -> None:
        """Log each difference once."""
        sentences = {peer.id: sentence for peer in others if (sentence := comparison(own, peer))}
        for identity, sentence in sentences.items():
            if self._comparisons.get(identity) != sentence:
                log.warning("worker %s: the contexts depend on which of the two builds them; give both the same", sentence)
        if self._comparisons and not sentences:
            log.info("all %d other workers run the same as this one", len(others))
        self._comparisons, self.same = sentences, len(others) - len(sentences)


def _key(peer: Peer) -> str:
    return f"{WORKER}.{peer.id}"


def _data(peer: Peer) -> bytes:
    return json.dumps(asdict(peer) | {"started_at": peer.started_at.astimezone(UTC).isoformat()}).encode()


def _peer(data: bytes) -> Peer:
    """Raises ValueError, TypeError and KeyError for what no worker has written. Fields of other versions are passed over."""
    fields = json.loads(data)
    return Peer(
        id=str(fields["id"]),
        host=str(fields["host"]),
        code=str(fields["code"]),
        model=str(fields["model"]),
        templates=str(fields["templates"]),
        profiles={str(name): str(revision) for name, revision in dict(fields["profiles"]).items()},
        started_at=datetime.fromisoformat(fields["started_at"]).astimezone(UTC),
    )
