"""The client without `await`: the same methods, errors and ends."""

import inspect
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from builder.client import Client as AsyncClient
from builder.client import Rejected, Unavailable, connect, sync
from builder.testing import memory_client


@pytest.fixture
def client() -> Iterator[sync.SyncClient]:
    with sync.open_client(memory_client()) as opened:
        yield opened


def methods(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_") and name != "workspace"}


def test_it_has_every_method_of_the_asynchronous_client(client: sync.SyncClient) -> None:
    assert methods(sync.SyncClient) == methods(AsyncClient)
    for name in methods(AsyncClient):
        own, other = getattr(client, name), getattr(AsyncClient, name)
        assert list(inspect.signature(own).parameters.values()) == list(inspect.signature(other).parameters.values()), name
        assert own.__doc__ == other.__doc__


def test_connecting_takes_what_the_asynchronous_client_takes() -> None:
    assert inspect.signature(sync.connect).parameters == inspect.signature(connect).parameters


def test_a_conversation_goes_without_await(client: sync.SyncClient) -> None:
    with client.subscribed("default") as contexts:
        client.send_user_message("s1", "Hello.")
        for context in contexts:
            client.send_response(context, "Hello to you.")
            break
    assert [record.text for record in client.history("s1")] == ["Hello.", "Hello to you."]
    assert client.workspace == "default"


def test_errors_are_those_of_the_asynchronous_client(client: sync.SyncClient) -> None:
    with pytest.raises(Rejected, match="session is an empty text"):
        client.ask("", "Hello.")
    with pytest.raises(Unavailable, match="no NATS server answered"), sync.connect("nats://127.0.0.1:1", timeout=0.05):
        raise AssertionError


def test_ctrl_c_ends_the_call_that_waits_and_the_client_goes_on(client: sync.SyncClient) -> None:
    contexts = client.contexts("default")
    main = threading.main_thread().ident
    assert main is not None

    def interrupted() -> None:
        threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGINT)).start()
        next(contexts)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
    assert client.ask("s1", "Still there?").token_count > 0


def test_what_was_left_in_the_middle_ends_with_the_block() -> None:
    before = threading.active_count()
    with sync.open_client(memory_client()) as client:
        client.ask("s1", "Hello.")
        contexts = client.contexts("default", deliver="all")
        next(contexts)
    assert threading.active_count() == before
    contexts.close()


def test_an_error_in_the_block_reaches_the_asynchronous_one() -> None:
    errors: list[BaseException] = []

    @asynccontextmanager
    async def watched() -> AsyncIterator[AsyncClient]:
        try:
            async with memory_client() as inner:
                yield inner
        except ValueError as error:
            errors.append(error)
            raise

    with pytest.raises(ValueError, match="mine"), sync.open_client(watched()):
        raise ValueError("mine")
    assert len(errors) == 1


def test_a_client_that_would_wait_for_itself_says_so(client: sync.SyncClient) -> None:
    async def tool() -> str:
        client.fetch("m1")
        return ""

    context = client.ask("s1", "Hello.")
    call = {"id": "c1", "function": {"name": "tool", "arguments": ""}}
    client.send_reply(context, {"content": "", "tool_calls": [call]}, tools={"tool": tool})
    (response,) = client.responses(context)
    assert "this client would wait for itself" in response.results["c1"]["error"]


def test_several_threads_share_a_client(client: sync.SyncClient) -> None:
    threads = [threading.Thread(target=client.ask, args=(f"s{number}", "Hello.")) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(list(client.history(f"s{number}"))) == 1 for number in range(4))
