"""What an export has of the stream."""

import json

from builder.domain.breadcrumb import Breadcrumb
from builder.extras.http.exporting import exported
from tests.conversations import message_of
from tests.ports import MemoryStream, make_log
from tests.stores import durable_store

SECRET = {"sensitivity": "secret"}


def everything(_crumb: Breadcrumb) -> bool:
    return True


async def test_an_export_has_each_readable_message_once_and_no_secret() -> None:
    hello = message_of(1, "user.message.v1", {"content": "Hello."}, id="m1")
    messages = (
        hello,
        message_of(2, "user.message.v1", {"content": "Hello."}, id="m1"),
        message_of(3, "user.message.v1", {"content": None}, id="m3"),
        message_of(4, "user.message.v1", {"content": "The code is 4711."}, id="m4", **SECRET),
        message_of(5, "user.message.v1", {"content": "There."}, session="s2", id="m5"),
    )
    log = make_log(MemoryStream(messages), durable_store())
    lines = [json.loads(line) async for line in exported(log, "acme", "", everything)]
    assert [(line["id"], line["session"]) for line in lines] == [("m1", "s42"), ("m5", "s2")]
    assert [json.loads(line)["id"] async for line in exported(log, "acme", "s2", everything)] == ["m5"]
    assert [line async for line in exported(log, "other", "", everything)] == []
    assert [json.loads(line)["id"] async for line in exported(log, "acme", "", lambda crumb: crumb.id != "m1")] == ["m5"]
