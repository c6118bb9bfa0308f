"""The broker, embedded or external, and the store's location."""

import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

import nats
from nats.aio.client import Client
from nats.js import JetStreamContext

from builder.adapters.nats.clock import BrokerClock
from builder.adapters.nats.connection import explained, optional, translated
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, FLOOR, Topology, examine, incarnation_of
from builder.adapters.sqlite import SqliteLocation
from builder.app.settings import Settings
from builder.connection.opening import RECONNECT_SECONDS, open_connection, tell_refusal, without_credentials
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured, Rejected
from builder.extra import StartedBroker, additions, broker_starter
from builder.ports.store import CompleteStore, StoreLocation
from builder.wire.subjects import Installation

log = logging.getLogger("builder")

START_SECONDS = 5.0
"""For a configured broker."""


class Bus(NamedTuple):
    """The broker's URL, a connection, and the broker where an extra has started it."""

    url: str
    connection: Client
    server: StartedBroker | None


@asynccontextmanager
async def open_bus(settings: Settings, store: CompleteStore | None = None) -> AsyncIterator[Bus]:
    """The broker, started where an extra has the scheme of the configured URL; "" is the scheme of none.

    Raises `Misconfigured` (also for a store newer than its stream), `Unavailable`.
    """
    async with AsyncExitStack() as stack:
        url, server = settings.nats.servers, None
        if starter := broker_starter(url):
            server = await stack.enter_async_context(
                starter.start(url, settings.data_dir.expanduser() / "nats", settings.nats.port)
            )
            url = server.url
        connection = await open_connection(url, **(client_options(url, settings) | {"timeout": START_SECONDS, "rounds": 0}))
        stack.push_async_callback(_close, connection)
        stack.enter_context(explained(connection))
        if store is not None and (foreign := await check_order(store, connection.jetstream(), settings.installation)):
            log.warning("%s", foreign)
        yield Bus(url, connection, server)


async def check_order(store: CompleteStore, js: JetStreamContext, installation: Installation) -> str:
    """Warning that the store comes from another stream; "" = none.

    Raises `Misconfigured` when the store is newer than its stream.
    """
    floor, stored, name = await store.watermark(*FLOOR), await store.count(), installation.stream(BREADCRUMBS)
    info = await optional("reading the stream's state", js.stream_info(name))
    last = Place(incarnation_of(info), int(info.state.last_seq)) if info else None
    newer = stored - await store.count_before(Place(last.incarnation, last.sequence + 1)) if last else 0
    if last and (newer > 0 or floor > last):
        raise Misconfigured(
            f"the store is newer than its stream, which ends at {last.sequence}: {max(newer, 0)} breadcrumbs came later, so an "
            "older copy of the stream was restored, or CONTEXT_BUILDER_NATS__SERVERS names another broker; check that, then run "
            " `context-builder reindex`: it makes the store again from this stream, without them"
        )
    foreign = await store.count_before(Place(last.incarnation, 0)) if last else stored
    if not foreign:
        return ""
    return (
        f"{foreign:,} of {stored:,} breadcrumbs of the store are of another stream than {name} on this broker, and appear on its "
        "pages; check CONTEXT_BUILDER_NATS__SERVERS, CONTEXT_BUILDER_NAME and CONTEXT_BUILDER_DATA_DIR; where the stream was "
        "made again, keep them, or move the store's file away to begin without them"
    )


def topology(settings: Settings) -> Topology:
    """The streams as the settings want them."""
    return Topology(
        installation=settings.installation,
        replicas=settings.nats.replicas,
        breadcrumbs_max_age=timedelta(hours=settings.nats.breadcrumbs_max_age_hours),
        ack_wait=settings.worker.ack_wait_seconds,
        batch=settings.worker.batch,
    )


def connection_arguments(url: str, settings: Settings) -> dict[str, Any]:
    """Arguments of nats-py's connect: endless reconnection, credentials."""
    nats_settings = settings.nats
    arguments: dict[str, Any] = {"servers": [part.strip() for part in url.split(",")], "max_reconnect_attempts": -1}
    arguments |= {"error_cb": tell_refusal, "reconnect_time_wait": RECONNECT_SECONDS}
    if nats_settings.user:
        arguments |= {"user": nats_settings.user, "password": nats_settings.password.get_secret_value()}
    if nats_settings.token.get_secret_value():
        arguments["token"] = nats_settings.token.get_secret_value()
    if nats_settings.credentials:
        arguments["user_credentials"] = str(nats_settings.credentials.expanduser())
    if nats_settings.nkey:
        arguments["nkeys_seed"] = str(nats_settings.nkey.expanduser())
    if tls := _tls(settings):
        arguments["tls"] = tls
    return arguments


