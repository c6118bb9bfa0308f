"""The HTTP API: it translates requests to those that NATS has, too, and contexts to server-sent events."""

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from builder.extra import Extra

if TYPE_CHECKING:
    from builder.app.doors import Door, DoorParts


def _open(parts: "DoorParts") -> "AbstractAsyncContextManager[Door | None]":
    from builder.extras.http.opening import open_door

    return open_door(parts)


extra = Extra(doors={"http": _open})
