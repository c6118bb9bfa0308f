"""A tool that never answers: the agent that waits for it gets its context all the same, once, whatever crashes."""

import asyncio
import json
import re
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from builder.adapters.nats.topology import BREADCRUMBS
from builder.app.service import open_service
from builder.connection.names import DEFAULT
from tests.integration.inside import settings
from tests.integration.profiles import with_profiles
from tests.running import Broker, Running, all_settled, answered, jetstream, say, until

PATIENCE = 2.0
READY = [{"requestId": call, "tool": "bash", "input": {"command": call}} for call in ("make", "ls")]
BODY = {"message": "I look.", "tool_requests": READY}

DATE = re.compile(r"^\[\d+ \w+ \d{4}\]\n", re.MULTILINE)
PAGE_END = """
## Tool results
- Assistant: I look.
- Call bash: command: make
  Failed (timeout): no answer in 2 s
- Call bash: command: ls
  Result: Makefile

## Current User Message
"""


@pytest.fixture(scope="module")
def templates(folder: Path) -> Path:
    """An agent that waits for its tools."""
    return with_profiles(folder, {"coder": "extends: default\ntriggers: [user.message.v1, tool.response.v1]\n"})


def serving(data: Path, broker: Broker, templates: Path) -> Running:
    return Running(
        data, broker.url, templates_dir=templates, worker__tool_timeout_seconds=PATIENCE, worker__ack_wait_seconds=PATIENCE
    )


@pytest.fixture(scope="module")
def service(folder: Path, broker: Broker, templates: Path) -> Iterator[Running]:
    with serving(folder / "service", broker, templates) as running:
        yield running


async def call(js: JetStreamContext, workspace: str, *others: Awaitable[object]) -> None:
    """An agent makes two calls, of which one is answered. others: sent after these, all at once: in time on any machine."""
    await say(js, "Build it.", "s1", "ask", workspace)
    calling = say(js, "", "s1", "calling", workspace, schema="agent.response.v1", body=BODY)
    await asyncio.gather(calling, result(js, workspace, "ls", "Makefile"), *others)


async def result(js: JetStreamContext, workspace: str, request: str, output: str) -> None:
    body = {"request_id": request, "tool": "bash", "status": "success", "output": output}
    await say(js, "", "s1", f"of-{request}", workspace, schema="tool.response.v1", body=body)


async def contexts(js: JetStreamContext, workspace: str) -> list[dict[str, Any]]:
    """Those of the agent that waits."""
    return await answered(js, workspace, "coder")


async def waited(js: JetStreamContext) -> bool:
    """Whether no call waits for its time-out any more."""
    try:
        info = await js.consumer_info(BREADCRUMBS, DEFAULT.calls_durable)
    except NotFoundError:
        return False
    return not info.num_pending and not info.num_ack_pending


async def failures(js: JetStreamContext, workspace: str) -> list[str]:
    """Ids of the failures in the stream: there is at most one on each subject here."""
    subject = f"breadcrumbs.{workspace}.s1.tool.error.v1"
    held = (await js.stream_info(BREADCRUMBS, subjects_filter=subject)).state.subjects or {}
    assert held in ({}, {subject: 1})
    return [json.loads((await js.get_last_msg(BREADCRUMBS, each)).data or b"")["id"] for each in held]


async def test_a_turn_with_an_open_call_gets_one_context_when_its_time_is_over(service: Running, workspace: str) -> None:
    async with jetstream(service.url) as js:
        await call(js, workspace)
        await until(lambda: _many(js, workspace, 2), "the context of the turn")
        await result(js, workspace, "make", "done")
        await until(lambda: waited(js), "no call to wait")
        await all_settled(js)
        first, second = await contexts(js, workspace)
        (failure,) = await failures(js, workspace)
    assert (first["trigger_event_id"], second["trigger_event_id"]) == ("ask", failure)
    assert PAGE_END.strip() in DATE.sub("", second["content"])


async def test_calls_are_listened_to_before_the_first_message_is_taken(tmp_path: Path, templates: Path) -> None:
    config = settings(tmp_path).model_copy(update={"templates_dir": templates})
    async with open_service(config) as service:
        assert await service.js.consumer_info(BREADCRUMBS, DEFAULT.calls_durable)


async def test_a_service_that_was_killed_while_a_call_was_open_gives_up_on_it_afterwards(
    tmp_path: Path, templates: Path, workspace: str
) -> None:
    with Broker(tmp_path / "broker") as broker, serving(tmp_path / "service", broker, templates) as service:
        async with jetstream(broker.url) as js:
            await call(js, workspace)
            await until(lambda: _many(js, workspace, 1), "the first context")
            service.kill()
            service.start()
            await until(lambda: _many(js, workspace, 2), "the context of the turn")
            again = await say(js, "", "s2", "again", workspace, schema="agent.response.v1", body=BODY)
            await until(lambda: _delivered(js, again), "the durable to have had the call")
            await js.delete_consumer(BREADCRUMBS, DEFAULT.calls_durable)
            await until(lambda: _many(js, workspace, 3), "the context of a turn whose durable was lost")
            await until(lambda: waited(js), "no call to wait")
            await all_settled(js)
            assert len(await contexts(js, workspace)) == 3


async def _delivered(js: JetStreamContext, sequence: int) -> bool:
    delivered = (await js.consumer_info(BREADCRUMBS, DEFAULT.calls_durable)).delivered
    return delivered is not None and delivered.stream_seq >= sequence


async def _many(js: JetStreamContext, workspace: str, count: int) -> bool:
    return len(await contexts(js, workspace)) >= count
