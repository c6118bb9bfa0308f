"""Commands that maintain a store or the streams, two at once, and beside what is forgotten meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import combinations_with_replacement, count
from pathlib import Path
from threading import Thread

import pytest
from nats.js.errors import NoStreamResponseError

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DURABLE, Topology, ensure_durable, ensure_streams
from builder.app.broker import locate_store
from builder.app.service import open_service
from builder.app.settings import StoreSettings
from builder.cli.doctor import examine
from builder.domain.breadcrumb import TOMBSTONE, Place
from builder.domain.errors import Misconfigured, Rejected
from builder.extras.operations.backup import back_up
from builder.extras.operations.maintenance import migrate_store, purge_store, rebuild_store, switch_model
from builder.extras.operations.restore import restore
from tests.integration.inside import settings
from tests.integration.test_backup import content_of
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
            "purge": lambda: purge_store(local, broker.url, dry_run=False),
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


@pytest.mark.parametrize("is_killed", [False, True], ids=["beside it", "between two runs"])
@pytest.mark.parametrize("lost", ["a message", "the oldest message of an age limit", "a context"])
async def test_what_is_erased_before_a_backup_ends_is_not_in_it(tmp_path: Path, lost: str, is_killed: bool) -> None:
    is_oldest, folder, erased = "oldest" in lost, tmp_path / "backup", list[str]()
    stream, subject = (CONTEXTS, "contexts.acme.default.s1") if lost == "a context" else (BREADCRUMBS, "breadcrumbs.acme.s1")
    with Broker(tmp_path / "one") as broker, Broker(tmp_path / "two") as empty:

        async def erase() -> None:
            async with jetstream(broker.url) as js:
                await js.delete_msg(stream, 1 if is_oldest else 2)
                if is_oldest:  # nothing but its tombstone tells that it did not end by its age
                    await say(js, "", "s1", "t", schema=TOMBSTONE, body={"breadcrumb_id": "m"})

        def interfere(_done: int, _all: int) -> None:
            if not erased and (folder / f"{stream}.tar.s2").exists():
                erased.append(lost)
                thread = Thread(target=lambda: asyncio.run(erase()))
                thread.start()
                thread.join()
                if is_killed:
                    raise KeyboardInterrupt

        async with jetstream(broker.url) as js:
            await ensure_streams(js, Topology(breadcrumbs_max_age=timedelta(hours=9 if is_oldest else 0)))
            for number in range(4):
                await js.publish(f"{subject}.kumquat-{number}.v1", b"{}", stream=stream)
        local = settings(tmp_path / "service", broker.url)
        if is_killed:
            with pytest.raises(KeyboardInterrupt):
                await back_up(local, broker.url, folder, interfere)
        await back_up(local, broker.url, folder, interfere)
        assert erased
        await restore(local, empty.url, folder, lambda *_: None)
        async with jetstream(empty.url) as js:
            subjects = [str(subject) for _, subject, *_ in (await content_of(js, stream)).values()]
        numbers = [name.split("-")[1] for name in subjects if "kumquat" in name]
        assert numbers == (["1.v1", "2.v1", "3.v1"] if is_oldest else ["0.v1", "2.v1", "3.v1"])


@pytest.mark.parametrize("moment", ["1", "2", "3", "restore_durables", "_Run._open"])
async def test_a_restore_that_is_killed_serves_nothing_takes_nothing_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """In the middle of each stream, before the durables, and before the streams are open."""
    folder, parts = tmp_path / "backup", count(1)

    def die(*_: object) -> None:
        if not moment.isdigit() or next(parts) == int(moment):
            raise KeyboardInterrupt

    with Broker(tmp_path / "one") as broker, Broker(tmp_path / "two") as empty:
        local = settings(tmp_path / "service", empty.url)
        async with jetstream(broker.url) as js:
            await ensure_durable(js, Topology(), Place(0, 0), await ensure_streams(js, Topology()))
            for number in range(3):
                await say(js, f"Order {number} is about kilns.", "s1", f"m{number}")
        await back_up(local, broker.url, folder, lambda *_: None)
        with monkeypatch.context() as patch:
            if not moment.isdigit():
                patch.setattr(f"builder.extras.operations.restore.{moment}", die)
            with pytest.raises(KeyboardInterrupt):
                await restore(local, empty.url, folder, die if moment.isdigit() else lambda *_: None)
        async with jetstream(empty.url) as js:
            with pytest.raises(Misconfigured, match="is not whole: a restore makes it"):
                await open_service(local).__aenter__()
            said = {finding["part"]: finding for finding in await examine(local, "")}["broker"]
            assert (said["ok"], "run `context-builder restore FOLDER` again" in said["said"]) == (False, True)
            with pytest.raises(NoStreamResponseError):
                await js.publish("breadcrumbs.acme.s1.note.v1", b"{}")
            await restore(local, empty.url, folder, lambda *_: None)
            assert (await js.consumer_info(BREADCRUMBS, DURABLE)).num_pending == 3
            assert (await restore(local, empty.url, folder, lambda *_: None))["restored"] == []
            assert (await js.publish("breadcrumbs.acme.s1.note.v1", b"{}")).seq == 4
            assert (await restore(local, empty.url, folder, lambda *_: None))["restored"] == [], "it has gone on since"
            assert (await js.stream_info(BREADCRUMBS)).state.messages == 4
            await js.delete_stream(CONTEXTS)
            with pytest.raises(Rejected, match="BREADCRUMBS of this broker has 4 messages of its own"):
                await restore(local, empty.url, folder, lambda *_: None)