@asynccontextmanager
async def connected(settings: Settings, servers: str) -> AsyncIterator[Client]:
    """Raises `Unavailable`, and `Misconfigured` for a refusal."""
    connection = await open_connection(servers, **client_options(servers, settings))
    try:
        with explained(connection):
            yield connection
    finally:
        await _close(connection)


@asynccontextmanager
async def stored(settings: Settings, servers: str, kind: str) -> AsyncIterator[tuple[NatsStream, Place]]:
    """A stream for reading, and its last place. kind: as in `topology`. Raises as `connected`."""
    async with connected(settings, servers) as connection:
        stream = NatsStream(connection.jetstream(), lambda: 0, kind, settings.installation)
        yield stream, await stream.last()


def client_options(url: str, settings: Settings) -> dict[str, Any]:
    """For the client's `connect`: one attempt per address."""
    others = {"servers", "max_reconnect_attempts", "error_cb"}
    return {"rounds": 1, **{name: value for name, value in connection_arguments(url, settings).items() if name not in others}}


async def check_broker(settings: Settings, servers: str) -> str:
    """Broker and streams in a sentence; changes nothing.

    servers: "" = none. Raises `Misconfigured`, `Unavailable`, and `Rejected` when clocks differ.
    """
    own = settings.nats.servers
    if starter := broker_starter(servers or own):
        return f"{own or 'no servers are configured'}: `context-builder up` starts {starter.program()}"
    async with connected(settings, servers) as connection:
        if connection.max_payload < settings.worker.max_body_bytes:
            raise Misconfigured(
                f"the server takes {connection.max_payload:,} bytes, breadcrumbs may have {settings.worker.max_body_bytes:,}; "
                "raise max_payload there, or lower CONTEXT_BUILDER_WORKER__MAX_BODY_BYTES"
            )
        with translated("asking for JetStream"):
            streams = await examine(connection.jetstream(), topology(settings))
        sentence = f"nats-server {connection.connected_server_version} at {without_credentials(servers)}; {streams}"
        if clock := await BrokerClock(connection, settings.installation).state():
            raise Rejected(f"{clock}; {sentence}")
        return sentence


def _tls(settings: Settings) -> ssl.SSLContext | None:
    authority, certificate, key = settings.nats.tls_ca, settings.nats.tls_cert, settings.nats.tls_key
    if bool(certificate) != bool(key):
        raise Misconfigured("a client certificate needs CONTEXT_BUILDER_NATS__TLS_CERT and __TLS_KEY; set both, or none")
    if not authority and not certificate:
        return None
    try:
        context = ssl.create_default_context(cafile=str(authority) if authority else None)
        if certificate and key:
            context.load_cert_chain(certificate, key)
    except OSError as error:  # an SSLError is one
        names = ", ".join(str(file) for file in (authority, certificate, key) if file)
        raise Misconfigured(f"the files of CONTEXT_BUILDER_NATS__TLS_… cannot be used: {error}; look at {names}") from error
    return context


async def _close(connection: Client) -> None:
    with contextlib.suppress(nats.errors.Error, OSError):
        await connection.close()


StoreSchemes = Mapping[str, Callable[[str], StoreLocation]]
"""URL scheme → the location that the URL names."""


STORES: StoreSchemes = MappingProxyType({"sqlite": SqliteLocation.from_url})
"""The stores of the house; others come with extras."""
IN_MEMORY = "sqlite::memory:"
"""It lives as long as it is open."""
FILE = "store.sqlite3"


def stores() -> StoreSchemes:
    """With those of the extras. Raises `Misconfigured`."""
    return {**STORES, **additions("stores", STORES)}


def locate_store(settings: Settings, schemes: StoreSchemes | None = None) -> StoreLocation:
    """The configured store. schemes: None = all that are installed. Raises `Misconfigured`."""
    return location(settings.store.url or f"sqlite:{settings.data_dir / FILE}", schemes)


def location(url: str, schemes: StoreSchemes | None = None) -> StoreLocation:
    """schemes: None = all that are installed. Raises `Misconfigured` with the known schemes."""
    schemes = stores() if schemes is None else schemes
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in schemes:
        choices = ", ".join(f"{name}:" for name in sorted(schemes))
        start = f"begins with {scheme!r}" if colon else "has no scheme"
        raise Misconfigured(
            f"CONTEXT_BUILDER_STORE__URL {start}; the schemes are {choices} as in sqlite:PATH and postgresql://USER@HOST/DATABASE"
        )
    return schemes[scheme](url)
