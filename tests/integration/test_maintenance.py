"""Commands that maintain a store or the streams, two at once, and beside what is forgotten meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import combinations_with_replacement
from pathlib import Path

from builder.adapters.nats.topology import Topology, ensure_streams
from builder.app.broker import locate_store
from builder.app.operations.backup import back_up, restore
from builder.app.operations.maintenance import migrate_store, purge_store, rebuild_store, switch_model
from builder.app.settings import StoreSettings
from builder.domain.errors import Misconfigured, Rejected
from tests.integration.inside import settings
from tests.running import Broker, jetstream, remembered, say


async def test_what_is_forgotten_while_another_store_is_filled_is_in_no_file_of_it(tmp_path: Path) -> None:
    """The message is deleted from the stream after its tombstone has come: here it is still there."""
    url = f"sqlite:{tmp_path / 'other.sqlite3'}"
    with Broker(tmp_path / "broker") as broker:
        local = settings(tmp_path / "service", broker.url)
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            await say(js, "My cat is called Zebulon.", "s1", "cat")
            await say(js, "", "s1", "t1", schema="breadcrumb.deleted.v1", body={"breadcrumb_id": "cat"})
            await switch_model(local, broker.url, url, lambda _sequence, _last: None)
        async with locate_store(local.model_copy(update={"store": StoreSettings(url=url)})).open() as store:
            (trace,) = await store.traces("acme", "cat")
            assert (trace.text, (await store.watermark("", "context-builder-tombstones")).sequence) == ("", 2)
        assert b"Zebulon" not in (tmp_path / "other.sqlite3").read_bytes()


async def test_two_commands_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each one beside itself and each other: the second is refused, or both are right."""
    with Broker(tmp_path / "broker") as broker:
        local = settings(tmp_path / "service", broker.url)
        store, target, nothing = f"sqlite:{tmp_path}/service/store.sqlite3", f"sqlite:{tmp_path}/target.sqlite3", lambda *_: None
        commands: dict[str, Callable[[], Awaitable[object]]] = {
            "reindex": lambda: rebuild_store(local, nothing),
            "switch": lambda: switch_model(local, broker.url, target, nothing),
            "migrate-store": lambda: migrate_store(store, target, nothing),
            "purge": lambda: purge_store(local, broker.url, datetime.now(UTC), dry_run=False),
            "restore": lambda: restore(local, broker.url, tmp_path / "backup", nothing),
            "backup": lambda: back_up(local, broker.url, tmp_path / "backup", nothing),
        }
        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology())
            for number in range(40):
                await say(js, f"Order {number} is about kilns.", f"s{number % 3}", f"m{number}")
        await rebuild_store(local, nothing)
        held = remembered(tmp_path / "service")
        for names in combinations_with_replacement(commands, 2):
            for part in (*tmp_path.glob("target*"), *tmp_path.glob("backup/*")):
                part.unlink()
            results = await asyncio.gather(*(commands[name]() for name in names), return_exceptions=True)
            refused = [each for each in results if isinstance(each, BaseException)]
            assert all(isinstance(each, Misconfigured | Rejected) for each in refused), (names, refused)
            assert len(refused) < 2 or "restore" in names, (names, refused)
            assert remembered(tmp_path / "service") == held, names
            assert not list((tmp_path / "service").glob("*reindex*"))
