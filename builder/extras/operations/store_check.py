"""Whether the store belongs to the stream: a check of `doctor`."""

from datetime import UTC, datetime

from builder.adapters.nats.topology import current_incarnation
from builder.app.broker import check_order, connected, locate_store
from builder.app.settings import Settings
from builder.domain.errors import Unavailable
from builder.extra import Degraded


async def check_store(settings: Settings, servers: str) -> str:
    """servers: "" = no broker is configured.

    Raises `Degraded` for the store of another stream, `Misconfigured` for one that is newer than its stream.
    """
    if not servers:
        return "compared with no stream: no broker is configured"
    try:
        return await _compared(settings, servers)
    except Unavailable as error:
        return f"compared with no stream: {error}"


async def _compared(settings: Settings, servers: str) -> str:
    location = locate_store(settings)
    if not await location.exists():
        return f"{location.name} is made by the first start"
    async with connected(settings, servers) as connection, location.open() as store:
        if foreign := await check_order(store, connection.jetstream(), settings.installation):
            raise Degraded(f"{location.name}: {foreign}")
        incarnation = await current_incarnation(connection.jetstream(), settings.installation)
    return f"{location.name} belongs to the stream of {datetime.fromtimestamp(incarnation / 1e6, UTC):%Y-%m-%d %H:%M:%S}Z"
