"""An agent whose handler blocks its loop stays alive for the broker."""

import asyncio
import contextlib
from inspect import signature
from pathlib import Path
from threading import Thread

from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import ConsumerConfig

from builder.adapters.nats.topology import CONTEXTS
from builder.client import Client, ReceivedContext, connect
from tests.commands import DEADLINE
from tests.running import Running, jetstream, until

ACK_WAIT = 2.0


async def test_a_handler_that_blocks_its_loop_is_not_delivered_again(tmp_path: Path) -> None:
    """The same broker delivers to another durable of the same patience three times meanwhile."""
    repetitions: list[int | None] = []

    async def watch() -> None:
        async with jetstream(service.url) as js:
            impatient = ConsumerConfig(ack_wait=ACK_WAIT)
            other = await js.pull_subscribe("contexts.acme.>", "other", stream=CONTEXTS, config=impatient)
            delivered = 0
            while delivered < 3:
                with contextlib.suppress(NatsTimeout):
                    delivered = (await other.fetch(1, timeout=DEADLINE))[0].metadata.num_delivered
            repetitions.append((await js.consumer_info(CONTEXTS, "acme=default")).num_redelivered)

    async def block(_: ReceivedContext) -> str:
        thread = Thread(target=lambda: asyncio.run(watch()))
        thread.start()
        thread.join()  # of the loop that serves
        return "I am back."

    with Running(tmp_path, embedding__engine="none") as service:
        async with connect(service.url, "acme") as client:
            serving = asyncio.create_task(client.serve("default", block, ack_wait=ACK_WAIT))
            await client.send_user_message("s1", "Think hard.")

            async def is_answered() -> bool:
                return [each.text async for each in client.history("s1")] == ["Think hard.", "I am back."]

            await until(is_answered, "the answer of the handler")
            serving.cancel()
            await asyncio.wait({serving})
    assert repetitions == [0]
    assert signature(Client.serve).parameters["ack_wait"].default <= 15, "a kill is noticed in that time"
