"""Snapshots of streams by JetStream's own API: each message with its sequence, time and headers.

Durables are read beside it and made again: nats-server 2.11 saves them after the messages, and a cluster restores them late.

A file is a tar archive, compressed by S2, as the server makes it. Source: https://docs.nats.io/reference/jetstream/api/stream.
"""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import stamina
from nats.aio.client import Client
from nats.errors import NoRespondersError

from builder.adapters.nats.connection import translated
from builder.domain.errors import Unavailable

PART_BYTES = 128 * 1024
PART_SECONDS = 60.0
"""Longest wait for a part."""
WHOLE_SECONDS = 3600.0
"""Longest wait while the server checks each message of a stream, before the first part, or unpacks them after the last."""
ROUTE_SECONDS = 30.0
"""Longest wait until a subject that one server of a cluster names is known to the others."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stream as it was at a moment between two states: nats-server 2.11 also has messages that came meanwhile."""

    config: dict[str, Any]
    """As JSON of the JetStream API; the states too."""
    earliest: dict[str, Any]
    latest: dict[str, Any]
    durables: list[dict[str, Any]]
    """Their configurations, each going on where it was."""
    sha256: str
    """Hash of its file, in hexadecimal digits."""

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
        request = {"deliver_subject": subscription.subject, "chunk_size": PART_BYTES, "no_consumers": True, "jsck": True}
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
    return Snapshot(answer["config"], answer["state"], latest, await _durables(connection, stream), digest(file))


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
    target = (await _ask_until_heard(connection, f"$JS.API.STREAM.RESTORE.{stream}", request))["deliver_subject"]
    with file.open("rb") as parts:
        while part := parts.read(PART_BYTES):
            await _ask_until_heard(connection, target, part)
            progress(done := done + len(part), size)
    restored: dict[str, Any] = (await _ask(connection, target, b"", WHOLE_SECONDS))["state"]
    return restored


async def change_stream(connection: Client, stream: str, changes: dict[str, Any]) -> None:
    """Change its configuration, and leave what nats-py does not know of as it is. Raises `Unavailable`."""
    config = (await _ask(connection, f"$JS.API.STREAM.INFO.{stream}", b"", PART_SECONDS))["config"]
    await _ask(connection, f"$JS.API.STREAM.UPDATE.{stream}", json.dumps(config | changes).encode(), PART_SECONDS)


async def restore_durables(connection: Client, snapshot: Snapshot) -> None:
    """Make the durables of a stream that takes no message yet; may be repeated. Raises `Unavailable`."""
    stream = snapshot.config["name"]
    last = (await _ask(connection, f"$JS.API.STREAM.INFO.{stream}", b"", PART_SECONDS))["state"]["last_seq"]
    for durable in snapshot.durables:
        # A start beyond the end would pass over what comes next: a durable may have got further than the snapshot.
        start = {"opt_start_seq": min(durable["opt_start_seq"], last + 1)} if "opt_start_seq" in durable else {}
        request = json.dumps({"stream_name": stream, "config": durable | start}).encode()
        with suppress(Unavailable):  # none is there; one with another start cannot be changed
            await _ask(connection, f"$JS.API.CONSUMER.DELETE.{stream}.{durable['durable_name']}", b"", PART_SECONDS)
        await _ask(connection, f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}.{durable['durable_name']}", request, PART_SECONDS)


async def _durables(connection: Client, stream: str) -> list[dict[str, Any]]:
    infos: list[dict[str, Any]] = []
    while True:
        request = json.dumps({"offset": len(infos)}).encode()
        page = await _ask(connection, f"$JS.API.CONSUMER.LIST.{stream}", request, PART_SECONDS)
        infos += page["consumers"] or ()
        if missing := page.get("missing"):
            raise Unavailable(f"the durables {', '.join(missing)} do not answer; look at the cluster, and run the command again")
        if not page["consumers"] or len(infos) >= page["total"]:
            return [_continued(info) for info in infos if info["config"].get("durable_name")]


def _continued(info: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a durable that begins where this one is. info: as the JetStream API has it."""
    config, reached = info["config"], info["ack_floor" if info["num_ack_pending"] else "delivered"]["stream_seq"]
    if reached:
        others = {name: value for name, value in config.items() if not name.startswith("opt_start")}
        return others | {"deliver_policy": "by_start_sequence", "opt_start_seq": reached + 1}
    since = {"deliver_policy": "by_start_time", "opt_start_time": info["created"]}
    return dict(config | (since if config["deliver_policy"] == "new" else {}))


async def _ask_until_heard(connection: Client, target: str, data: bytes) -> dict[str, Any]:
    """Ask again while nobody hears it: in a cluster an answer may be faster than the subject that it names."""
    caller = stamina.AsyncRetryingCaller(attempts=None, timeout=ROUTE_SECONDS, wait_initial=0.05, wait_max=0.5)
    return await caller(_is_unheard, _ask, connection, target, data, PART_SECONDS)


def _is_unheard(error: Exception) -> bool:
    return isinstance(error.__cause__, NoRespondersError)


async def _ask(connection: Client, subject: str, data: bytes, seconds: float) -> dict[str, Any]:
    with translated(f"asking {subject}"):
        reply = await connection.request(subject, data, timeout=seconds)
    answer: dict[str, Any] = json.loads(reply.data or b"{}")
    if error := answer.get("error"):
        raise Unavailable(
            f"{subject} failed: {error['description']}; stop every worker, look at the broker's log, then run it again"
        )
    return answer
