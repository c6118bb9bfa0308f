"""The demo: a service runs once on the sample's events, on a broker and in a folder of its own."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from builder.app.components import counter
from builder.app.console import table
from builder.app.logs import set_up_logging
from builder.app.service import Service, open_service, serving
from builder.app.settings import HttpSettings, NatsSettings, Settings, StoreSettings
from builder.cli.build import read_breadcrumbs
from builder.client import Client, ReceivedContext, Unavailable, connect
from builder.extras.demo.baselines import baselines
from builder.extras.demo.sample import sample_lines, sample_questions
from builder.wire.records import Outgoing, read_lines

WORKSPACE, CONSUMER = "demo", "default"
POLL_SECONDS = 0.02


async def run_demo(settings: Settings, timeout: float) -> dict[str, Any]:
    """{"context": the event, "baselines": name → {tokens, answers, of}}. Raises `Unavailable` when no context came."""
    set_up_logging("WARNING", "text")
    events = list(read_lines(sample_lines(), WORKSPACE))
    with tempfile.TemporaryDirectory(prefix="context-builder-demo-") as folder:
        own = settings.model_copy(
            update={
                "data_dir": Path(folder),
                "nats": settings.nats if settings.nats.servers else NatsSettings(port=-1),
                "store": StoreSettings(),
                "http": HttpSettings(port=0),
            }
        )
        async with open_service(own) as service, serving(service), connect(service.url, WORKSPACE, name=own.name) as client:
            await service.core.embedder.ready()
            context = await _last_context(client, events, partial(_is_idle, service, len(events) - 1), timeout)
    return {"context": context.event, "baselines": _compare(context, settings)}


def _compare(context: ReceivedContext, settings: Settings) -> dict[str, dict[str, Any]]:
    """Tokens, and messages with the answer, of the context and each baseline."""
    count = counter()
    texts = {"this context": context.content, **baselines(sample_lines())}
    evidence = _evidence(settings)
    return {
        name: {"tokens": count(text), "answers": sum(message in text for message in evidence), "of": len(evidence)}
        for name, text in texts.items()
    }


def _evidence(settings: Settings) -> tuple[str, ...]:
    """Texts of the messages that answer the sample's last message."""
    ids = sample_questions()["demo"]["evidence"]
    crumbs = read_breadcrumbs(sample_lines(), WORKSPACE, "sample", settings.lifetimes)
    return tuple(crumb.text for crumb in crumbs if crumb.id in ids)


async def _is_idle(service: Service, events: int) -> bool:
    store = service.core.store
    return await store.count() >= events and not await store.count_missing_vectors()


async def _last_context(
    client: Client, events: list[Outgoing], is_idle: Callable[[], Awaitable[bool]], timeout: float
) -> ReceivedContext:
    """Import the conversation, publish its last message, wait."""
    trigger = json.loads(events[-1].data)["id"]
    try:
        async with asyncio.timeout(timeout), client.subscribed(CONSUMER, durable=None) as contexts:
            for event in events[:-1]:
                await client.publish(event, replay=True)
            while not await is_idle():
                await asyncio.sleep(POLL_SECONDS)
            await client.publish(events[-1])
            async for context in contexts:
                if context.trigger_event_id == trigger:
                    return context
    except TimeoutError:
        pass
    raise Unavailable(f"no context came for {trigger} within {timeout:.0f} s; run `context-builder doctor`")


def print_costs(result: dict[str, Any]) -> None:
    """On standard error."""
    sys.stdout.flush()
    heads = ("what an agent would send", "tokens", "messages with the answer")
    rows = ((name, f"{row['tokens']:,}", f"{row['answers']} of {row['of']}") for name, row in result["baselines"].items())
    text = table(heads, rows, frozenset(heads[1:]))
    sys.stderr.write(f"tokens ({result['context']['assembly']['tokenizer']})\n{text}")
