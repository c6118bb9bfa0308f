"""Run a command in a folder as its root, as a container with `--network none --read-only --user` does. Started by `unshare`.

Arguments: [--writable] ROOT USER COMMAND… ; only loopback is up, only /tmp and /data take files, the environment is the caller's.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def mount(*arguments: str) -> None:
    """As `mount`."""
    subprocess.run(["mount", *arguments], check=True)


def loopback_up() -> None:
    """A new network has a loopback that is down."""
    with socket.socket() as handle:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(handle, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def enter(root: Path, user: int, command: list[str], *, writable: bool) -> None:
    """Never returns."""
    loopback_up()
    mount("--bind", str(root), str(root))
    for device in ("null", "urandom"):
        mount("--bind", f"/dev/{device}", str(root / "dev" / device))
    mount("--rbind", "/proc", str(root / "proc"))
    if not writable:
        mount("-t", "tmpfs", "tmpfs", str(root / "tmp"))
        mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(root / "data"))
        mount("-o", "remount,bind,ro", str(root))
    os.chroot(root)
    os.chdir("/data" if not writable else "/")
    if Path("/proc/self/uid_map").read_text("utf-8").split()[:3] == ["0", "0", "4294967295"]:  # no namespace of one user
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    os.execvpe(command[0], command, dict(os.environ))  # noqa: S606 - the command of the caller


if __name__ == "__main__":
    arguments = sys.argv[1:]
    builds = arguments[0] == "--writable"
    folder, number, *program = arguments[1:] if builds else arguments
    enter(Path(folder), int(number), program, writable=builds)
