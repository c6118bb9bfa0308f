"""What is old is known and not answered: late triggers, replays, imports."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nats.js import JetStreamContext

from builder.adapters.nats.topology import BREADCRUMBS, Topology, ensure_streams
from builder.chat_files.reader import read_file
from builder.client import connect
from builder.connection.names import REPLAY_HEADER
from builder.extras.operations.export import import_file
from builder.wire.records import make_record, outgoing
from tests.commands import COMMAND, run
from tests.integration.inside import settings, worker_here
from tests.running import Broker, Process, Running, all_settled, answered, environment, jetstream, say, triggers, until

DAY = timedelta(hours=24)


async def messages(js: JetStreamContext) -> int:
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


async def test_a_message_whose_replay_header_says_no_is_a_live_one(service: Running) -> None:
    async with jetstream(service.url) as js:
        event = outgoing(make_record("user.message.v1", "live", "s1", {"content": "Hello."}), "header")
        await js.publish(event.subject, event.data, stream=BREADCRUMBS, headers={REPLAY_HEADER: "0"})
        await all_settled(js)
        assert triggers(await answered(js, "header")) == [("header", "s1", "live", "default")]


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


async def test_the_progress_of_an_import_ends_where_its_last_line_is_refused(tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": word * 500}) for word in ("kiln ", "vase " * 4)]
    steps: list[tuple[int, int]] = []
    with Broker(tmp_path / "broker") as broker:
        config = settings(tmp_path, broker.url, max_body_bytes=5_000)
        async with jetstream(broker.url) as js, connect(broker.url, "acme") as client:
            await ensure_streams(js, Topology())
            content = read_file(lines, "acme", "s1")
            done = await import_file(config, client, broker.url, content, print, lambda *step: steps.append(step))
    assert (done.published, len(done.refusals), steps[-1]) == (1, 1, (2, 2))


async def more_than(js: JetStreamContext, count: int) -> bool:
    return await messages(js) > count


def write(file: Path, count: int) -> Path:
    records = [make_record("user.message.v1", f"m{number}", "s1", {"content": f"Message {number}."}) for number in range(count)]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return file
