"""The MCP door over HTTP, and what the official client gets of its tools."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from tests.commands import Command
from tests.free_ports import free_port
from tests.running import wait_for


async def said(client: Client, tool: str, **arguments: object) -> str:
    """The text of a tool's answer; begins with "error: " where it is one."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return f"error: {content.text}" if result.is_error else content.text


async def data(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """The structured content of a tool's answer."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


@contextmanager
def serving(env: dict[str, str], folder: Path, *arguments: str) -> Iterator[str]:
    """The URL of the door over HTTP. arguments: more of the command."""
    port = free_port()
    server = Command(("mcp", "--http", str(port), *arguments), env, folder / "output", folder / "errors")
    try:
        wait_for(lambda: listens(port), "the port to be open")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()


@asynccontextmanager
async def over_http(url: str, token: str) -> AsyncIterator[Client]:
    """The official client with a bearer token."""
    transport = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
    async with transport, Client(streamable_http_client(url, http_client=transport)) as client:
        yield client


def listens(port: int) -> bool:
    """Whether somebody takes connections there."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
