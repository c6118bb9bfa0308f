"""Commands about dead letters: look at them, send again what they are about, remove them."""

import asyncio
import base64
import json
import uuid
from typing import Annotated, Any

import typer

from builder.app.console import AsJson, show
from builder.cli.options import Servers, Target, target_of
from builder.domain.errors import Rejected

Sequence = Annotated[int, typer.Argument(help="Stream sequence of the rejected breadcrumb, as `list` shows it.")]


def list_dead_letters(servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show what was rejected, oldest first."""
    items = asyncio.run(_all_letters(target_of(servers)))
    lines = (
        f"{item['sequence']:>10}  {item['received_at'][:19]}  {item['subject']}\n            {item['reason']}\n" for item in items
    )
    heads = [{name: value for name, value in item.items() if name != "data"} for item in items]
    show(heads, as_json, text="".join(lines), note="" if items else "no dead letters")


def show_dead_letter(sequence: Sequence, servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show one dead letter with the bytes that were rejected."""
    item = asyncio.run(_newest_letter(target_of(servers), sequence))
    text = base64.b64decode(item["data"]).decode("utf-8", "replace")
    head = "\n".join(f"{name:12} {item[name]}" for name in ("reason", "subject", "sequence", "received_at", "bytes"))
    show(item, as_json, text=f"{head}\n\n{text}\n")


def retry_dead_letter(sequence: Sequence, servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Publish the rejected bytes again, after the cause is fixed."""
    result = asyncio.run(_retry(target_of(servers), sequence))
    show(result, as_json, note=f"published again as {result['sequence']}")


def clear_dead_letters(
    sequences: Annotated[
        list[int] | None, typer.Argument(help="Stream sequences of the breadcrumbs, as `list` shows them.")
    ] = None,
    servers: Servers = "",
    *,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove dead letters."""
    if bool(sequences) == everything:
        raise Rejected("name the sequences of the letters to clear, or give --all")

    async def work() -> int:
        target = target_of(servers)
        items = await _letters_of(target, set(sequences)) if sequences else await _all_letters(target)
        await _clear(target, items)
        return len(items)

    cleared = asyncio.run(work())
    show({"cleared": cleared}, as_json, note=f"{cleared} dead {'letter' if cleared == 1 else 'letters'} cleared")


async def _all_letters(target: Target) -> list[dict[str, Any]]:
    from builder.extras.operations.dead_letters import read_dead_letters

    return [json.loads(data) for data in await read_dead_letters(target.settings, target.servers)]


async def _letters_of(target: Target, sequences: set[int]) -> list[dict[str, Any]]:
    """Oldest first. Raises `Rejected` for a sequence without a letter."""
    items = [item for item in await _all_letters(target) if item["sequence"] in sequences]
    if unknown := sequences - {item["sequence"] for item in items}:
        names = ", ".join(map(str, sorted(unknown)))
        raise Rejected(f"there is no dead letter for sequence {names}; `context-builder dead-letters list` shows them all")
    return items


async def _newest_letter(target: Target, sequence: int) -> dict[str, Any]:
    return max(await _letters_of(target, {sequence}), key=lambda item: int(item["incarnation"]))


async def _retry(target: Target, sequence: int) -> dict[str, Any]:
    """Publish the rejected bytes again (as a replay if they were one), and clear the letter.

    Raises `Rejected` without a letter, or if it is cut and the stream has not the whole.
    """
    from builder.domain.breadcrumb import Place
    from builder.extras.operations.dead_letters import read_breadcrumb
    from builder.wire.records import Outgoing

    item = await _newest_letter(target, sequence)
    if item.get("consumer"):
        raise Rejected(f"{item['reason']}; nothing is sent again: once the agent works, let the person write again")
    data, subject = base64.b64decode(item["data"]), item["subject"]
    if len(data) < item["bytes"]:
        data = await read_breadcrumb(target.settings, target.servers, Place(item["incarnation"], item["sequence"]), subject)
    event = Outgoing(subject=subject, data=data, message_id=f"retry:{sequence}:{uuid.uuid4()}")
    async with target.connect() as client:
        published = await client.publish(event, replay=item.get("replay", False))  # older letters have no such field
    await _clear(target, [item])
    return {"sequence": published.sequence, "subject": subject}


async def _clear(target: Target, items: list[dict[str, Any]]) -> None:
    from builder.domain.breadcrumb import Place
    from builder.extras.operations.dead_letters import clear_dead_letters as clear

    letters = [(Place(item["incarnation"], item["sequence"]), str(item.get("consumer", ""))) for item in items]
    await clear(target.settings, target.servers, letters)
