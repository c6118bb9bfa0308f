"""What goes over the wire of a running service is what the AsyncAPI document says: subject, headers and payload."""

import json
import re
from pathlib import Path
from typing import Any

import nats
from jsonschema import Draft202012Validator
from nats.aio.msg import Msg

from builder.adapters.nats.topology import BREADCRUMBS
from builder.app.requests import all_requests
from builder.client import connect
from builder.extras.contracts.asyncapi import HEADERS, asyncapi_text
from builder.extras.operations.purge_lock import PurgeLock
from builder.wire.records import make_record, outgoing
from builder.wire.requests import OF_AGENT
from builder.wire.subjects import DEFAULT
from tests.commands import DEADLINE
from tests.running import ROOT, Broker, Running, all_settled, jetstream, until

DOCUMENT: dict[str, Any] = json.loads(asyncapi_text())
CHANNELS: dict[str, Any] = DOCUMENT["channels"]
REQUESTS: dict[str, dict[str, object]] = {
    "fetch": {"id": "m1"}, "history": {"session": "s1"}, "sessions": {},
    "identities": {"ids": ["m1"]}, "search": {"text": "The kiln?"}, "consumers": {},
    "context": {"trigger": "m1"}, "refresh": {"trigger": "m1"}, "explain": {"trigger": "m1"}, "strip": {"trigger": "m1"},
    "why": {"trigger": "m1", "id": "m1"}, "replay": {"trigger": "m1"},
    "compact": {"session": "s1"},
    "responses": {"agent": "default", "session": "s1", "trigger": "m1", "trigger_seq": 1},
    "difference": {"record": {"id": "m1", "schema_name": "user.message.v1", "session": "s1", "context": {}}, "sequence": 1},
    "durable": {"consumer": "default"}, "listeners": {"consumer": "default"},
    "fail": {"consumer": "default", "trigger": "m1", "session": "s1", "error": "No model."},
    "forget": {"id": "m1"},
}  # fmt: skip
REJECTED = b'{"id": ""}'
UNSEEN = {"compactions"}
"""Needs a page under pressure: `test_compaction.py`."""


def channel_of(subject: str) -> str:
    """The channel whose address has this form."""
    for name, channel in CHANNELS.items():
        address = re.escape(channel["address"] or "").replace(r"\{schema\}", ".+")
        if re.fullmatch(re.sub(r"\\{\w+\\}", r"[^.]+", address), subject):
            return name
    raise AssertionError(f"no channel has the subject {subject}")


def problems(name: str, message: Msg) -> list[str]:
    """Why a message is none of its channel; [] = one of its messages is like it."""
    payload = json.loads(message.data) if message.data else ""
    found = []
    for kind, described in CHANNELS[name]["messages"].items():
        validator = Draft202012Validator({"components": DOCUMENT["components"], **described["payload"]})
        wrong = [error.message[:200] for error in validator.iter_errors(payload)]
        unknown = sorted((message.headers or {}).keys() - described.get("headers", {}).get("properties", {}).keys())
        if not wrong + unknown:
            return []
        found.append(f"{name}, {kind}: {wrong + unknown}")
    return found


async def provoke(url: str, service: Running) -> None:
    """Make the service send everything."""
    async with connect(url, "acme") as client:
        context = await client.ask("s1", "Where does the kiln stand?", message_id="m1", user_id="ada")
        await client.send_response(context, "In the yard.", tool_requests=[{"tool": "map", "input": {}, "requestId": "r1"}])
        await client.send_tool_result("s1", "map", "r1", {"x": 1})
        await client.send("plan.v1", {"goal": "a glaze"}, session="s1")
        await client.publish(outgoing(make_record("note.v1", "n1", "_", {"content": "Two cones."}), "acme"), replay=True)
    service.get("/readyz")
    async with jetstream(url) as js:
        lock = PurgeLock(js, DEFAULT)
        assert await lock.claim()
        await js.publish("breadcrumbs.acme.s1.user.message.v1", REJECTED, stream=BREADCRUMBS)
        await all_settled(js)
    connection = await nats.connect(url)
    for verb, request in REQUESTS.items():
        own = ".default" if verb in OF_AGENT else ""
        await connection.request(f"requests.acme.{verb}{own}", json.dumps(request).encode(), timeout=DEADLINE)
    await connection.request("requests.acme.fetch", b'{"id": "nobody"}', timeout=DEADLINE)
    instance = json.loads((await connection.request("$SRV.PING")).data)["id"]
    for verb in ("PING", "INFO", "STATS"):
        for suffix in ("", ".context-builder", f".context-builder.{instance}"):
            await connection.request(f"$SRV.{verb}{suffix}")
    await connection.close()


async def test_every_message_of_a_running_service_is_in_the_document(tmp_path: Path) -> None:
    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    def channels() -> set[str]:
        return {name for name, _ in sorted_out(heard)}

    async def is_complete() -> bool:
        return channels() >= CHANNELS.keys() - UNSEEN

    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "service", broker.url, embedding__engine="none") as service:
        observer = await nats.connect(broker.url)
        await observer.subscribe(">", cb=hear)
        await observer.flush()
        await provoke(broker.url, service)
        await until(is_complete, "a message on each channel")
        await observer.close()
    checked = [(name, message) for name, message in sorted_out(heard) if name != "locks"]
    assert [fault for name, message in checked for fault in problems(name, message)] == []
    headers = {header for _, message in checked for header in message.headers or {}}
    assert headers | {"traceparent", "tracestate"} == HEADERS.keys()
    assert channels() == CHANNELS.keys() - UNSEEN


def is_request(message: Msg) -> bool:
    """Whether somebody waits for an answer of the service."""
    return bool(message.reply) and message.subject.startswith(("requests.", "$SRV."))


def sorted_out(heard: list[Msg]) -> list[tuple[str, Msg]]:
    """Channel → message, replies under their request; without JetStream's own."""
    replies = {message.reply: channel_of(message.subject) + ".reply" for message in heard if is_request(message)}
    others = [message for message in heard if not message.subject.startswith(("$JS.", "_INBOX.")) and message.data != REJECTED]
    own = others + [message for message in heard if message.subject in replies]
    return [(replies.get(message.subject) or channel_of(message.subject), message) for message in own]


def test_the_document_has_every_verb_and_the_protocol_page_every_header() -> None:
    page = (ROOT / "builder" / "docs" / "protocol.md").read_text("utf-8")
    assert {name for name in DOCUMENT["operations"] if f"requests.{{workspace}}.{name}" in page} == all_requests().keys()
    assert sorted(header for header in HEADERS if f"`{header}" not in page) == []
