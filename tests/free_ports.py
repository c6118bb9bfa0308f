"""A port for a server that is killed and started again on it."""

import random
import socket
from contextlib import suppress

LOOPBACK = "127.0.0.1"
PORTS = range(10_000, 32_000)
"""Linux gives nobody one of these by chance: those of connections, and of servers on any port, begin at 32,768."""
_chance = random.SystemRandom()
_given: set[int] = set()


def free_port() -> int:
    """One on which nobody listens; no other call in this process gets it."""
    while True:
        port = _chance.choice(PORTS)
        if port not in _given:
            with suppress(OSError), socket.create_server((LOOPBACK, port)):
                _given.add(port)
                return port
