"""Wait until one address of each URL takes a connection: of the brokers, and of PostgreSQL where it is the store.

The service ends with 69 when it finds no broker within 5 seconds, and Kubernetes waits 10, 20, 40 seconds and so on, up to five
minutes, before it starts it again. What the other side then says, a wrong password say, is for the service to tell.
"""

import os
import re
import signal
import socket
import sys
import time
from urllib.parse import urlsplit

PORTS = {"nats": 4222, "tls": 4222, "ws": 80, "wss": 443, "postgresql": 5432, "postgres": 5432}
LOOK_SECONDS, TELL_SECONDS = 1.0, 60.0


def addresses(urls: str) -> list[tuple[str, int]]:
    """Hosts and ports of comma-separated URLs, or of one URL with comma-separated hosts; none when they cannot be read."""
    found, scheme = [], ""
    for part in re.sub("://[^/]*@", "://", urls).split(","):
        before, separator, rest = part.strip().rpartition("://")
        scheme = before if separator else scheme
        try:
            address = urlsplit(f"//{rest}")
            port = address.port or PORTS.get(scheme, 0)
        except ValueError:
            return []
        if address.hostname and port:
            found.append((address.hostname, port))
    return found


def answers(address: tuple[str, int]) -> bool:
    """Whether the address takes a connection."""
    try:
        socket.create_connection(address, timeout=2).close()
    except OSError:
        return False
    return True


def wait_for_one(choices: list[tuple[str, int]]) -> None:
    """Return when one takes a connection. Says whom it waits for, once a minute."""
    names = ", ".join(f"{host}:{port}" for host, port in choices)
    told = -TELL_SECONDS
    while not any(map(answers, choices)):
        if time.monotonic() - told >= TELL_SECONDS:
            told = time.monotonic()
            print(f"nobody takes connections at {names}; waiting. Look at name, port, NetworkPolicy and that server", flush=True)
        time.sleep(LOOK_SECONDS)


# As process 1 of a container it would ignore the signal.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
for variable in sys.argv[1:]:
    if choices := addresses(os.environ[variable]):
        wait_for_one(choices)
