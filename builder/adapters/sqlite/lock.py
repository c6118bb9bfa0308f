"""The lock of a store: a file beside it, which whoever has the store open shares, and which maintenance has alone."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import stamina

from builder.domain.errors import Misconfigured

if sys.platform != "win32":
    import fcntl

ATTEMPTS, PAUSE_SECONDS = 20, 0.01
"""A store that was just closed gives its lock back in a moment."""


@contextmanager
def locked(store: Path, *, alone: bool) -> Iterator[None]:
    """Hold the store's lock during the block; it is free when the process ends, however it ends.

    alone: nobody else holds it, and none can take it. Raises `Misconfigured` while that is not so.
    """
    path = store.with_name(f"{store.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise Misconfigured(
            f"the store {store} cannot be opened: {error}; check CONTEXT_BUILDER_STORE__URL and its rights"
        ) from error
    try:
        _claim(file, store, alone=alone)
        yield
    finally:
        os.close(file)


def _claim(file: int, store: Path, *, alone: bool) -> None:
    if sys.platform == "win32":
        return
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    attempts = stamina.retry_context(
        BlockingIOError, attempts=ATTEMPTS, wait_initial=PAUSE_SECONDS, wait_max=PAUSE_SECONDS, wait_jitter=0
    )
    try:
        for attempt in attempts:
            with attempt:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
        os.ftruncate(file, 0)
        if alone:
            os.pwrite(file, str(os.getpid()).encode(), 0)
    except BlockingIOError as error:
        if process := os.pread(file, 20, 0).decode("ascii", "replace"):
            sentence = f"the store {store} is under maintenance by process {process}; run this again when that has ended"
        else:
            sentence = f"the store {store} is in use; stop the service, then run the command again"
        raise Misconfigured(sentence) from error
