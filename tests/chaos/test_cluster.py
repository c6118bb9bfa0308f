"""Three nats-servers and two workers under load, while the leaders of streams are killed: nothing is lost, nothing is doubled."""

import asyncio
import json
import os
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import nats.errors
from nats.js import JetStreamContext
from nats.js.errors import Error as JetStreamError

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS, PROBES
from builder.extras.operations.purge_lock import PurgeLock
from builder.wire.subjects import DEFAULT
from tests.clusters import Cluster, cluster, has_leader
from tests.commands import DEADLINE, run
from tests.running import Running, answered, context_bytes, dead_letters, jetstream, say, triggers, until

TRIGGERS = int(os.environ.get("CLUSTER_TRIGGERS", "240"))
"""CLUSTER_TRIGGERS=5000 takes some minutes."""
SESSIONS, SENDERS = 12, 4
LOST_SECONDS = 5.0
"""A request that went to a server without a leader gets no answer: after these it is sent again."""
OPTIONS: dict[str, Any] = {"embedding__engine": "none", "nats__replicas": 3, "worker__ack_wait_seconds": 5}


async def test_a_cluster_whose_leaders_are_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster") as servers:
        async with jetstream(servers.url.split(","), LOST_SECONDS) as js:
            await until(lambda: has_leader(js), "a leader of the cluster")
            with Running(tmp_path / "one", servers.url, **OPTIONS), Running(tmp_path / "two", servers.url, **OPTIONS) as service:
                await asyncio.gather(people(js), *(trouble(js, servers, each) for each in (BREADCRUMBS, CONTEXTS)))
                await until(partial(has_answered, js), "all contexts", 2 * DEADLINE)
                assert triggers(await answered(js)) == sorted(
                    ("acme", f"s{number % SESSIONS}", f"m{number}", "default") for number in range(TRIGGERS)
                )
                assert await dead_letters(js) == []
                assert {f"m{number}" for number in range(TRIGGERS)} == set(await ids(js))
                assert Counter(await ids(js)).most_common(1)[0][1] == 1
                assert await PurgeLock(js, DEFAULT, OPTIONS["nats__replicas"]).claim()
                replicas = {info.config.name: info.config.num_replicas for info in await js.streams_info()}
                assert replicas == dict.fromkeys((BREADCRUMBS, CONTEXTS, DEADLETTERS, PROBES, "KV_context-builder-workers"), 3)
                print(f"\nlongest gap between two contexts: {await longest_gap(js):.1f} s")  # noqa: T201 - a figure for people
                assert run("backup", str(tmp_path / "backup"), env=service.env).returncode == 0
            before = await context_bytes(js)
            for name in (BREADCRUMBS, CONTEXTS, DEADLETTERS):
                await js.delete_stream(name)
            restored = run("restore", str(tmp_path / "backup"), env=service.env)
            assert restored.returncode == 0, restored.stderr
            assert {(await js.stream_info(name)).config.num_replicas for name in (BREADCRUMBS, CONTEXTS, DEADLETTERS)} == {3}
            assert await context_bytes(js) == before
            with Running(tmp_path / "new", servers.url, **OPTIONS):
                await say(js, "Where is the blue kiln?", "s1", "later")
                await until(partial(has_answered, js, TRIGGERS + 1), "an answer after the restore")


async def people(js: JetStreamContext) -> None:
    """Several senders, each of which sends a message again until the stream has it."""

    async def send(first: int) -> None:
        for number in range(first, TRIGGERS, SENDERS):
            text = f"Message {number} is about the blue kiln."
            await until(partial(is_sent, js, text, f"s{number % SESSIONS}", f"m{number}"), f"message {number} to be sent")
            await asyncio.sleep(0.02)  # people take their time; nothing waits for this

    await asyncio.gather(*map(send, range(SENDERS)))


async def is_sent(js: JetStreamContext, text: str, session: str, identity: str) -> bool:
    """Whether the stream has it. A message without an acknowledgement is sent again; the server knows its id."""
    try:
        async with asyncio.timeout(DEADLINE / 30):
            await say(js, text, session, identity)
    except (JetStreamError, nats.errors.Error, OSError):
        return False
    return True


async def trouble(js: JetStreamContext, servers: Cluster, stream: str) -> None:
    """Kill the leader of a stream while people write, and start it again when others have answered messages without it."""
    share = {BREADCRUMBS: 0.2, CONTEXTS: 0.6}[stream]
    await until(partial(has_answered, js, int(share * TRIGGERS)), f"the time to kill the leader of {stream}", 2 * DEADLINE)
    leader = await servers.leader(js, stream)
    leader.kill()
    await until(partial(has_answered, js, int((share + 0.2) * TRIGGERS)), "answers without it", 2 * DEADLINE)
    await asyncio.to_thread(leader.start)


async def has_answered(js: JetStreamContext, number: int = TRIGGERS) -> bool:
    """Whether there are so many contexts."""
    try:
        return (await js.stream_info(CONTEXTS)).state.messages >= number
    except (JetStreamError, nats.errors.Error, OSError):
        return False


async def ids(js: JetStreamContext) -> list[str]:
    """Of the messages of people in the stream."""
    last = (await js.stream_info(BREADCRUMBS)).state.last_seq
    messages = [await js.get_msg(BREADCRUMBS, number) for number in range(1, last + 1)]
    records = (json.loads(message.data or b"{}") for message in messages)
    return [record["id"] for record in records if record["schema_name"] == "user.message.v1"]


async def longest_gap(js: JetStreamContext) -> float:
    """Seconds between two contexts in the stream."""
    state = (await js.stream_info(CONTEXTS)).state
    times = [(await js.get_msg(CONTEXTS, number)).time for number in range(state.first_seq, state.last_seq + 1)]
    return max((later - earlier).total_seconds() for earlier, later in pairwise(filter(None, times)))
