"""Dead letters: read, retried, cleared."""

import base64
import json
import uuid
from typing import Any

from builder.app import clear_dead_letters, client_options, read_breadcrumb, read_dead_letters
from builder.app.settings import Settings
from builder.client import connect
from builder.domain.breadcrumb import Place
from builder.domain.errors import Rejected
from builder.wire.records import Outgoing


async def letters(settings: Settings, servers: str) -> list[dict[str, Any]]:
    """All dead letters, oldest first."""
    return [json.loads(data) for data in await read_dead_letters(settings, servers)]


async def letter(settings: Settings, servers: str, sequence: int) -> dict[str, Any]:
    """The newest dead letter of a breadcrumb. Raises `Rejected` when there is none."""
    found = [item for item in await letters(settings, servers) if item["sequence"] == sequence]
    if not found:
        raise Rejected(f"there is no dead letter for sequence {sequence}; `context-builder dead-letters list` shows them all")
    return max(found, key=lambda item: int(item["incarnation"]))


async def retry(settings: Settings, servers: str, sequence: int) -> dict[str, Any]:
    """Publish the rejected bytes on their subject again, as a replay if they were one; they get a new place, the letter goes.

    What is rejected again comes back as a new letter.
    Raises `Rejected` when there is no letter, or when it holds the beginning only and the stream no longer has the whole.
    """
    found = await letter(settings, servers, sequence)
    data = base64.b64decode(found["data"])
    if len(data) < found["bytes"]:
        data = await read_breadcrumb(settings, servers, place_of(found), found["subject"])
    event = Outgoing(subject=found["subject"], data=data, message_id=f"retry:{sequence}:{uuid.uuid4()}")
    async with connect(servers, settings.workspace, **client_options(servers, settings)) as client:
        published = await client.publish(event, replay=found.get("replay", False))  # older letters do not say
    await clear_dead_letters(settings, servers, [place_of(found)])
    return {"sequence": published.sequence, "subject": found["subject"]}


async def clear(settings: Settings, servers: str, sequences: list[int]) -> int:
    """Take the letters of these breadcrumbs away, of all when none is named; returns how many. Raises `Rejected`."""
    every = await letters(settings, servers)
    unknown = sorted(set(sequences) - {item["sequence"] for item in every})
    if unknown:
        known = ", ".join(map(str, unknown))
        raise Rejected(f"there is no dead letter for sequence {known}; `context-builder dead-letters list` shows them all")
    chosen = [item for item in every if not sequences or item["sequence"] in sequences]
    await clear_dead_letters(settings, servers, map(place_of, chosen))
    return len(chosen)


def place_of(found: dict[str, Any]) -> Place:
    """Where the breadcrumb of a letter stands, or stood."""
    return Place(found["incarnation"], found["sequence"])


def readable(found: dict[str, Any]) -> str:
    """A dead letter for people."""
    text = base64.b64decode(found["data"]).decode("utf-8", "replace")
    head = "\n".join(f"{name:12} {found[name]}" for name in ("reason", "subject", "sequence", "received_at", "bytes"))
    return f"{head}\n\n{text}\n"
