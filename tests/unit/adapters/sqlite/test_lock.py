"""The lock beside a store's file: shared, or one's alone, and gone with its process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from builder.adapters.sqlite.lock import locked
from builder.domain.errors import Misconfigured

HOLDER = """
import sys
from pathlib import Path
from builder.adapters.sqlite.lock import locked
with locked(Path(sys.argv[1]), alone=True):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_names_who_maintains_the_store_and_ends_with_a_kill(tmp_path: Path) -> None:
    store = tmp_path / "folder" / "store.db"
    command = [sys.executable, "-c", HOLDER, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Misconfigured, match=f"is under maintenance by process {holder.pid}; run this again"):
            locked(store, alone=False).__enter__()
        os.kill(holder.pid, signal.SIGKILL)
    with (
        locked(store, alone=False),
        locked(store, alone=False),
        pytest.raises(Misconfigured, match="is in use; stop the service"),
    ):
        locked(store, alone=True).__enter__()
    with locked(store, alone=True):
        assert (store.parent / "store.db.lock").read_text() == str(os.getpid())


def test_a_folder_that_cannot_be_made_is_misconfigured(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(Misconfigured, match=r"cannot be opened: .*CONTEXT_BUILDER_STORE__URL"):
        locked(tmp_path / "file" / "store.db", alone=False).__enter__()
