"""What a process of the tests makes once and the service at each start: the seconds that this saves are those of 500 starts."""

from functools import cache
from pathlib import Path

import httpcore2

from builder.adapters.embedding import prepared

_sha256 = prepared.sha256


@cache
def _sha256_of(path: Path, size: int, changed: int) -> str:  # noqa: ARG001 - another file has another hash
    return _sha256(path)


def sha256(path: Path) -> str:
    """The hash of a model's file; a file that was changed is read again."""
    state = path.stat()
    return _sha256_of(path, state.st_size, state.st_mtime_ns)


prepared.sha256 = sha256
# The certificates of the machine: a fortieth of a second for each client, though all of them speak plain HTTP to this machine.
httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)
