"""What forgetting reads of the contexts: the server's own trace counts it, because nothing in the process can see all of it."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from builder.adapters.nats.topology import CONTEXTS
from builder.client import Client, PersonReceipt, SessionReceipt, connect
from tests.integration.inside import service_here, settings
from tests.running import Broker, all_settled, jetstream, say

DELIVERY = re.compile(r"->> \[H?MSG (contexts\.\S+) ")
GET = re.compile(r"<<- \[H?PUB \$JS\.API\.(?:DIRECT\.GET|STREAM\.MSG\.GET)\.CONTEXTS")


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[Broker]:
    """A broker that writes down every message that it sends and takes."""
    with Broker(tmp_path / "traced", configuration="trace: true\n") as running:
        yield running


def reads(trace: str) -> Counter[str]:
    """How often each context was delivered, by its subject; single gets, which name none, under ""."""
    return Counter(DELIVERY.findall(trace)) + Counter({"": len(GET.findall(trace))})


async def forget(client: Client, whom: str) -> PersonReceipt | SessionReceipt:
    return await (client.forget_session("s0") if whom == "a session" else client.forget_person("ada"))


@pytest.mark.parametrize(("messages", "sessions", "whom", "workers"), [(20, 3, "a person", 2), (30, 1, "a session", 1)])
async def test_each_context_is_read_twice_at_most_by_each_worker(
    tmp_path: Path, traced: Broker, messages: int, sessions: int, whom: str, workers: int
) -> None:
    async with AsyncExitStack() as stack:
        for number in range(workers):
            await stack.enter_async_context(service_here(settings(tmp_path / f"worker-{number}", traced.url)))
        client = await stack.enter_async_context(connect(traced.url, "g4"))
        js = await stack.enter_async_context(jetstream(traced.url))
        for number in range(messages):
            await say(js, f"My code is sorb-{number}.", f"s{number % sessions}", f"m{number}", "g4", user_id="ada")
        for number in range(20):
            await say(js, "Mine is not told.", f"t{number % 3}", f"b{number}", "g4", user_id="ben")
        await all_settled(js)
        contexts = (await js.stream_info(CONTEXTS, subjects_filter="contexts.g4.>")).state.subjects or {}
        assert len(contexts) == messages + 20
        before = len(traced.said())
        receipt = await forget(client, whom)
        assert len(receipt.receipts) == messages
        await all_settled(js)
        counts = reads(traced.said()[before:])
        assert counts.total() >= len(contexts)
        assert max(counts[subject] for subject in contexts) <= 2 * workers
        assert counts.total() <= 2 * workers * len(contexts)
