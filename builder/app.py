"""The only wiring: settings → opened adapters → builder → worker. Reads like a parts list; one exit stack closes everything."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.js import JetStreamContext
from prometheus_client import CollectorRegistry

from builder.adapters.embedding import CachedEmbedder, open_embedder
from builder.adapters.http import routes
from builder.adapters.nats.inbox import NatsInbox
from builder.adapters.nats.publisher import NatsPublisher
from builder.adapters.nats.server import embedded_server
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import CONTEXTS_MAX_AGE, Topology
from builder.adapters.nats.watchdog import Watchdog
from builder.adapters.sqlite import SqliteStore
from builder.adapters.terms import load_terms
from builder.adapters.tokens import load_counter
from builder.catchup import CatchUp
from builder.domain.errors import Misconfigured, Unavailable
from builder.domain.profile import Profile
from builder.pipeline.histories import Histories
from builder.rendering.fragments import JinjaRendering
from builder.rendering.templates import TemplateSet, read_folders
from builder.resources import bundled
from builder.service import ContextBuilder, Helpers
from builder.settings import Settings
from builder.telemetry import Metrics
from builder.wire.inbound import decode
from builder.wire.outbound import encode
from builder.wire.profiles import parse_profile
from builder.worker import Rules, Worker

FACTS_ENCODING = "o200k_base"
WATCH_SECONDS = 2.0
CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """What builds contexts, without a bus."""

    builder: ContextBuilder
    store: SqliteStore
    embedder: CachedEmbedder
    profiles: tuple[Profile, ...]

    def profile(self, name: str) -> Profile:
        """Raises `Misconfigured` with the known names."""
        for profile in self.profiles:
            if profile.consumer == name:
                return profile
        known = ", ".join(profile.consumer for profile in self.profiles)
        raise Misconfigured(f"there is no profile {name!r}; known profiles are {known}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The running service. url: of the broker. http: the ASGI application, which starts and stops the subscription."""

    core: Core
    url: str
    js: JetStreamContext
    stream: NatsStream
    catch_up: CatchUp
    watchdog: Watchdog
    application: Any


@asynccontextmanager
async def open_core(settings: Settings, store_path: str | None = None) -> AsyncIterator[Core]:
    """Store, engine, profiles, templates. store_path: instead of the settings'. Raises `Misconfigured`."""
    async with AsyncExitStack() as stack:
        folders = template_folders(settings)
        profiles = load_profiles(folders)
        templates = TemplateSet(*read_folders(folders))
        for profile in profiles:
            templates.page(profile.page, ())
        renderings = {
            encoding: JinjaRendering(templates, load_counter(encoding))
            for encoding in sorted({profile.encoding for profile in profiles})
        }
        embedding = settings.embedding
        embedder = open_embedder(embedding.engine, embedding.model, settings.models_dir, embedding.cache_size)
        stack.push_async_callback(embedder.aclose)
        store = SqliteStore(store_path or str(settings.store_path))
        stack.callback(store.close)
        helpers = Helpers(terms=load_terms(), count=load_counter(FACTS_ENCODING), renderings=renderings)
        builder = ContextBuilder(store, embedder, profiles, helpers, Histories(settings.store.cached_passages))
        yield Core(builder=builder, store=store, embedder=embedder, profiles=profiles)


@asynccontextmanager
async def open_bus(settings: Settings) -> AsyncIterator[tuple[str, Client]]:
    """URL and connection of the broker, which is started when none is configured. Raises `Misconfigured`, `Unavailable`."""
    async with AsyncExitStack() as stack:
        url = settings.nats.servers
        if not url:
            data = settings.data_dir.expanduser() / "nats"
            url = await stack.enter_async_context(embedded_server(data, settings.nats.port))
        connection = await connect(url, settings)
        stack.push_async_callback(_close, connection)
        yield url, connection


