"""What has expired goes from stream and store, and nothing else does."""

import json
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from builder.adapters.nats.topology import BREADCRUMBS
from builder.domain.errors import Misconfigured
from builder.extra import extras
from builder.extras.operations.purge_schedule import PurgeSchedule
from tests.commands import run
from tests.integration.inside import service_here, settings, worker_here
from tests.running import Broker, Running, all_settled, context_bytes, jetstream, remembered, until


async def tell(js: JetStreamContext, identity: str, schema: str = "note.v1", version: int = 1, **record: object) -> None:
    record |= {"id": identity, "version": version, "context": {"content": f"What {identity} says, version {version}."}}
    await js.publish(f"breadcrumbs.acme.s1.{schema}", json.dumps(record).encode(), stream=BREADCRUMBS)


async def test_expired_breadcrumbs_go_with_their_earlier_versions_once_and_a_dry_run_only_tells(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "data", broker.url) as service:
        async with jetstream(broker.url) as js:
            await tell(js, "for-ever")
            await tell(js, "later", ttl=3600)
            await tell(js, "at-once", expires_at="2024-01-01T00:00:00Z")
            await tell(js, "edited")
            await tell(js, "edited", version=2, ttl=0)
            await tell(js, "renewed", ttl=0)
            await tell(js, "renewed", version=2)
            await tell(js, "old-thought", "agent.thinking.v1", created_at="2024-01-01T00:00:00Z")
            await all_settled(js)
            before = remembered(tmp_path / "data")
            would = json.loads(run("purge", "--dry-run", "--json", env=service.env).stdout)
            assert {row["schema"]: (row["breadcrumbs"], row["messages"]) for row in would} == {
                "agent.thinking.v1": (1, 0), "note.v1": (4, 0),
            }  # fmt: skip
            assert remembered(tmp_path / "data") == before
            done = json.loads(run("purge", "--json", env=service.env).stdout)
            assert [(row["breadcrumbs"], row["bytes"], row["messages"]) for row in done] == [
                (row["breadcrumbs"], row["bytes"], row["breadcrumbs"]) for row in would
            ]
            assert all(row["bytes"] > 300 for row in done)  # a vector is 768 bytes, a note about a hundred
            assert json.loads(run("purge", "--json", env=service.env).stdout) == []
            assert (await js.stream_info(BREADCRUMBS)).state.messages == 3
            told = json.loads(run("history", "s1", "-w", "acme", "--json", env=service.env).stdout)
            assert [(crumb["id"], crumb["version"]) for crumb in told] == [("for-ever", 1), ("later", 1), ("renewed", 2)]


async def test_the_service_purges_on_its_schedule_and_goes_on_answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PurgeSchedule, "every", 0.02)
    with Broker(tmp_path / "broker") as broker:
        config = settings(tmp_path / "data", broker.url, purge_hours=0.0003)
        async with service_here(config) as service, jetstream(broker.url) as js:
            await tell(js, "at-once", "user.message.v1", ttl=0)
            await tell(js, "for-ever", "user.message.v1")

            async def is_purged() -> bool:
                return (await js.stream_info(BREADCRUMBS)).state.messages == 1 and await service.core.store.count() == 1

            await until(is_purged, "the purge")
            await tell(js, "next", "user.message.v1")
            await all_settled(js)
            page = json.loads((await context_bytes(js))[-1])["content"]
            assert "What for-ever says" in page
            assert "What at-once says" not in page


async def test_a_schedule_that_no_installed_extra_keeps_ends_the_start(
    tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = {name: extra for name, extra in extras().items() if name != "operations"}
    monkeypatch.setattr("builder.extra.extras", lambda: rest)
    with pytest.raises(Misconfigured, match=r"PURGE_HOURS is 24, and no installed extra purges; install .* or set it to 0"):
        async with worker_here(settings(tmp_path / "data", broker.url)):
            pass
    async with worker_here(settings(tmp_path / "data", broker.url, purge_hours=0)):
        pass
