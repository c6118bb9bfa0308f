"""What a client may send before it is a request, and for how long, on a real port."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from builder.adapters.http import protocol, serve
from builder.adapters.http.protocol import MAX_HEAD_BYTES
from tests.commands import DEADLINE

HEAD = b"POST / HTTP/1.1\r\nHost: h\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
FILL = b"a" * (MAX_HEAD_BYTES + 1)
GOOD = HEAD + b"Content-Length: 2\r\n\r\nok"


async def echo(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers when all of the body is there."""
    if scope["type"] == "lifespan":
        for event in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{event}.complete"})
        return
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.request":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"done"})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """Of a server with `echo`."""
    stop, started = asyncio.Event(), asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(echo, "127.0.0.1", 0, stop, started.set_result))
    yield await started
    stop.set()
    await task


async def said(port: int, *parts: bytes, until: bytes = b"") -> bytes:
    """All that the server sends until it closes. until: what is waited for before the last part is sent."""
    async with asyncio.timeout(DEADLINE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answer = b""
        for number, part in enumerate(parts):
            if until and number == len(parts) - 1:
                answer += await reader.readuntil(until)
            writer.write(part)
        with contextlib.suppress(ConnectionResetError):  # the server does not read what is too much
            answer += await reader.read()
        writer.close()
        return answer


@pytest.mark.parametrize(
    "parts",
    [
        (HEAD + b"X-A: ", FILL),
        (b"GET /" + FILL,),
        (HEAD + b"X-A: " + FILL + b"\r\n\r\n",),
        (CHUNKED + b"0\r\n", b"X-A: ", 9 * FILL),
        (CHUNKED, b"1;", 9 * FILL),
    ],
    ids=["unfinished header", "unfinished line", "at once", "trailer", "chunk extension"],
)
async def test_more_than_a_head_may_have_ends_the_connection(
    port: int, parts: tuple[bytes, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 2 * DEADLINE)
    assert b"200 OK" not in await said(port, *parts)


async def test_a_head_that_is_not_complete_in_time_ends_the_connection(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.05)
    for parts in ((b"",), (HEAD,)):
        assert b"400 Bad Request" in await said(port, *parts)
    answer = await said(port, GOOD, HEAD, until=b"done")
    assert (answer.count(b"200 OK"), answer.count(b"were not complete within")) == (1, 1)


async def test_a_body_may_be_larger_and_a_connection_is_used_again(port: int) -> None:
    large = HEAD + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % (4 * len(FILL))
    answer = await said(port, GOOD, large + 4 * FILL, until=b"done")
    assert answer.count(b"200 OK") == 2
