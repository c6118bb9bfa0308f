"""The client without `await`, for scripts and frameworks without an event loop. Same names, same arguments, same errors.

    with connect("nats://127.0.0.1:4222") as client:
        client.serve("my-agent", lambda context: my_model(context.content))

A thread of its own runs the event loop of the connection while the block runs; calls wait for it. Ctrl-C ends the call that
waits, and the block closes the connection.
"""

import asyncio
import functools
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from builder.client import asking
from builder.client import client as asynchronous
from builder.client.received import ReceivedContext
from builder.connection.opening import FIRST_SECONDS
from builder.domain.errors import Rejected
from builder.wire.responses import Response
from builder.wire.subjects import DEFAULT_NAME

__all__ = ["CallerLoop", "Loop", "ReceivedContext", "SyncAnswerSteps", "SyncClient", "as_sync", "connect", "open_client"]

MAX_THREADS = 64
"""Handlers and tools at once."""
P = ParamSpec("P")
T = TypeVar("T")


class Loop:
    """An event loop in a thread of its own, for the block."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(MAX_THREADS, "context-builder handler"))
        self._thread = threading.Thread(target=self._loop.run_forever, name="context-builder client", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(_end_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Awaitable[T]) -> T:
        """Ctrl-C cancels the work and is raised."""
        if threading.current_thread() is self._thread:
            if isinstance(work, Coroutine):
                work.close()
            raise RuntimeError("this client would wait for itself: use the asynchronous client in code that its loop runs")
        tasks: list[asyncio.Future[T]] = []
        ended = threading.Event()

        def begin() -> None:
            tasks.append(asyncio.ensure_future(work))
            tasks[0].add_done_callback(lambda _task: ended.set())

        self._loop.call_soon_threadsafe(begin)
        try:
            ended.wait()
        except BaseException:
            self._loop.call_soon_threadsafe(lambda: tasks[0].cancel())  # noqa: PLW0108 - it may not have begun
            ended.wait()
            if not tasks[0].cancelled():
                tasks[0].exception()  # seen: the interrupt is what is raised
            raise
        return tasks[0].result()

    def iterate(self, items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """The generator is closed with this one."""
        try:
            while True:
                try:
                    yield self.run(_next(items))
                except StopAsyncIteration:
                    return
        finally:
            if not self._loop.is_closed():
                with suppress(asyncio.CancelledError):
                    self.run(items.aclose())

    @contextmanager
    def enter(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """The context manager for the block."""
        value = self.run(manager.__aenter__())
        try:
            yield value
        except BaseException:
            if not self.run(manager.__aexit__(*sys.exc_info())):
                raise
        else:
            self.run(manager.__aexit__(None, None, None))


class CallerLoop(Loop):
    """The event loop that this code runs in, for threads beside it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.current_thread()


async def _next(items: AsyncGenerator[T, None]) -> T:
    return await anext(items)


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


class _Bound(Generic[P, T]):
    """A method of `SyncClient`, with the parameters of the asynchronous one."""

    def __init__(self, method: Callable[Concatenate[asynchronous.Client, P], Any], run: Callable[[Loop, Any], T]) -> None:
        self.method = method
        self.__doc__ = method.__doc__
        self._run = run

    @overload
    def __get__(self, client: None, kind: type) -> "_Bound[P, T]": ...
    @overload
    def __get__(self, client: "SyncClient", kind: type) -> Callable[P, T]: ...
    def __get__(self, client: "SyncClient | None", kind: type) -> "_Bound[P, T] | Callable[P, T]":
        if client is None:
            return self

        @functools.wraps(self.method)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return self._run(client._loop, self.method(client._client, *args, **kwargs))  # noqa: SLF001 - its method

        return call


def _plain(method: Callable[Concatenate[asynchronous.Client, P], Coroutine[Any, Any, T]]) -> _Bound[P, T]:
    return _Bound(method, Loop.run)


def _until_stopped(method: Callable[Concatenate[asynchronous.Client, P], Coroutine[Any, Any, None]]) -> _Bound[P, None]:
    return _Bound(method, _serve)


def _generator(
    method: Callable[Concatenate[asynchronous.Client, P], AsyncGenerator[T, None]],
) -> _Bound[P, Generator[T, None, None]]:
    return _Bound(method, Loop.iterate)


