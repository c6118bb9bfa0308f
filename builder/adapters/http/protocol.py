"""Limits that uvicorn's protocol lacks: of what a client may send before it is a request, in bytes and in seconds."""

import asyncio

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 64 * 1024
"""The request line and the headers together."""
HEAD_SECONDS = 10.0
"""Until they are complete."""


class BoundedProtocol(HttpToolsProtocol):
    """Counts what is neither a whole head nor a body; so trailers and the lines between chunks have the same limits."""

    _unread = 0
    """Bytes since the last whole head, part of a body or end of a request."""
    _timer: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start()

    @override
    def data_received(self, data: bytes) -> None:
        self._unread += len(data)
        super().data_received(data)
        if self._unread > MAX_HEAD_BYTES:
            self._refuse(f"The headers have more than {MAX_HEAD_BYTES:,} bytes.")
        elif self._unread and not self._timer:
            self._start()

    @override
    def on_headers_complete(self) -> None:
        self._progress()
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD_BYTES:
            raise ValueError("large headers that came at once")  # the parser ends and the client gets 400
        super().on_headers_complete()

    @override
    def on_body(self, body: bytes) -> None:
        self._progress()
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._progress()
        super().on_message_complete()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._progress()
        super().connection_lost(exc)

    def _start(self) -> None:
        sentence = f"The headers were not complete within {HEAD_SECONDS:.0f} s."
        self._timer = self.loop.call_later(HEAD_SECONDS, self._refuse, sentence)

    def _progress(self) -> None:
        self._unread = 0
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, sentence: str) -> None:
        self._progress()
        if not self.transport.is_closing():
            self.send_400_response(sentence)
