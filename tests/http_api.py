"""The HTTP API for tests: tokens of a file, requests with one of them, events as they come."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx2
import yaml

from tests.commands import DEADLINE

EVERY_RIGHT = ("read", "write", "forget", "export")


def write_tokens(file: Path, tokens: Mapping[str, Mapping[str, Any]]) -> Path:
    """A file of tokens. tokens: token, which is the name, too → its fields; rights default to every one."""
    entries = [
        {"name": token, "sha256": sha256(token.encode()).hexdigest(), "rights": list(EVERY_RIGHT), **fields}
        for token, fields in tokens.items()
    ]
    file.write_text(yaml.safe_dump(entries), "utf-8")
    return file


class Answer(NamedTuple):
    """Status, body and media type."""

    status: int
    body: bytes
    media: str

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


class Api:
    """Requests with one token."""

    def __init__(self, url: str, token: str = "") -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url = url
        self._client = httpx2.AsyncClient(base_url=url, headers=headers, timeout=DEADLINE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def get(self, path: str, **query: Any) -> Answer:
        """A GET."""
        return _answer(await self._client.get(path, params=query))

    async def post(self, path: str, **body: Any) -> Answer:
        """A POST of JSON."""
        return _answer(await self._client.post(path, json=body))

    async def send(self, method: str, path: str, content: bytes | AsyncIterator[bytes], **headers: str) -> Answer:
        """Any request."""
        return _answer(await self._client.request(method, path, content=content, headers=headers))

    async def events(self, consumer: str, last: str = "") -> AsyncGenerator[tuple[str, str], None]:
        """(id, trigger) of each event; the first is that of the connection, with trigger ""."""
        headers = {"Last-Event-ID": last} if last else {}
        async with self._client.stream("GET", f"/v1/contexts/{consumer}/events", headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            identity = ""
            async for line in response.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "id":
                    identity = value
                elif name == "data":
                    yield identity, json.loads(value)["trigger_event_id"]
                    identity = ""
                elif not line and identity:
                    yield identity, ""
                    identity = ""


def _answer(response: httpx2.Response) -> Answer:
    return Answer(response.status_code, response.content, response.headers.get("content-type", ""))


async def first(events: AsyncIterator[tuple[str, str]], number: int) -> list[tuple[str, str]]:
    """So many events."""
    return [await anext(events) for _ in range(number)]


def without(names: Iterable[str], data: bytes) -> bytes:
    """The bytes with each of these names replaced by the same mark."""
    for name in names:
        data = data.replace(name.encode(), b"NAME")
    return data
