"""The first connection, the lines that are logged about a lost one, and what a refusal says must be granted."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from nats.aio.client import Client as Connection
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from builder.connection.opening import (
    _Hopeless,
    _Journal,
    open_connection,
    permission,
    reason,
    refusal,
    translated,
    without_credentials,
)
from builder.domain.errors import Rejected, Unavailable

NOWHERE = "nats://127.0.0.1:1"


@pytest.mark.parametrize(
    ("servers", "shown"),
    [
        ("nats://a:4222", "nats://a:4222"),
        ("nats://user:pass@a:4222,nats://token@b:4222", "nats://a:4222,nats://b:4222"),
        ("user:p@ss@a:4222", "a:4222"),
        ("nats://token@a, tls://u:p@b,c:d@e", "nats://a, tls://b,e"),
        ("tls://u:p@a", "tls://a"),
    ],
)
def test_addresses_are_shown_without_credentials(servers: str, shown: str) -> None:
    assert without_credentials(servers) == shown


def test_a_reason_is_one_line_and_never_empty() -> None:
    assert reason(NatsError("no\n  route")) == "no route"
    assert reason(TimeoutError()) == "TimeoutError"
    assert reason(APIError(code=503, description="insufficient resources")) == "insufficient resources"


@pytest.mark.parametrize("error", [NatsError("gone"), OSError("gone"), TimeoutError("gone"), APIError(description="gone")])
def test_errors_of_the_broker_become_unavailable_with_what_failed_and_what_to_do(error: Exception) -> None:
    with (
        pytest.raises(Unavailable, match=r"^reading failed: gone; try later$") as caught,
        translated("reading failed", "try later"),
    ):
        raise error
    assert caught.value.__cause__ is error


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(Rejected), translated("reading failed", "try later"):
        raise Rejected("no")


async def test_a_first_connection_that_no_server_answers_is_unavailable_within_its_time() -> None:
    with pytest.raises(Unavailable, match=r"no NATS server answered at nats://127\.0\.0\.1:1: .*; start it"):
        await open_connection(NOWHERE, timeout=0.3)


async def test_an_address_that_is_none_is_said() -> None:
    with pytest.raises(Unavailable, match=r"no NATS server answered at nats://: .*; start it, or check the address"):
        await open_connection("nats://", timeout=0.3)


async def test_each_address_is_tried_as_often_as_allowed() -> None:
    with pytest.raises(Unavailable, match="no NATS server answered"):
        await open_connection(NOWHERE, timeout=30.0, rounds=1)


def journal(connection: Any, *, attempts: int = 0, every: float = 60.0) -> _Journal:
    return _Journal(cast("Connection", connection), "nats://a:4222", attempts, every)


async def test_the_first_connection_gives_up_at_its_deadline_though_a_cancellation_was_swallowed() -> None:
    waiting = journal(None)
    await waiting.failed(OSError("refused"))
    waiting.deadline = asyncio.get_running_loop().time()
    with pytest.raises(_Hopeless):
        await waiting.failed(OSError("refused"))


async def test_before_the_first_connection_failures_are_counted_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    book = journal(SimpleNamespace(is_closed=False, is_connected=False), attempts=2)
    await book.failed(OSError("refused"))
    with pytest.raises(_Hopeless):
        await book.failed(OSError("refused again"))
    assert str(book.last) == "refused again"
    assert caplog.records == []


async def test_an_absent_broker_is_one_line_and_its_return_another(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    book = journal(SimpleNamespace(is_closed=False, is_connected=False))
    book.is_open = True
    for _ in range(3):
        await book.failed(OSError("refused"))
    await book.connected()
    await book.connected()
    assert [record.getMessage() for record in caplog.records] == [
        "no connection to nats://a:4222: refused; trying again without end",
        "connected to nats://a:4222 again",
    ]


async def test_errors_of_another_kind_have_a_line_of_their_own(caplog: pytest.LogCaptureFixture) -> None:
    book = journal(SimpleNamespace(is_closed=False, is_connected=True))
    book.is_open = True
    await book.failed(NatsError("permissions violation"))
    assert "reports: permissions violation" in caplog.text


async def test_a_closed_connection_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    book = journal(SimpleNamespace(is_closed=True, is_connected=False))
    book.is_open = True
    await book.failed(OSError("closed"))
    assert caplog.records == []


@pytest.mark.parametrize(
    ("subject", "granted"),
    [
        ("$js.api.stream.info.breadcrumbs", "$JS.API.STREAM.INFO.BREADCRUMBS"),
        ("$js.api.stream.msg.get.contexts", "$JS.API.STREAM.MSG.GET.CONTEXTS"),
        ("$js.api.stream.info.kv_staging-workers", "$JS.API.STREAM.INFO.KV_staging-workers"),
        ("$js.api.consumer.create.staging-breadcrumbs.staging.breadcrumbs.>", "$JS.API.CONSUMER.CREATE.staging-BREADCRUMBS.>"),
        ("$js.api.consumer.msg.next.breadcrumbs.context-builder", "$JS.API.CONSUMER.MSG.NEXT.BREADCRUMBS.>"),
        ("$js.ack.breadcrumbs.context-builder.1.2.3", "$JS.ACK.BREADCRUMBS.>"),
        ("$kv.context-builder-workers.ab12", "$KV.context-builder-workers.>"),
        ("_inbox.abc.*", "_INBOX.>"),
        ("$srv.*", "$SRV.>"),
        ("$srv.*.context-builder.x", "$SRV.>"),
        ("contexts.acme.default.s1.id", "contexts.>"),
        ("staging.contexts.acme.default.s1.id", "staging.contexts.>"),
        ("probes.context-builder", "probes.>"),
    ],
)
def test_a_subject_needs_the_permission_for_everything_of_its_kind(subject: str, granted: str) -> None:
    assert permission(subject) == granted


def test_only_violations_of_permissions_are_refusals() -> None:
    error = Exception('nats: permissions violation for subscription to "requests.*.*" using queue "context-builder"')
    assert "refuses the permission subscribe 'requests.>'; grant it" in refusal(error)
    assert refusal(Exception("nats: timeout")) == refusal(None) == ""
