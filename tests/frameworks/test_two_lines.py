"""The examples of `two-lines.md` as they stand, and the folder that they leave as a service of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.client.sync import SyncClient, connect
from builder.local import local
from tests.commands import python_path
from tests.frameworks.page import DOCS
from tests.running import Process, Running
from tests.vendor_server import ASKED, FACT, KNOWN, VendorServer, vendor_server

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def server() -> Iterator[VendorServer]:
    with vendor_server() as running:
        yield running
        assert running.refusals == []


def said(client: SyncClient) -> list[str]:
    return [record.text for record in client.history("s42")]


def run(name: str, folder: Path, server: VendorServer) -> str:
    """What the script prints, with the folder as its own."""
    env = os.environ | {
        "PYTHONPATH": python_path(ROOT),
        "CONTEXT_BUILDER_EMBEDDING__ENGINE": "none",
        "CONTEXT_BUILDER_LOG__LEVEL": "ERROR",
    }
    env |= {
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": server.url,
    }
    program = (
        f"import os, runpy; os.chdir({str(folder)!r}); runpy.run_path({str(DOCS / 'examples' / name)!r}, run_name='__main__')"
    )
    script = folder / "program.py"
    script.write_text(program, "utf-8")
    with Process([str(script)], env, folder / "log") as process:
        assert process.wait() == 0, process.said()
        return process.said()


def test_seven_lines_remember_and_both_vendors_read_it(
    server: VendorServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (DOCS / "examples" / "local_openai.py").read_text("utf-8").splitlines()
    assert sum(bool(line.strip()) and '"""' not in line for line in lines) == 7
    assert run("local_openai.py", tmp_path, server) == "I do not know.\n"
    monkeypatch.setenv("CONTEXT_BUILDER_EMBEDDING__ENGINE", "none")
    with local(tmp_path / "memory") as client:
        client.send_user_message("s42", FACT)
    assert run("local_anthropic.py", tmp_path, server) == KNOWN
    with Running(tmp_path / "memory", embedding__engine="none") as service, connect(service.url) as client:
        assert said(client) == [ASKED, "I do not know.", FACT, ASKED, KNOWN]


def test_the_same_code_talks_to_a_real_nats_by_one_argument(client: SyncClient, service: Running, tmp_path: Path) -> None:
    client.send_user_message("two lines", FACT)
    with local(tmp_path / "memory", url=service.env["CONTEXT_BUILDER_NATS__SERVERS"]) as other:
        assert [record.text for record in other.history("two lines")] == [FACT]
    assert not (tmp_path / "memory").exists()
