"""What goes over the wire, described: JSON Schemas, the AsyncAPI document, and the requests as a NATS micro service."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from builder.extra import Commands, Extra

if TYPE_CHECKING:
    from builder.app.doors import Door, DoorParts


def _open(parts: "DoorParts") -> "AbstractAsyncContextManager[Door]":
    from builder.extras.contracts.micro import open_door

    return open_door(parts)


def _groups() -> Mapping[str, tuple[str, Commands]]:
    from builder.extras.contracts import commands

    about = "JSON Schemas of every event, and the AsyncAPI document."
    return {"schemas": (about, {"export": commands.export, "asyncapi": commands.asyncapi})}


extra = Extra(doors={"micro": _open}, groups=_groups)
