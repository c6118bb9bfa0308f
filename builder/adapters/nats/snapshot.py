"""Snapshots of streams by JetStream's own API: each message with its sequence, time and headers, and the durables.

A file is a tar archive, compressed by S2, as the server makes it. Source: https://docs.nats.io/reference/jetstream/api/stream.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import DeliverPolicy

from builder.adapters.nats.connection import translated
from builder.domain.errors import Unavailable

PART_BYTES = 128 * 1024
PART_SECONDS = 60.0
"""Longest wait for a part."""
WHOLE_SECONDS = 3600.0
"""Longest wait while the server checks each message of a stream, before the first part, or unpacks them after the last."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stream as it was at a moment between two states: nats-server 2.11 also has messages that came meanwhile."""

    config: dict[str, Any]
    """As JSON of the JetStream API; the states too."""
    earliest: dict[str, Any]
    latest: dict[str, Any]
    sha256: str
    """Of its file, in hexadecimal digits."""

    @property
    def last(self) -> int:
        """Highest sequence that it may have."""
        return int(self.latest["last_seq"])

    @property
    def messages(self) -> int:
        """How many it has at least."""
        return min(int(self.earliest["messages"]), int(self.latest["messages"]))

    def fits(self, last: int) -> bool:
        """Whether a stream that ends at this sequence may be this one."""
        return int(self.earliest["last_seq"]) <= last <= self.last


async def take_snapshot(connection: Client, stream: str, file: Path, progress: Callable[[int, int], None]) -> Snapshot:
    """Write a stream to a file, which appears once it is whole.

    progress: (bytes, bytes of the stream); the file is smaller than the stream. Raises `Unavailable`, `OSError`.
    """
    partial, size = file.with_name(f"{file.name}.partial"), 0
    subscription = await connection.subscribe(connection.new_inbox(), pending_bytes_limit=-1)
    try:
        request = {"deliver_subject": subscription.subject, "chunk_size": PART_BYTES, "jsck": True}
        answer = await _ask(connection, f"$JS.API.STREAM.SNAPSHOT.{stream}", json.dumps(request).encode(), WHOLE_SECONDS)
        with partial.open("wb") as output:
            while True:
                with translated(f"reading stream {stream}"):
                    part = await subscription.next_msg(PART_SECONDS)
                    if part.reply:
                        await part.respond(b"")
                if not part.data:
                    break
                size += output.write(part.data)
                progress(size, int(answer["state"]["bytes"]))
            output.flush()
            os.fsync(output.fileno())
        if failure := (part.headers or {}).get("Description"):
            raise Unavailable(f"the broker ended the snapshot of stream {stream}: {failure}; run the command again")
    finally:
        await subscription.unsubscribe()
    partial.replace(file)
    latest = (await _ask(connection, f"$JS.API.STREAM.INFO.{stream}", b"", PART_SECONDS))["state"]
    return Snapshot(answer["config"], answer["state"], latest, digest(file))


def digest(file: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits. Raises `OSError`."""
    with file.open("rb") as whole:
        return file_digest(whole, "sha256").hexdigest()


async def restore_snapshot(
    connection: Client, snapshot: Snapshot, changes: dict[str, Any], file: Path, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Make a stream from a file; returns its state. The broker must have no stream of that name.

    changes: of its configuration. progress: (bytes, bytes of the file). Raises `Unavailable`, `OSError`.
    """
    stream, size, done = snapshot.config["name"], file.stat().st_size, 0
    request = json.dumps({"config": snapshot.config | changes, "state": snapshot.earliest}).encode()
    target = (await _ask(connection, f"$JS.API.STREAM.RESTORE.{stream}", request, PART_SECONDS))["deliver_subject"]
    with file.open("rb") as parts:
        while part := parts.read(PART_BYTES):
            await _ask(connection, target, part, PART_SECONDS)
            progress(done := done + len(part), size)
    restored: dict[str, Any] = (await _ask(connection, target, b"", WHOLE_SECONDS))["state"]
    return restored


async def rewind_durables(js: JetStreamContext, stream: str) -> None:
    """Make durables again that believe to have delivered more than a restored stream has: they would pass over what comes next.

    nats-server 2.11 saves durables after the messages. Raises `Unavailable`.
    """
    with translated(f"looking at the durables of {stream}"):
        last, number = (await js.stream_info(stream)).state.last_seq, 0
        while page := await js.consumers_info(stream, offset=number):
            number += len(page)
            for info in page:
                if info.delivered and info.delivered.stream_seq > last:
                    settled = min(info.ack_floor.stream_seq if info.ack_floor else 0, last)
                    start = replace(info.config, deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=settled + 1)
                    await js.delete_consumer(stream, info.name)
                    await js.add_consumer(stream, start)


async def _ask(connection: Client, subject: str, data: bytes, seconds: float) -> dict[str, Any]:
    with translated(f"asking {subject}"):
        reply = await connection.request(subject, data, timeout=seconds)
    answer: dict[str, Any] = json.loads(reply.data or b"{}")
    if error := answer.get("error"):
        raise Unavailable(
            f"{subject} failed: {error['description']}; stop every worker, look at the broker's log, then run it again"
        )
    return answer
