"""Tools that answer in no session, while the service is killed: each turn gets one context, in the session of its call."""

import asyncio
import random
from functools import partial
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from tests.running import Broker, Running, all_settled, answered, dead_letters, jetstream, say, until

TURNS, SESSIONS, KILLS = 100, 25, 3
LOOP = "extends: default\nbudget: 600\ntriggers: [user.message.v1, tool.response.v1]\n"
Trigger = tuple[str, str]


async def test_a_hundred_turns_with_results_of_no_session_are_each_answered_once_in_the_session_that_called(
    tmp_path: Path,
) -> None:
    chance = random.Random(20261123)  # noqa: S311 - no secret
    profiles = tmp_path / "templates" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "loop.yaml").write_text(LOOP, "utf-8")
    options: dict[str, Any] = {
        "templates_dir": tmp_path / "templates", "embedding__engine": "none", "worker__ack_wait_seconds": 2,
        "worker__max_attempts": 4 * KILLS,
    }  # fmt: skip
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "service", broker.url, **options) as service:
        async with jetstream(broker.url) as js:
            publishing = asyncio.create_task(publish(js, chance))
            for _ in range(KILLS):
                await until(partial(has_done, service, chance.randrange(20, 120)), "some deliveries")
                service.kill()
                await asyncio.to_thread(service.start)
            expected = await publishing
            await all_settled(js)
            assert await dead_letters(js) == []
            contexts = await answered(js, consumer="loop")
    assert sorted((event["session_id"], event["trigger_event_id"]) for event in contexts) == sorted(expected)
    assert len(contexts) == 2 * TURNS
    for event in contexts:
        turn = event["trigger_event_id"].split("-")[0]
        assert f"question {turn} " in event["content"]
        if event["trigger_event_id"] != turn:
            results = [f"{turn}-r{number}" for number in range(9) if f"{turn}-r{number}: " in event["content"]]
            assert event["trigger_event_id"] in results


async def publish(js: JetStreamContext, chance: random.Random) -> list[Trigger]:
    """Turns of one to three calls, those of several sessions mixed; returns what each session must get contexts for."""
    expected: list[Trigger] = []
    waiting = [f"t{number}" for number in range(TURNS)]
    open_turns: dict[str, tuple[str, list[str]]] = {}
    while waiting or open_turns:
        free = [f"s{number}" for number in range(SESSIONS) if f"s{number}" not in open_turns]
        if waiting and free and (not open_turns or chance.random() < 0.3):
            turn, session = waiting.pop(), chance.choice(free)
            await say(js, f"Here is question {turn} of mine.", session, turn)
            expected.append((session, turn))
            results = [f"{turn}-r{number}" for number in range(chance.randint(1, 3))]
            calls = [{"requestId": f"call-{result}", "tool": "look", "input": {"for": result}} for result in results]
            body = {"message": "", "tool_requests": calls, "trigger_event_id": turn}
            await say(js, "", session, f"{turn}-calls", schema="agent.response.v1", body=body)
            chance.shuffle(results)
            open_turns[session] = (turn, results)
            continue
        session = chance.choice(list(open_turns))
        _, results = open_turns[session]
        result = results.pop()
        body = {"request_id": f"call-{result}", "tool": "look", "status": "success", "output": f"{result}: found"}
        where = "_" if chance.random() < 0.7 else session
        await say(js, "", where, result, schema="tool.response.v1", body=body)
        if not results:
            expected.append((session, result))
            del open_turns[session]
    return expected


async def has_done(service: Running, count: int) -> bool:
    """Whether the process that runs now has ended that many deliveries."""
    return len(service.outcomes()) >= count
