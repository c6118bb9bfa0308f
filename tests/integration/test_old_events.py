"""What is old is known and not answered: late triggers, replays, imports."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nats.js import JetStreamContext

from builder.adapters.nats.topology import BREADCRUMBS, Topology, ensure_streams
from builder.client import connect
from builder.wire.records import make_record, outgoing
from builder.wire.subjects import REPLAY_HEADER
from tests.commands import COMMAND, run
from tests.integration.inside import settings, worker_here
from tests.running import (
    Broker,
    Process,
    Running,
    all_settled,
    answered,
    dead_letters,
    environment,
    jetstream,
    remembered,
    say,
    triggers,
    until,
)

DAY = timedelta(hours=24)


async def messages(js: JetStreamContext) -> int:
    """How many breadcrumbs the stream holds."""
    return (await js.stream_info(BREADCRUMBS)).state.messages


async def test_a_trigger_that_is_24_hours_old_is_remembered_and_counted_as_expired(tmp_path: Path) -> None:
    later = DAY
    with Broker(tmp_path / "broker") as broker:
        async with worker_here(settings(tmp_path, broker.url), now=lambda: datetime.now(UTC) + later) as bench:
            delivery = await bench.process(await say(bench.js, "The blue kiln is K-4711.", "s1", "m1"))
            assert delivery.settled == ["ack"]
            later = DAY - timedelta(minutes=15)
            await bench.process(await say(bench.js, "Which kiln is K-4711?", "s1", "m2"))
            assert [done.outcome for done in bench.outcomes] == ["expired", "published"]
            assert [done.contexts for done in bench.outcomes] == [0, 1]
            (event,) = await answered(bench.js)
    assert event["trigger_event_id"] == "m2"
    assert "The blue kiln is K-4711." in event["content"]


async def test_a_replayed_breadcrumb_never_triggers_and_is_known(service: Running) -> None:
    async with connect(service.url, "replay") as client, jetstream(service.url) as js:
        record = make_record("user.message.v1", "old", "s1", {"content": "The blue kiln is K-4711."})
        await client.publish(outgoing(record, "replay"), replay=True)
        await client.send_user_message("s1", "Which kiln is K-4711?", message_id="new")
        await all_settled(js)
        (event,) = await answered(js, "replay")
        assert event["trigger_event_id"] == "new"
        assert "The blue kiln is K-4711." in event["content"]


async def test_a_message_whose_replay_header_says_no_is_a_live_one(service: Running) -> None:
    async with jetstream(service.url) as js:
        event = outgoing(make_record("user.message.v1", "live", "s1", {"content": "Hello."}), "header")
        await js.publish(event.subject, event.data, stream=BREADCRUMBS, headers={REPLAY_HEADER: "0"})
        await all_settled(js)
        assert triggers(await answered(js, "header")) == [("header", "s1", "live", "default")]


async def test_a_file_that_is_imported_twice_is_published_once_and_answered_never(service: Running, tmp_path: Path) -> None:
    file = write(tmp_path / "events.jsonl", 20)
    async with jetstream(service.url) as js:
        before = await messages(js)
        arguments = ("import", str(file), "-w", "import", "-s", "s1", "--json")
        results = [json.loads(run(*arguments, env=service.env).stdout) for _ in range(2)]
        assert [(each["published"], each["skipped"], each["sessions"], each["refusals"]) for each in results] == [
            (20, 0, ["s1"], []),
            (0, 20, ["s1"], []),
        ]
        assert await messages(js) == before + 20
        await all_settled(js)
        assert await answered(js, "import") == []
        assert await dead_letters(js) == []
        assert [
            id_ for workspace, _, id_ in remembered(Path(service.env["CONTEXT_BUILDER_DATA_DIR"])) if workspace == "import"
        ] == [f"m{number}" for number in range(20)]


async def test_an_import_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    many = 3000
    file = write(tmp_path / "events.jsonl", many)
    with Broker(tmp_path / "broker") as broker:
        env = environment(tmp_path, nats__servers=broker.url)
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            importing = Process([COMMAND, "import", str(file)], env, tmp_path / "log")
            importing.launch()
            await until(lambda: more_than(js, 250), "the import to be on its way")
            importing.kill()
            killed_at = await messages(js)
            again = run("import", str(file), env=env)
            assert again.returncode == 0
            published, skipped = map(int, re.findall(r"(\d+) (?:published|had been)", again.stderr))
            assert published + skipped == many
            assert 200 <= skipped <= killed_at
            assert await messages(js) == many


async def more_than(js: JetStreamContext, count: int) -> bool:
    """Whether the stream holds more breadcrumbs than that."""
    return await messages(js) > count


def write(file: Path, count: int) -> Path:
    """User messages as JSON lines."""
    records = [make_record("user.message.v1", f"m{number}", "s1", {"content": f"Message {number}."}) for number in range(count)]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return file
