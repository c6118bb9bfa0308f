"""Dead letters: read, retried, cleared."""

import base64
import json
import uuid
from typing import Any

from builder.app.operations.maintenance import clear_dead_letters, read_breadcrumb, read_dead_letters
from builder.cli.options import Target
from builder.domain.breadcrumb import Place
from builder.domain.errors import Rejected
from builder.wire.records import Outgoing


async def letters(target: Target) -> list[dict[str, Any]]:
    """All dead letters, oldest first."""
    return [json.loads(data) for data in await read_dead_letters(target.settings, target.servers)]


async def letter(target: Target, sequence: int) -> dict[str, Any]:
    """The newest dead letter of a breadcrumb. Raises `Rejected` when there is none."""
    return max(await _letters_of(target, {sequence}), key=lambda item: int(item["incarnation"]))


async def retry(target: Target, sequence: int) -> dict[str, Any]:
    """Publish the rejected bytes on their subject again, as a replay if they were one, and clear the letter.

    A second rejection makes a new letter. Raises `Rejected` when there is no letter, or when it holds the beginning only and the
    stream no longer has the whole.
    """
    item = await letter(target, sequence)
    if item.get("consumer"):
        raise Rejected(f"{item['reason']}; nothing is sent again: once the agent works, let the person write again")
    data = base64.b64decode(item["data"])
    if len(data) < item["bytes"]:
        data = await read_breadcrumb(target.settings, target.servers, place_of(item), item["subject"])
    event = Outgoing(subject=item["subject"], data=data, message_id=f"retry:{sequence}:{uuid.uuid4()}")
    async with target.connect() as client:
        published = await client.publish(event, replay=item.get("replay", False))  # older letters have no such field
    await clear_dead_letters(target.settings, target.servers, [address_of(item)])
    return {"sequence": published.sequence, "subject": item["subject"]}


async def clear(target: Target, sequences: list[int]) -> int:
    """Remove the letters of these breadcrumbs, all without any; returns how many. Raises `Rejected`."""
    items = await _letters_of(target, set(sequences)) if sequences else await letters(target)
    await clear_dead_letters(target.settings, target.servers, map(address_of, items))
    return len(items)


def place_of(item: dict[str, Any]) -> Place:
    """The place of a letter's breadcrumb."""
    return Place(item["incarnation"], item["sequence"])


def address_of(item: dict[str, Any]) -> tuple[Place, str]:
    """The place of a letter's breadcrumb, and the agent that gave its context up; "" = the service rejected it."""
    return place_of(item), str(item.get("consumer", ""))


def readable(item: dict[str, Any]) -> str:
    """A dead letter for people."""
    text = base64.b64decode(item["data"]).decode("utf-8", "replace")
    head = "\n".join(f"{name:12} {item[name]}" for name in ("reason", "subject", "sequence", "received_at", "bytes"))
    return f"{head}\n\n{text}\n"


async def _letters_of(target: Target, sequences: set[int]) -> list[dict[str, Any]]:
    """The letters of these breadcrumbs. Raises `Rejected` when one has none."""
    items = [item for item in await letters(target) if item["sequence"] in sequences]
    unknown = sorted(sequences - {item["sequence"] for item in items})
    if unknown:
        names = ", ".join(map(str, unknown))
        raise Rejected(f"there is no dead letter for sequence {names}; `context-builder dead-letters list` shows them all")
    return items