@asynccontextmanager
async def open_service(settings: Settings) -> AsyncIterator[Service]:
    """Everything, subscribed once the ASGI application has started. Raises `Misconfigured` and `Unavailable`."""
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(open_core(settings))
        url, connection = await stack.enter_async_context(open_bus(settings))
        js = connection.jetstream()
        metrics = Metrics(CollectorRegistry())
        inbox: NatsInbox
        watchdog = Watchdog(js, topology(settings), core.store, lambda: inbox.rebind(), WATCH_SECONDS)
        ack_wait = await watchdog.prepare()
        stream = NatsStream(js, lambda: watchdog.incarnation)
        publisher = NatsPublisher(js)
        read = partial(decode, max_bytes=settings.worker.max_body_bytes)
        catch_up = CatchUp(stream, core.store, publisher, read, core.builder.remember, settings.worker.max_attempts)
        worker = Worker(
            core.builder, catch_up, core.store, publisher, read, partial(encode, max_bytes=connection.max_payload),
            lambda: datetime.now(UTC), metrics.observe,
            Rules(max_attempts=settings.worker.max_attempts, max_age=CONTEXTS_MAX_AGE, heartbeat=ack_wait / 3),
        )  # fmt: skip
        inbox = NatsInbox(
            connection_arguments(url, settings), settings.worker.batch, settings.worker.graceful_seconds, metrics.registry,
            worker.process, lambda: watchdog.incarnation,
        )  # fmt: skip
        checks = {"store": core.store.check, "model": partial(_model_state, core.embedder), "stream": watchdog.state}
        metrics.pending.set_function(lambda: watchdog.pending)
        watching = asyncio.create_task(watchdog.run())
        stack.push_async_callback(_cancel, watching)
        application = inbox.application(routes(lambda: watchdog.alive, checks, metrics.registry))
        yield Service(
            core=core, url=url, js=js, stream=stream, catch_up=catch_up, watchdog=watchdog, application=application
        )


def template_folders(settings: Settings) -> tuple[Path, ...]:
    """The bundled templates, and the operator's laid over them."""
    extra = (settings.templates_dir.expanduser(),) if settings.templates_dir else ()
    for folder in extra:
        if not folder.is_dir():
            raise Misconfigured(f"CONTEXT_BUILDER_TEMPLATES_DIR is {folder}, which is no folder; make it or unset the variable")
    return (bundled("templates"), *extra)


def load_profiles(folders: tuple[Path, ...]) -> tuple[Profile, ...]:
    """All profiles by name; a later folder's file wins. Raises `Misconfigured`."""
    sources = {
        file.stem: file.read_text("utf-8") for folder in folders for file in sorted((folder / "profiles").glob("*.yaml"))
    }
    return tuple(parse_profile(name, source) for name, source in sorted(sources.items()))


def topology(settings: Settings) -> Topology:
    """What the operator chose of the streams."""
    return Topology(
        replicas=settings.nats.replicas,
        breadcrumbs_max_age=timedelta(hours=settings.nats.breadcrumbs_max_age_hours),
        ack_wait=settings.worker.ack_wait_seconds,
        batch=settings.worker.batch,
    )


def connection_arguments(url: str, settings: Settings) -> dict[str, Any]:
    """Arguments of nats-py's connect: reconnect for ever, credentials only where there are some."""
    mine = settings.nats
    arguments: dict[str, Any] = {"servers": [part.strip() for part in url.split(",")], "max_reconnect_attempts": -1}
    if mine.user:
        arguments |= {"user": mine.user, "password": mine.password.get_secret_value()}
    if mine.token.get_secret_value():
        arguments["token"] = mine.token.get_secret_value()
    if mine.credentials:
        arguments["user_credentials"] = str(mine.credentials)
    if mine.tls_ca:
        arguments["tls"] = ssl.create_default_context(cafile=str(mine.tls_ca))
    return arguments


async def connect(url: str, settings: Settings) -> Client:
    """A connection that then reconnects for ever. Raises `Unavailable` when there is nobody at the address."""
    arguments = connection_arguments(url, settings) | {"error_cb": _quiet}
    try:
        return await asyncio.wait_for(nats.connect(**arguments), CONNECT_SECONDS)
    except (OSError, TimeoutError, nats.errors.Error) as error:
        raise Unavailable(
            f"no NATS server answered at {url}: {error!r}; start it, or check CONTEXT_BUILDER_NATS__SERVERS and the credentials"
        ) from error


async def _model_state(embedder: CachedEmbedder) -> str:
    try:
        await embedder.embed("ready")
    except Unavailable as error:
        return str(error)
    return ""


async def _quiet(_error: Exception) -> None:
    """nats-py would print every failed reconnect with its traceback; the watchdog says it once."""


async def _close(connection: Client) -> None:
    with contextlib.suppress(nats.errors.Error, OSError):
        await connection.close()


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
