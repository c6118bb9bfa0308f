"""Two processes of an agent, the service and the broker are killed while people write: each message is answered once."""

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import nats.errors
from nats.js import JetStreamContext
from nats.js.errors import Error as JetStreamError

from tests.commands import DEADLINE
from tests.running import Broker, Process, Running, dead_letters, environment, jetstream, say, until

TURNS, SESSIONS, KILLS = 60, 6, 6
LOOP = "extends: default\nbudget: 1500\ntriggers: [user.message.v1, tool.response.v1, tool.error.v1]\nchat_format: openai\n"
AGENT = Path(__file__).with_name("agent.py")


@dataclass
class Account:
    """What the stream says of the answers."""

    answers: Counter[str] = field(default_factory=Counter)
    """Message of a person → final answers to it."""
    read: set[str] = field(default_factory=set)
    """Triggers of the pages that were answered or led to calls, and the messages that these answer."""
    results: dict[str, str] = field(default_factory=dict)
    """Request id → id of its first result."""
    turns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Response with calls → their request ids."""
    doubled: list[str] = field(default_factory=list)
    """Request ids with more than one result."""
    seconds: list[float] = field(default_factory=list)
    """From each message to its answer."""


async def test_every_message_is_answered_once_whatever_is_killed(tmp_path: Path) -> None:
    chance = random.Random(20261124)  # noqa: S311 - no secret
    profiles = tmp_path / "templates" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "loop.yaml").write_text(LOOP, "utf-8")
    options: dict[str, Any] = {
        "templates_dir": tmp_path / "templates", "embedding__engine": "none", "worker__ack_wait_seconds": 2,
        "worker__max_attempts": 4 * KILLS,
    }  # fmt: skip
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "service", broker.url, **options) as service:
        env = environment(tmp_path, **options) | {"PYTHONPATH": str(AGENT.parents[2])}
        command = [str(AGENT), broker.url]
        with Process(command, env, tmp_path / "one.log") as one, Process(command, env, tmp_path / "two.log") as two:
            talk = asyncio.create_task(people(broker.url, chance))
            for number in range(KILLS):
                # Messages, not replies: where the machine is slow, one reply answers many messages.
                await until(partial(have_come, broker.url, (number + 1) * TURNS // (KILLS + 2)), "more messages")
                await restarted(chance.choice([one, two, service, broker]), chance)
            await talk
            await until(partial(has_answered, broker.url, TURNS), "all answers", 2 * DEADLINE)
            account = await account_of(broker.url)
            async with jetstream(broker.url) as js:
                letters = await dead_letters(js)
        logs = [each.read_text("utf-8") for each in (tmp_path / "one.log", tmp_path / "two.log", tmp_path / "service" / "log")]
    assert {name for name, number in account.answers.items() if number != 1} == set()
    assert len(account.answers) == TURNS
    assert account.doubled == []
    assert unread(account) == []
    assert letters == []
    assert [log for log in logs if "Traceback" in log] == []


async def restarted(process: Process, chance: random.Random) -> None:
    """End it, half of the times without a warning, and start it again."""
    if chance.random() < 0.5:
        process.kill()
    else:
        await asyncio.to_thread(process.stop)
    await asyncio.to_thread(process.start)


async def people(url: str, chance: random.Random) -> None:
    """Write in all sessions, whatever was answered."""
    for number in range(TURNS):
        session = f"s{chance.randrange(SESSIONS)}"
        await until(partial(is_sent, url, f"This is message {number} of mine.", session, f"u{number}"), "the message to be sent")
        await asyncio.sleep(chance.uniform(0, 0.3))  # people take their time; nothing waits for this


async def is_sent(url: str, text: str, session: str, identity: str) -> bool:
    """Whether the stream has it. An acknowledgement that a killed broker takes with it never comes: the message is sent again."""
    try:
        async with asyncio.timeout(DEADLINE / 10), jetstream(url) as js:
            await say(js, text, session, identity)
    except (JetStreamError, nats.errors.Error, OSError):
        return False
    return True


async def have_come(url: str, number: int) -> bool:
    """Whether people have written so many messages."""
    try:
        async with jetstream(url) as js:
            info = await js.stream_info("BREADCRUMBS", subjects_filter="breadcrumbs.acme.*.user.message.v1")
    except (JetStreamError, nats.errors.Error, OSError):
        return False
    return sum((info.state.subjects or {}).values()) >= number


async def has_answered(url: str, number: int) -> bool:
    """Whether so many messages have an answer."""
    try:
        return len((await account_of(url)).answers) >= number
    except (JetStreamError, nats.errors.Error, OSError):
        return False


async def account_of(url: str) -> Account:
    """Read the whole stream."""
    account, sent = Account(), dict[str, float]()
    async with jetstream(url) as js:
        for record, moment in await records(js):
            body = record["context"]
            match record["schema_name"]:
                case "user.message.v1":
                    sent[record["id"]] = moment
                case "agent.response.v1":
                    account.read |= {body["trigger_event_id"], *body["questions"]}
                    requests = tuple(call["requestId"] for call in body.get("tool_requests", ()))
                    account.turns |= {record["id"]: requests} if requests else {}
                    if not requests:
                        account.answers.update(body["questions"])
                        account.seconds += [moment - sent[name] for name in body["questions"]]
                case "tool.response.v1":
                    account.doubled += [body["request_id"]] if body["request_id"] in account.results else []
                    account.results.setdefault(body["request_id"], record["id"])
    return account


async def records(js: JetStreamContext) -> list[tuple[dict[str, Any], float]]:
    """Every breadcrumb with the time at which the stream took it."""
    last = (await js.stream_info("BREADCRUMBS")).state.last_seq
    messages = [await js.get_msg("BREADCRUMBS", number) for number in range(1, last + 1)]
    return [(json.loads(each.data or b"{}"), each.time.timestamp() if each.time else 0.0) for each in messages]


def unread(account: Account) -> list[str]:
    """The responses with calls none of whose results was the trigger of a page that was replied to."""
    return [
        response
        for response, requests in account.turns.items()
        if account.read.isdisjoint(account.results.get(request, "") for request in requests)
    ]
