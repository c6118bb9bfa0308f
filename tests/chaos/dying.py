"""The real service, which kills itself with SIGKILL at one stop of the line: `python dying.py STOP`.

Only a breadcrumb that says FATAL is deadly. Settings come from the environment, as for `context-builder up`.
"""

import asyncio
import os
import signal
import sys
from typing import Any

from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.publisher import NatsPublisher
from builder.app import line
from builder.app.components import Parts
from builder.app.settings import Settings
from builder.cli.serve import serve_until_signal
from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.domain.context import Context
from builder.domain.stored import StoredBreadcrumb
from builder.publish.event import encode
from builder.remember.decode import decode
from tests.stores import Method, changed_stores

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


def remember_or_die(remember: Method) -> Method:
    """Dies when the breadcrumb is stored."""

    async def deadly(remembered: StoredBreadcrumb) -> bool:
        new = bool(await remember(remembered))
        die_at("remembered", remembered.breadcrumb.text)
        return new

    return deadly


def fill_or_die(fill_vectors: Method) -> Method:
    """Dies before vectors are filled in, or after."""

    async def deadly(remembered: StoredBreadcrumb) -> bool:
        die_at("filling", remembered.breadcrumb.text)
        new = bool(await fill_vectors(remembered))
        die_at("filled", remembered.breadcrumb.text)
        return new

    return deadly


class Publisher(NatsPublisher):
    """Dies when the context is published, before its trigger is acknowledged."""

    async def publish(self, context: Context, event: bytes, times: str) -> None:
        """As the real one."""
        await super().publish(context, event, times)
        die_at("published", context.trigger.text)


class Delivery(NatsDelivery):
    """Dies when the trigger is acknowledged, whether the broker has heard of it or not."""

    async def ack(self) -> None:
        """As the real one."""
        await super().ack()
        die_at("acknowledged", self.arrival.data.decode())


def wire() -> Parts:
    """The deadly parts; decoding and encoding are no parts, so they are put in their places."""
    for name, function in {"decode": decode_and_die, "encode": encode_or_die}.items():
        setattr(line, name, function)
    stores = changed_stores(remember=remember_or_die, fill_vectors=fill_or_die)
    return Parts(stores=stores, publisher=Publisher, delivery=Delivery)


if __name__ == "__main__":
    asyncio.run(serve_until_signal(Settings(), wire()))
