"""On the real broker: two workers, one of them killed, an import that somebody goes on with; each batch is summarised once."""

import json
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from builder.adapters.nats.topology import BREADCRUMBS, Topology, ensure_streams
from builder.app.settings import SummariesSettings
from builder.connection.names import MESSAGE_ID_HEADER, REPLAY_HEADER
from builder.domain.errors import Misconfigured
from builder.extra import extras
from builder.wire.records import make_record, outgoing
from tests.integration.inside import settings, worker_here
from tests.integration.profiles import with_profiles
from tests.running import Broker, Running, all_settled, answered, jetstream, say, until

PROFILE = """\
extends: default
budget: 1200
summaries: {by: extractive, max_pending: 8, keep: 5, batch: 4, cap: 120}
sections: {summary: {max_share: 0.1}, recent: {}, relevant: {}}
"""
SUBJECT = "breadcrumbs.acme.s1.summary.v1"


async def published(js: JetStreamContext) -> list[dict[str, object]]:
    """All summaries in the stream, in order."""
    held = (await js.stream_info(BREADCRUMBS)).state.last_seq
    found: list[dict[str, object]] = []
    for sequence in range(1, held + 1):
        message = await js.get_msg(BREADCRUMBS, seq=sequence)
        if message.subject == SUBJECT:
            assert (message.headers or {})[REPLAY_HEADER] == "1"
            found.append(json.loads(message.data or b""))
    return found


async def history(js: JetStreamContext, first: int, end: int) -> None:
    """Messages of a session, as an import brings them."""
    for number in range(first, end):
        body = {"content": f"Crate {number} holds {number * 7} cups of cobalt glaze for the shop in Delft."}
        event = outgoing(make_record("user.message.v1", f"m{number}", "s1", body), "acme")
        headers = {MESSAGE_ID_HEADER: event.message_id, REPLAY_HEADER: "1"}
        await js.publish(event.subject, event.data, stream=BREADCRUMBS, headers=headers)


def covers(summaries: list[dict[str, object]]) -> list[str]:
    """What they cover, one after the other."""
    return [id_ for record in summaries for id_ in record["context"]["covered"]]  # type: ignore[index]


async def test_two_workers_of_which_one_is_killed_summarise_each_batch_once(tmp_path: Path, broker: Broker) -> None:
    held = with_profiles(tmp_path, {"default": PROFILE})
    one, two = (Running(tmp_path / name, broker.url, worker__ack_wait_seconds=2, templates_dir=held) for name in ("one", "two"))
    async with jetstream(broker.url) as js:
        await ensure_streams(js, Topology())
        with one, two:
            await history(js, 0, 30)
            await all_settled(js)
            assert await published(js) == []
            await say(js, "Good morning.", "s1", "first")
            await until(lambda: published(js), "a first summary")
            one.kill()
            await history(js, 30, 100)
            await all_settled(js)
            await say(js, "How many cups does crate 3 hold?", "s1", "ask")
            wanted = [*(f"m{n}" for n in range(30)), "first", *(f"m{n}" for n in range(30, 91))]

            async def complete() -> bool:
                return covers(await published(js))[: len(wanted)] == wanted

            await until(complete, "all batches to be summarised")
            await all_settled(js)
            await say(js, "Thanks, that helps.", "s1", "again")
            await all_settled(js)
        summaries = await published(js)
        (*_, context) = await answered(js)
    assert len({record["id"] for record in summaries}) == len(summaries)
    assert len(covers(summaries)) == len(set(covers(summaries)))
    assert "## Earlier in this conversation\n" in context["content"]
    summary = next(section for section in context["sections"] if section["name"] == "summary")
    assert summary["ids"][0] in {record["id"] for record in summaries}


async def test_a_model_that_no_installed_extra_asks_for_summaries_ends_the_start(
    tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = {name: extra for name, extra in extras().items() if name != "summaries"}
    monkeypatch.setattr("builder.extra.extras", lambda: rest)
    model = SummariesSettings(url="http://127.0.0.1:9/v1", model="mini")
    with pytest.raises(Misconfigured, match="URL is set, and no installed extra makes summaries"):
        async with worker_here(settings(tmp_path, broker.url).model_copy(update={"summaries": model})):
            pass
