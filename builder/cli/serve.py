"""The service in the foreground."""

import asyncio
import logging
import signal
from contextlib import ExitStack

from builder.app.address import announcement, running
from builder.app.parts import PARTS, Parts
from builder.app.service import open_service, serve_until
from builder.app.settings import Settings
from builder.app.stores import locate_store
from builder.app.telemetry import set_up_logging
from builder.client.connecting import without_credentials
from builder.domain.errors import Misconfigured

log = logging.getLogger("builder")


async def serve_until_signal(settings: Settings, parts: Parts = PARTS) -> None:
    """Serve until SIGTERM or SIGINT; what was started is finished, what was not is left to the broker."""
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
    async with open_service(settings, parts) as service:
        while_serving = ExitStack()
        consumers = ", ".join(profile.consumer for profile in service.core.profiles if profile.triggers)

        def started(port: int) -> None:
            while_serving.enter_context(announcement(settings, service.url, port))
            log.info("name     %s", settings.name)
            log.info("NATS     %s", without_credentials(service.url))
            log.info("store    %s", locate_store(settings, parts.stores).name)
            log.info("model    %s", service.core.embedder.model)
            log.info("templates %s", settings.templates_dir or "bundled; your own are in CONTEXT_BUILDER_TEMPLATES_DIR")
            log.info("contexts for %s", consumers or "nobody: no profile has a trigger")
            log.info("health   http://%s:%d/readyz", settings.http.host, port)

        with while_serving:
            await serve_until(service, settings.http.host, settings.http.port, stop, started)
    log.info("stopped")
