"""The service of a folder and a client of it, as one context manager."""

import asyncio
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

from builder import client as asynchronous
from builder.client import Client, sync
from builder.client.sync import Loop, SyncClient
from builder.domain.errors import Misconfigured, installation
from builder.wire.subjects import DEFAULT_NAME, check_token


def local(folder: Path | str = "./memory", workspace: str = "default", *, url: str = "", **options: Any) -> "Local":
    """A client, plain or asynchronous, with the service of a folder in this process for the block.

    folder: all that is remembered; it is made when it is not there, and its `templates/`, if any, are laid over the bundled ones.
    Environment variables count as for `up`, but for folder, store, broker and HTTP. url: of a NATS server whose service runs
    elsewhere; then nothing is started, and the folder is not touched. options: of `builder.client.connect`.

    The block raises `Misconfigured` where another process has the folder, with its id, and without the installation; `Rejected`
    for an invalid workspace; else as `connect`. What was sent is on disk when the call returns.
    """
    return Local(Path(folder), check_token(workspace, "workspace"), url, options)


class Local:
    """See `local`. A block may be entered again after it has ended."""

    def __init__(self, folder: Path, workspace: str, url: str, options: dict[str, Any]) -> None:
        self._folder = folder
        self._workspace = workspace
        self._url = url
        self._options = options

    def __enter__(self) -> SyncClient:
        with ExitStack() as stack:
            url = self._start(stack)
            client = stack.enter_context(sync.connect(url, self._workspace, **self._arguments()))
            self._stack = stack.pop_all()
        return client

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    async def __aenter__(self) -> Client:
        async with AsyncExitStack() as stack:
            service = ExitStack()
            starting = asyncio.create_task(asyncio.to_thread(self._start, service))
            stack.push_async_callback(asyncio.to_thread, service.close)
            try:
                url = await asyncio.shield(starting)
            except asyncio.CancelledError:  # a thread is not ended: what it starts is stopped
                await asyncio.wait({starting})
                raise
            client = await stack.enter_async_context(asynchronous.connect(url, self._workspace, **self._arguments()))
            self._later = stack.pop_all()
        return client

    async def __aexit__(self, *failure: object) -> None:
        await self._later.aclose()

    def _start(self, stack: ExitStack) -> str:
        """URL of the broker. The service runs in a thread of its own: no code of the caller can stop it from answering."""
        if self._url:
            return self._url
        try:
            from builder.local.service import folder_settings, running_service  # noqa: PLC0415 - of an extra
        except ModuleNotFoundError as error:
            raise Misconfigured(
                f"{error.name} is not installed: builder.local runs the whole service; {installation('service')}, or give the "
                "url of a NATS server whose service runs elsewhere"
            ) from error
        settings = folder_settings(self._folder)
        loop = stack.enter_context(Loop())
        return stack.enter_context(loop.enter(running_service(settings)))

    def _arguments(self) -> dict[str, Any]:
        """A folder's service is found under no other name."""
        return self._options if self._url else {**self._options, "name": DEFAULT_NAME}
