"""The MCP door before the official conformance suite.

The scenarios that call tools, prompts and resources of the suite's own example server are left out: ours has others.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import Command
from tests.doors import listens
from tests.free_ports import free_port
from tests.node import modules, node
from tests.running import Running, wait_for

PACKAGE = Path(__file__).with_name("mcp_conformance")
SCENARIOS = ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection")
OPEN_DOOR = """
import sys
from builder.extras.mcp.server import mcp_server
from builder.client import connect
mcp_server(lambda: connect(sys.argv[1])).run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]), stateless_http=True)
"""
"""The door without tokens: the suite sends none."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of the door beside a service."""
    folder, port = tmp_path_factory.mktemp("conformance"), free_port()
    with Running(folder / "data", nats__port=0, embedding__engine="none") as service:
        script = folder / "open_door.py"
        script.write_text(OPEN_DOOR, "utf-8")
        door = Command((str(script), service.url, str(port)), service.env, folder / "output", folder / "errors")
        try:
            wait_for(lambda: listens(port), "the port to be open")
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            door.kill()


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the suite's modules."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "node_modules").symlink_to(modules(PACKAGE))
    return folder


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_door_passes_each_scenario_that_needs_no_tools_of_the_suite_s_own(url: str, suite: Path, scenario: str) -> None:
    program = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    said = node(suite, program, "server", "--url", url, "--scenario", scenario)
    assert re.search(r"^Passed: ([1-9])/\1, 0 failed, 0 warnings$", said, re.MULTILINE), said


def test_the_suite_is_pinned_with_the_hash_of_every_package() -> None:
    lock = json.loads((PACKAGE / "package-lock.json").read_text("utf-8"))
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert packages["node_modules/@modelcontextprotocol/conformance"]["version"] == "0.1.16"
    assert [name for name, each in packages.items() if "resolved" in each or not each.get("integrity")] == []
