"""Errors of nats-py become ours, and only the server sets a status."""

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError, ServiceUnavailableError

from builder.adapters.nats.connection import STORE_FAILED_CODE, SUBJECT_IS_TAKEN, believe_only_the_server, optional, translated
from builder.domain.errors import AlreadyPublished, Unavailable


def refusal(description: str) -> ServiceUnavailableError:
    return ServiceUnavailableError(code=503, err_code=STORE_FAILED_CODE, description=description)


def test_a_second_message_on_a_subject_that_takes_one_is_already_published() -> None:
    with (
        pytest.raises(AlreadyPublished, match="publishing context c1: the stream holds one already"),
        translated("publishing context c1"),
    ):
        raise refusal(SUBJECT_IS_TAKEN)


def test_a_full_disk_has_the_same_code_and_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="the broker cannot serve it now"), translated("publishing"):
        raise refusal("insufficient storage resources available")


@pytest.mark.parametrize("error", [ConnectionClosedError(), NotFoundError(), OSError("gone"), TimeoutError()])
def test_every_other_error_of_the_broker_is_unavailable_and_keeps_its_cause(error: Exception) -> None:
    with pytest.raises(Unavailable, match=r"reading failed: .*is the broker up") as raised, translated("reading"):
        raise error
    assert raised.value.__cause__ is error


def test_a_bug_passes_through() -> None:
    with pytest.raises(ValueError, match="a bug"), translated("reading"):
        raise ValueError("a bug")


@pytest.mark.parametrize(("reply", "status"), [("", "404"), ("$JS.ACK.BREADCRUMBS.d.1.2.3.4.5", None)])
def test_a_status_counts_only_on_a_message_without_an_ack_subject(reply: str, status: str | None) -> None:
    believe_only_the_server()
    message = Msg(_client=Client(), subject="s", reply=reply, data=b"", headers={"Status": "404"})
    assert JetStreamContext.is_status_msg(message) == status


async def gives(value: str) -> str:
    return value


async def holds_nothing() -> str:
    raise NotFoundError


async def test_what_the_server_does_not_hold_is_none() -> None:
    assert await optional("reading", gives("message")) == "message"
    assert await optional("reading", holds_nothing()) is None
