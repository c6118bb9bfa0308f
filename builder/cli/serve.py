"""The service in the foreground."""

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext

from builder.app.address import announcement, running
from builder.app.broker import locate_store
from builder.app.components import PARTS, Parts
from builder.app.logs import set_up_logging
from builder.app.service import Service, open_service, serve_until
from builder.app.settings import Settings
from builder.app.tracing import exported_spans
from builder.connection.opening import without_credentials
from builder.domain.errors import Misconfigured

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
                facts = {**door.facts(port), **facts}
            if settings.log.format == "json":
                log.info("started", extra={"facts": facts})
                return
            for name, fact in facts.items():
                log.info("%-8s %s", LABELS.get(name, name), fact)

        with while_serving:
            async with companion(service):
                await serve_until(service, settings.http.host, settings.http.port, stop, started)
    log.info("stopped")
