"""Runs inside the clean root: starts the service, builds a context, stops the service, and tells what it saw as JSON.

Arguments: the command line. Only the standard library is there for it.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from typing import Any

COMMAND = sys.argv[1:]
PORT = 8080


def refusal(attempt: Any, *arguments: Any) -> str:
    """The name of the error that the attempt ends with."""
    try:
        attempt(*arguments)
    except OSError as error:
        return os.strerror(error.errno or 0)
    return ""


def ready() -> bool:
    """Whether the service says so."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()


def main() -> None:
    """A start, a page, an end."""
    begin = time.monotonic()
    with open("/data/log", "wb") as log, subprocess.Popen([*COMMAND, "up"], stderr=log) as service:  # noqa: PTH123
        while not ready() and service.poll() is None and time.monotonic() - begin < 120:
            time.sleep(0.01)
        seconds = time.monotonic() - begin
        asked = [*COMMAND, "send", "Which pump needs a new seal?", "--wait", "default", "--json"]
        page = subprocess.run(asked, capture_output=True, text=True, check=False)
        service.terminate()
    print(
        json.dumps(
            {
                "user": os.getuid(),
                "network": refusal(socket.create_connection, ("192.0.2.1", 80), 2),
                "root": refusal(open, "/written", "w"),
                "page": page.stdout or page.stderr,
                "exit": service.returncode,
                "log": open("/data/log", encoding="utf-8").read(),  # noqa: PTH123, SIM115
                "ready_seconds": round(seconds, 2),
            }
        )
    )


main()
