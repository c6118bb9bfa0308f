"""Contexts are written to RCRT once for each trigger, and never over a later one, whoever else writes."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from builder.app.context_event import AgentContextV1
from builder.connection.names import DEFAULT
from builder.domain.errors import Rejected, Unavailable
from builder.extras.rcrt.ledger import Entry, Ledger
from builder.extras.rcrt.rest import RcrtApi
from builder.extras.rcrt.writer import ContextWriter
from tests.rcrt import CHAT, OTHER_OWNER, OWNER, RcrtServer
from tests.rcrt_server import BUILDER
from tests.running import Broker, jetstream

SCHEMA: Any = AgentContextV1.model_config["json_schema_extra"]
(EXAMPLE,) = SCHEMA["examples"]


def event(trigger: str, session: str = "s1", workspace: str = OWNER, **fields: Any) -> bytes:
    """A context of ours for this trigger."""
    names = {"id": f"context-{trigger}", "workspace": workspace, "consumer_id": CHAT, "session_id": session}
    return json.dumps(EXAMPLE | names | {"trigger_event_id": trigger} | fields, ensure_ascii=False).encode()


@pytest.fixture
async def writer(server: RcrtServer, broker: Broker) -> AsyncIterator[ContextWriter]:
    """A writer, and the triggers t1 to t9, each created a minute after the one before."""
    async with jetstream(broker.url) as js, RcrtApi(server.url, OWNER, BUILDER) as api:
        ledger = Ledger(js, DEFAULT, 1)
        await ledger.ensure()
        for number in range(1, 10):
            moment = f"2026-11-24T10:0{number}:00Z"
            await ledger.note(f"t{number}", Entry(version=1, workspace=OWNER, session="s1", created_at=moment))
        yield ContextWriter(api, ledger)


@pytest.fixture
def server(tmp_path: Path, broker: Broker) -> Any:
    with RcrtServer(tmp_path / "rcrt", broker) as running:
        yield running


def triggers(server: RcrtServer) -> list[str]:
    return [write["context"]["trigger_event_id"] for write in server.counts()["writes"]]


async def test_a_context_is_created_then_replaced_and_an_older_one_is_late(writer: ContextWriter, server: RcrtServer) -> None:
    assert await writer.write(event("t1"), again=False) == "created"
    assert await writer.write(event("t3"), again=False) == "replaced"
    assert await writer.write(event("t2"), again=False) == "late"
    assert await writer.write(event("t3"), again=True) == "stored"
    assert triggers(server) == ["t1", "t3"]
    (record,) = server.contexts()
    assert record["context"]["formatted_context"].startswith("=== CURRENT USER MESSAGE ===")


async def test_what_rcrts_own_builder_answered_is_not_answered_again(writer: ContextWriter, server: RcrtServer) -> None:
    theirs = {"consumer_id": CHAT, "trigger_event_id": "t4", "assembled_at": "2026-11-24T10:04:30Z", "formatted_context": "…"}
    server.create("agent.context.v1", theirs, "agent:context", f"consumer:{CHAT}", "session:s1")
    assert await writer.write(event("t4"), again=False) == "stored"
    assert await writer.write(event("t3"), again=False) == "late"
    assert await writer.write(event("t5"), again=False) == "replaced"
    assert triggers(server) == ["t4", "t5"]


async def test_conflicts_lost_answers_and_used_up_keys_double_nothing(writer: ContextWriter, server: RcrtServer) -> None:
    server.fail(deaf_creations=1)  # the record is there, the answer is lost
    assert await writer.write(event("t1"), again=False) == "stored"
    server.fail(conflicts=2)
    assert await writer.write(event("t2"), again=False) == "replaced"
    server.fail(lost_creations=1)  # the key is used up, and no record is there
    assert await writer.write(event("t3", "s2"), again=False) == "created"
    assert triggers(server) == ["t1", "t2", "t3"]


async def test_an_outage_delays_a_context_and_loses_none(writer: ContextWriter, server: RcrtServer) -> None:
    server.kill()
    write = asyncio.create_task(writer.write(event("t1"), again=False))
    await asyncio.sleep(0)
    await asyncio.to_thread(server.start)
    server.fail(broken=3)
    assert await write in {"created", "stored"}
    server.fail(broken=1_000)
    with pytest.raises(Unavailable, match="does not take context context-t2; look at its server's log"):
        await writer.write(event("t2"), again=False)
    server.fail(broken=0)
    assert await writer.write(event("t2"), again=True) == "replaced"


async def test_another_owners_session_of_the_same_name_is_another_record(writer: ContextWriter, server: RcrtServer) -> None:
    theirs = {"consumer_id": CHAT, "trigger_event_id": "x", "assembled_at": "2026-11-24T09:00:00Z"}
    server.create("agent.context.v1", theirs, "agent:context", f"consumer:{CHAT}", "session:s1", owner=OTHER_OWNER)
    assert await writer.write(event("t1"), again=False) == "created"
    assert await writer.write(event("t2", workspace=OTHER_OWNER), again=False) == "replaced"
    assert len(server.contexts()) == 2


async def test_the_first_200_bytes_are_ascii_whatever_people_write(writer: ContextWriter, server: RcrtServer) -> None:
    for number, text in enumerate(("„¼ · 窯 🔥" * 60, "ä" * 400), 1):
        page = f"## Current User Message\n- User: {text}\n"
        await writer.write(event(f"t{number}", content=page, token_count=7), again=False)
    assert server.counts()["panics"] == 0
    with pytest.raises(Rejected, match="a character of several bytes in its first 200"):
        await writer.write(event("t3", assembly={"profile": "ü"}), again=False)