def _entered(
    loop: Loop, manager: AbstractAsyncContextManager[AsyncGenerator[T, None]]
) -> AbstractContextManager[Generator[T, None, None]]:
    @contextmanager
    def block() -> Iterator[Generator[T, None, None]]:
        with loop.enter(manager) as items:
            yield loop.iterate(items)

    return block()


def _block(
    method: Callable[Concatenate[asynchronous.Client, P], AbstractAsyncContextManager[AsyncGenerator[T, None]]],
) -> _Bound[P, AbstractContextManager[Generator[T, None, None]]]:
    return _Bound(method, _entered)


def _serve(loop: Loop, work: Coroutine[Any, Any, None]) -> None:
    is_ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if is_ours:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        loop.run(work)
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@dataclass(frozen=True)
class SyncAnswerSteps:
    """`builder.client.AnswerSteps` without `await`: `text` is the answer; iterate for each response."""

    loop: Loop
    steps: asking.AnswerSteps

    def __iter__(self) -> Iterator[Response]:
        return self.loop.iterate(aiter(self.steps))

    @property
    def text(self) -> str:
        """The answer, once it is there."""
        return self.loop.run(self.steps.text())


class SyncClient:
    """`builder.client.Client` without `await`. It may be used from several threads."""

    def __init__(self, client: asynchronous.Client, loop: Loop) -> None:
        self.workspace = client.workspace
        self._client = client
        self._loop = loop

    answer = _Bound(asynchronous.Client.answer, SyncAnswerSteps)
    ask = _plain(asynchronous.Client.ask)
    check_consumer = _plain(asynchronous.Client.check_consumer)
    compact = _plain(asynchronous.Client.compact)
    search = _plain(asynchronous.Client.search)
    remember = _plain(asynchronous.Client.remember)
    consumer = _plain(asynchronous.Client.consumer)
    consumers = _plain(asynchronous.Client.consumers)
    context = _plain(asynchronous.Client.context)
    contexts = _generator(asynchronous.Client.contexts)
    fetch = _plain(asynchronous.Client.fetch)
    fetch_omitted = _plain(asynchronous.Client.fetch_omitted)
    forget = _plain(asynchronous.Client.forget)
    forget_person = _plain(asynchronous.Client.forget_person)
    forget_session = _plain(asynchronous.Client.forget_session)
    history = _generator(asynchronous.Client.history)
    identities = _plain(asynchronous.Client.identities)
    page = _plain(asynchronous.Client.page)
    is_superseded = _plain(asynchronous.Client.is_superseded)
    has_gone_on = _plain(asynchronous.Client.has_gone_on)
    publish = _plain(asynchronous.Client.publish)
    refresh = _plain(asynchronous.Client.refresh)
    request = _plain(asynchronous.Client.request)
    responses = _plain(asynchronous.Client.responses)
    run_tools = _plain(asynchronous.Client.run_tools)
    sessions = _generator(asynchronous.Client.sessions)
    send = _plain(asynchronous.Client.send)
    send_reply = _plain(asynchronous.Client.send_reply)
    send_response = _plain(asynchronous.Client.send_response)
    send_tool_result = _plain(asynchronous.Client.send_tool_result)
    send_user_message = _plain(asynchronous.Client.send_user_message)
    serve = _until_stopped(asynchronous.Client.serve)
    subscribed = _block(asynchronous.Client.subscribed)


def as_sync(client: SyncClient | asynchronous.Client) -> SyncClient:
    """For code in threads: of an asynchronous client, in whose event loop this is called. Raises `Rejected` elsewhere."""
    if isinstance(client, SyncClient):
        return client
    try:
        return SyncClient(client, CallerLoop())
    except RuntimeError as error:
        raise Rejected("an asynchronous client is given in its event loop; elsewhere give one of builder.client.sync") from error


@contextmanager
def open_client(manager: AbstractAsyncContextManager[asynchronous.Client]) -> Iterator[SyncClient]:
    """For the block, e.g. `open_client(memory_client())` of `builder.testing`."""
    with Loop() as loop, loop.enter(manager) as client:
        yield SyncClient(client, loop)


@contextmanager
def connect(
    servers: str = "nats://127.0.0.1:4222",
    workspace: str = "default",
    *,
    name: str = DEFAULT_NAME,
    timeout: float = FIRST_SECONDS,
    **options: Any,
) -> Iterator[SyncClient]:
    """Arguments and errors are those of `builder.client.connect`."""
    with open_client(asynchronous.connect(servers, workspace, name=name, timeout=timeout, **options)) as client:
        yield client
