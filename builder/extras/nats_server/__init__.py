"""A nats-server of the service's own, for an installation that names none."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from builder.extra import BrokerStarter, Extra, StartedBroker


def _start(_url: str, data: Path, port: int) -> AbstractAsyncContextManager[StartedBroker]:
    from builder.extras.nats_server.server import embedded_server

    return embedded_server(data, port)


def _program() -> str:
    from builder.adapters.nats.server import binary

    return str(binary())


extra = Extra(brokers={"": BrokerStarter(start=_start, program=_program)})
