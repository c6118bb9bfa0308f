"""The address of a running service, in a file of its data folder that commands read."""

import contextlib
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import stamina

from builder.app.settings import Settings
from builder.connection.opening import without_credentials
from builder.domain.errors import Misconfigured
from builder.extra import broker_starter

if sys.platform != "win32":
    import fcntl

log = logging.getLogger("builder")

FILE_NAME = "service.json"
CLAIM_NAME = "process.json"
DEFAULT_URL = "nats://127.0.0.1:4222"
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - what a service listens on, not us


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningService:
    """Addresses of a running service."""

    nats: str
    """Without credentials."""
    http: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The broker that a command talks to."""

    servers: str
    is_configured: bool = False
    """URLs were given; otherwise the embedded broker's."""
    guess: str = ""
    """Why the service is only guessed; "" = it is known."""


@contextmanager
def announcement(settings: Settings, nats: str, port: int) -> Iterator[None]:
    """Keep the address in the data folder during the block.

    port: HTTP. Nothing is written while another service holds the file's lock.
    """
    host = _ANYWHERE.get(settings.http.host, settings.http.host)
    listening = RunningService(
        nats=without_credentials(nats), http=f"http://{f'[{host}]' if ':' in host else host}:{port}", pid=os.getpid()
    )
    path = settings.data_dir.expanduser() / FILE_NAME
    with ExitStack() as stack:
        try:
            stack.enter_context(_file_with(path, json.dumps(asdict(listening)).encode()))
        except OSError as error:
            log.warning("commands will not find this service: %s cannot be written: %s", path, error.strerror)
        yield


@contextmanager
def claim(settings: Settings) -> Iterator[None]:
    """Keep other processes from the data folder during the block, from before anything in it is opened.

    Raises `Misconfigured` with the process that has it, and what to do; also for a folder that cannot be written.
    """
    folder = settings.data_dir.expanduser()
    path = folder / CLAIM_NAME
    with ExitStack() as stack:
        try:
            is_ours = stack.enter_context(_file_with(path, json.dumps({"pid": os.getpid()}).encode()))
        except OSError as error:
            raise Misconfigured(f"{folder} cannot be written: {error.strerror}; give a folder of this user") from error
        other = running(settings)
        if other or not is_ours:
            pid = other.pid if other else _pid(path)
            who = "this process" if pid == os.getpid() else f"process {pid}" if pid else "another process"
            share = f', use its service with local(url="{other.nats}")' if other else ""
            raise Misconfigured(f"{folder} is in use by {who}; stop it{share}, or give a folder of its own")
        yield


def _pid(path: Path) -> int:
    """0 = not to be read."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return int(json.loads(path.read_bytes())["pid"])
    return 0


@contextmanager
def _file_with(path: Path, data: bytes) -> Iterator[bool]:
    """Whether the file is ours; nothing is written while another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    is_ours = _claimed(file)
    try:
        if is_ours:
            _write(file, data)
        yield is_ours
    finally:
        if is_ours:
            with contextlib.suppress(OSError):
                _write(file, b"")  # removed, it could be the file that another service has opened just now
        os.close(file)


def running(settings: Settings) -> RunningService | None:
    """None = no service runs on the data folder."""
    path = settings.data_dir.expanduser() / FILE_NAME
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        with contextlib.suppress(BlockingIOError):
            _lock(file, shared=True)
            if sys.platform != "win32":
                return None
        return RunningService(**json.loads(os.read(file, 65_536)))
    except (OSError, ValueError, TypeError):
        return None
    finally:
        os.close(file)


def configured_servers(settings: Settings) -> str:
    """URLs of a broker that runs by itself; "" = the service starts its own."""
    servers = settings.nats.servers
    return "" if not servers or broker_starter(servers) else servers


def broker_address(settings: Settings, servers: str) -> Address:
    """By the option, else the settings, else the running service. servers: "" = no option."""
    if configured := servers or configured_servers(settings):
        return Address(servers=configured, is_configured=True)
    if "port" in settings.nats.model_fields_set and settings.nats.port > 0:
        return Address(servers=f"nats://127.0.0.1:{settings.nats.port}")
    if service := running(settings):
        return Address(servers=service.nats)
    return Address(
        servers=DEFAULT_URL,
        guess=f"no servers are configured and no service runs on {settings.data_dir.expanduser()}: trying {DEFAULT_URL}",
    )


def _claimed(file: int) -> bool:
    with contextlib.suppress(OSError):
        for attempt in stamina.retry_context(BlockingIOError, attempts=20, wait_initial=0.01, wait_max=0.01, wait_jitter=0):
            with attempt:
                _lock(file)
        return True
    return False


def _lock(file: int, *, shared: bool = False) -> None:
    """Unlocked when the process ends. Raises `BlockingIOError`."""
    if sys.platform != "win32":
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def _write(file: int, data: bytes) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, data)
    os.ftruncate(file, len(data))
