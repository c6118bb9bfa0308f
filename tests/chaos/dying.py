"""The real service, which kills itself with SIGKILL at one stop of the line: `python dying.py STOP`.

Only a breadcrumb that says FATAL is deadly. Settings come from the environment, as for `context-builder up`.
"""

import asyncio
import os
import signal
import sys
from typing import Any

from builder.adapters.nats import inbox
from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.publisher import NatsPublisher
from builder.adapters.sqlite import SqliteStore
from builder.app import components as core
from builder.app import service
from builder.app.settings import Settings
from builder.cli.serve import serve_until_signal
from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.domain.context import Context
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.publish.event import encode
from builder.remember.decode import decode

FATAL = "fatal"
STOPS = ("decoded", "remembered", "assembled", "published", "acknowledged")
FILLING = ("filling", "filled")
"""Stops beside the line: before and after vectors are filled in."""


def die_at(stop: str, text: str) -> None:
    """The end of this process, if this is the stop and the text is deadly."""
    if sys.argv[1] == stop and FATAL in text:
        os.kill(os.getpid(), signal.SIGKILL)


def decode_and_die(arrival: StreamMessage, *wishes: Any, **more: Any) -> Breadcrumb:
    """As the real one."""
    breadcrumb = decode(arrival, *wishes, **more)
    die_at("decoded", breadcrumb.text)
    return breadcrumb


def encode_or_die(context: Context, max_bytes: int) -> bytes:
    """As the real one."""
    die_at("assembled", context.trigger.text)
    return encode(context, max_bytes)


class Store(SqliteStore):
    """Dies when the breadcrumb is stored, or when its vectors are."""

    async def remember(self, remembered: StoredBreadcrumb) -> bool:
        """As the real one."""
        new = await super().remember(remembered)
        die_at("remembered", remembered.breadcrumb.text)
        return new

    async def fill_vectors(self, remembered: StoredBreadcrumb) -> bool:
        """As the real one."""
        die_at("filling", remembered.breadcrumb.text)
        new = await super().fill_vectors(remembered)
        die_at("filled", remembered.breadcrumb.text)
        return new


class Publisher(NatsPublisher):
    """Dies when the context is published, before its trigger is acknowledged."""

    async def publish(self, context: Context, event: bytes) -> None:
        """As the real one."""
        await super().publish(context, event)
        die_at("published", context.trigger.text)


class Delivery(NatsDelivery):
    """Dies when the trigger is acknowledged, whether the broker has heard of it or not."""

    async def ack(self) -> None:
        """As the real one."""
        await super().ack()
        die_at("acknowledged", self.arrival.data.decode())


def wire() -> None:
    """Put the deadly parts in the places of the real ones."""
    parts: tuple[tuple[Any, str, Any], ...] = (
        (service, "decode", decode_and_die),
        (service, "encode", encode_or_die),
        (service, "NatsPublisher", Publisher),
        (core, "SqliteStore", Store),
        (inbox, "NatsDelivery", Delivery),
    )
    for module, name, part in parts:
        setattr(module, name, part)


if __name__ == "__main__":
    wire()
    asyncio.run(serve_until_signal(Settings()))
