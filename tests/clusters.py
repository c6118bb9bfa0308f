"""A cluster of three real nats-servers on loopback, each of which can be killed and started again."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import nats.errors
from nats.js import JetStreamContext
from nats.js.errors import Error as JetStreamError

from tests.free_ports import LOOPBACK, free_port
from tests.running import Broker

SERVERS = 3


@dataclass(frozen=True, slots=True)
class Cluster:
    """Server name → its process."""

    brokers: dict[str, Broker]

    @property
    def url(self) -> str:
        """Addresses of all servers."""
        return ",".join(broker.url for broker in self.brokers.values())

    async def leader(self, js: JetStreamContext, stream: str) -> Broker:
        """The server that leads a stream."""
        info = await js.stream_info(stream)
        assert info.cluster is not None
        assert info.cluster.leader is not None
        return self.brokers[info.cluster.leader]


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Three servers that know each other. It may take seconds until they have a leader."""
    ports = [free_port() for _ in range(SERVERS)]
    routes = ", ".join(f'"nats://{LOOPBACK}:{port}"' for port in ports)
    with ExitStack() as stack:
        brokers = {}
        for number, port in enumerate(ports):
            name = f"n{number}"
            own = f'server_name: {name}\ncluster {{ name: loopback, listen: "{LOOPBACK}:{port}", routes: [{routes}] }}\n'
            brokers[name] = stack.enter_context(Broker(folder / name, configuration=own))
        yield Cluster(brokers)


async def has_leader(js: JetStreamContext) -> bool:
    """Whether the cluster answers for JetStream."""
    try:
        await js.account_info()
    except (JetStreamError, nats.errors.Error, OSError):
        return False
    return True
