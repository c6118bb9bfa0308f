"""Subscribers to contexts of an installation."""

from datetime import UTC, datetime

from builder.adapters.nats.requests import Subscription, read_subscriptions
from builder.app.broker import connected
from builder.app.settings import Settings


async def list_subscriptions(settings: Settings, servers: str) -> tuple[Subscription, ...]:
    """Subscribers to contexts of an installation. Raises `Unavailable`."""
    async with connected(settings, servers) as connection:
        return await read_subscriptions(connection.jetstream(), settings.installation, datetime.now(UTC))
