"""The service in the foreground, and the demo, which runs it once on the sample's events."""

import asyncio
import json
import logging
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from builder.app.address import announcement, running
from builder.app.broker import locate_store
from builder.app.components import PARTS, Parts, counter
from builder.app.console import table
from builder.app.logs import set_up_logging
from builder.app.service import Service, open_service, serve_until, serving
from builder.app.settings import HttpSettings, NatsSettings, Settings, StoreSettings
from builder.app.tracing import exported_spans
from builder.bench.data.datasets import demo_evidence, sample_lines
from builder.bench.quality.tokens import baselines
from builder.client import Client, ReceivedContext, Unavailable, connect
from builder.domain.errors import Misconfigured
from builder.wire.connecting import without_credentials
from builder.wire.records import Outgoing, read_lines

log = logging.getLogger("builder")
LABELS = {"nats": "NATS", "consumers": "contexts for"}


Companion = Callable[[Service], AbstractAsyncContextManager[None]]


async def serve_until_signal(
    settings: Settings,
    parts: Parts = PARTS,
    companion: Companion = lambda _service: nullcontext(),
    others: str = "nobody: no profile has a trigger",
    *,
    makes_token: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was started.

    companion: runs while the service does. others: who gets contexts without a profile of files.
    makes_token: for the API on loopback, if no tokens are set.
    """
    if other := running(settings):
        raise Misconfigured(
            f"{settings.data_dir.expanduser()} is in use by the service of process {other.pid}; stop it, or give this one a "
            "folder of its own in CONTEXT_BUILDER_DATA_DIR"
        )
    set_up_logging(settings.log.level, settings.log.format)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with exported_spans(settings.name), open_service(settings, parts, makes_token=makes_token) as service:
        while_serving = ExitStack()
        consumers = ", ".join(profile.consumer for profile in service.core.profiles if profile.triggers)

        def started(port: int) -> None:
            while_serving.enter_context(announcement(settings, service.url, port))
            facts = {
                "name": settings.name,
                "nats": without_credentials(service.url),
                "store": locate_store(settings, parts.stores).name,
                "model": service.core.embedder.model,
                "templates": str(settings.templates_dir or "bundled; your own are in CONTEXT_BUILDER_TEMPLATES_DIR"),
                "consumers": consumers or others,
                "health": f"http://{settings.http.host}:{port}/readyz",
            }
            for door in service.doors:
                facts |= door.facts(port)
            if settings.log.format == "json":
                log.info("started", extra={"facts": facts})
                return
            for name, fact in facts.items():
                log.info("%-8s %s", LABELS.get(name, name), fact)

        with while_serving:
            async with companion(service):
                await serve_until(service, settings.http.host, settings.http.port, stop, started)
    log.info("stopped")


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
    return {"context": context.event, "baselines": _compare(context)}


def _compare(context: ReceivedContext) -> dict[str, dict[str, Any]]:
    """Tokens, and messages with the answer, of the context and each baseline."""
    count = counter()
    texts = {"this context": context.content, **baselines(sample_lines())}
    evidence = demo_evidence()
    return {
        name: {"tokens": count(text), "answers": sum(message in text for message in evidence), "of": len(evidence)}
        for name, text in texts.items()
    }


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
