"""The MCP door, asked by the official client over standard input and over HTTP, as the page mcp.md configures it."""

import json
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from tests.commands import COMMAND, Command
from tests.free_ports import free_port
from tests.running import Broker, Running, environment, wait_for

PAGE = (Path(__file__).parents[2] / "builder" / "docs" / "mcp.md").read_text("utf-8")
TOOLS = ["build_context", "search", "fetch_omitted", "history", "remember", "forget"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service without a model."""
    with Running(tmp_path_factory.mktemp("mcp"), nats__port=0, embedding__engine="none") as running:
        yield running


def configuration(mark: str) -> dict[str, object]:
    """The server that the block of this mark configures."""
    (block,) = re.findall(rf"<!-- {mark}: [^\n]*-->\n```json\n(.*?)```", PAGE, re.DOTALL)
    servers = json.loads(block)
    return dict((servers.get("mcpServers") or servers["servers"])["context-builder"])


@asynccontextmanager
async def connected(env: dict[str, str], mark: str = "claude") -> AsyncIterator[Client]:
    """The official client on the server of a configuration."""
    server = configuration(mark)
    assert server["command"] == "context-builder"
    arguments = [str(each) for each in server["args"]]  # type: ignore[attr-defined]
    async with Client(StdioServerParameters(command=COMMAND, args=arguments, env=env)) as client:
        yield client


async def said(client: Client, tool: str, **arguments: object) -> str:
    """The text of a tool's answer; begins with "error: " where it is one."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return f"error: {content.text}" if result.is_error else content.text


@pytest.mark.parametrize("mark", ["claude", "vscode"])
async def test_a_configuration_of_the_page_starts_a_server_with_a_stable_list_of_tools(service: Running, mark: str) -> None:
    async with connected(service.env, mark) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        assert all(tool.description for tool in (await client.list_tools()).tools)
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["context://{consumer}/{session}"]


async def test_a_message_is_remembered_found_shown_and_forgotten(service: Running) -> None:
    async with connected(service.env) as client:
        assert (
            (await said(client, "build_context", text="The kiln is K-4711.", session="s1"))
            .rstrip()
            .endswith("The kiln is K-4711.")
        )
        note = await said(client, "remember", note="The kiln needs two cones.")
        page = await said(client, "build_context", text="Which kiln is it?", session="s1", user_id="ada")
        assert "The kiln is K-4711." in page
        resource = await client.read_resource("context://default/s1")
        assert [getattr(each, "text", "") for each in resource.contents] == [page]
        found = await said(client, "search", text="Which kiln is it?", session="s1")
        (identity,) = re.findall(r"^\[(\S+)\] .*: The kiln is K-4711\.$", found, re.MULTILINE)
        assert "two cones" in await said(client, "search", text="What does the kiln need?")
        assert (await said(client, "history", session="s1", limit=1)).endswith("User: Which kiln is it?")
        assert "this would be erased for ever; call again with confirm=true" in await said(client, "forget", id=identity)
        assert await said(client, "forget", id=identity, confirm=True) == "1 receipts"
        assert "K-4711" not in await said(client, "search", text="Which kiln is it?")
        assert note in await said(client, "search", text="What does the kiln need?")
        assert (await said(client, "forget", session="s1")).startswith("1 messages of session 's1'\nthis would be erased")
        assert await said(client, "forget", session="s1", confirm=True) == "1 receipts"
        assert await said(client, "forget", user_id="ada", confirm=True) == "it was forgotten before"
        assert "name one of id, session and user_id" in await said(client, "forget", confirm=True)


async def test_errors_are_content_in_the_sentences_of_the_client(service: Running, tmp_path: Path) -> None:
    async with connected(service.env) as client:
        assert "there is no breadcrumb 'nothing'" in await said(client, "forget", id="nothing")
        assert "no profile of the service names the consumer 'nobody'" in await said(
            client, "build_context", text="Hello", session="s", consumer="nobody"
        )
        assert "limit" in await said(client, "history", session="s", limit=1000)
    with Broker(tmp_path / "broker") as broker:
        async with connected(environment(tmp_path, nats__servers=broker.url)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS, "without a service, too"
            assert "is the service up on this broker?" in await said(client, "search", text="Hello")


async def test_streamable_http_serves_the_same_tools(service: Running, tmp_path: Path) -> None:
    port = free_port()
    server = Command(("mcp", "--http", str(port)), service.env, tmp_path / "output", tmp_path / "errors")
    try:
        wait_for(lambda: listens(port), "the port to be open")
        token = Path(service.env["CONTEXT_BUILDER_DATA_DIR"], "http-token").read_text("utf-8")
        transport = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
        async with transport, Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=transport)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            assert "nothing is remembered" in await said(client, "history", session="nowhere")
    finally:
        server.kill()


def listens(port: int) -> bool:
    """Whether somebody takes connections there."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
