"""Workers that share a store in PostgreSQL write the same at the same time, are frozen, and ask much of it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from builder.adapters.sql.connection import Cursor
from builder.adapters.sql.store import SqlStore
from builder.app.service import Service
from builder.app.settings import StoreSettings
from builder.client import connect
from builder.domain.breadcrumb import Place
from builder.domain.errors import Unavailable
from builder.domain.recall import RecallQuery, Scope
from builder.extras.postgres import connection
from builder.extras.postgres.location import PostgresLocation
from builder.ports.store import CallOrigin
from tests.commands import DEADLINE
from tests.factories import FAR, MODEL, make_answer, make_place, make_question, make_remembered
from tests.integration.inside import service_here, settings
from tests.postgres import emptied, new_database
from tests.running import Broker, until
from tests.stores import shared_store

T = TypeVar("T")


@pytest.fixture
async def stores() -> AsyncIterator[tuple[SqlStore, SqlStore]]:
    with closing(shared_store()) as one, closing(PostgresLocation(emptied()).open_store()) as two:
        yield one, two


async def test_a_workspace_may_have_the_name_of_the_schema(stores: tuple[SqlStore, SqlStore]) -> None:
    origins = [(CallOrigin("context_builder", f"r{n}", "s1", 1, n),) for n in range(1, 9)]
    await asyncio.gather(*(stores[n % 2].add_call_origins(each) for n, each in enumerate(origins)))
    assert len(await stores[0].call_origins(1)) == len(origins)


async def test_what_two_workers_write_at_once_is_there_once_and_nothing_fails(stores: tuple[SqlStore, SqlStore]) -> None:
    rows = [(make_question, make_answer)[n % 2](n, f"r{n // 2}") for n in range(2, 30)]
    new = await asyncio.gather(*(store.remember(row) for row in rows for store in stores))
    assert sum(new) == len(rows)
    more = [make_remembered("Bulk.", n, id=f"b{n}") for n in range(40, 90)]
    counts = await asyncio.gather(*(store.remember_all(tuple(more)) for store in stores))
    assert sorted(counts) == [0, len(more)]
    assert [store.refusal for store in stores] == ["", ""]


async def test_a_worker_that_is_frozen_in_a_transaction_gives_its_locks_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.LIMITS, "idle_in_transaction_session_timeout", "100ms")

    is_locked, is_over = threading.Event(), threading.Event()

    def freeze(sql: Cursor) -> None:
        sql.lock("acme")
        is_locked.set()
        assert is_over.wait(DEADLINE)
        list(sql.execute("SELECT 1"))

    with closing(shared_store()) as frozen, closing(shared_store()) as other:
        end = asyncio.create_task(frozen.connection.run(freeze))
        try:
            assert await asyncio.to_thread(is_locked.wait, DEADLINE)
            assert await other.remember(make_question(1)), "while the other one is still frozen"
        finally:
            is_over.set()
        with pytest.raises(Unavailable):
            await end


@pytest.mark.parametrize("scope", [Scope(workspace="acme", sessions=("s7",)), Scope(workspace="acme", sessions=(), user="u7")])
async def test_a_recall_walks_rows_of_its_sessions_and_not_of_the_workspace(
    monkeypatch: pytest.MonkeyPatch, scope: Scope
) -> None:
    """In a database of its own, for plans follow statistics; of 3,000 rows PostgreSQL walks all because that costs less."""
    walked: list[int] = []
    with closing(PostgresLocation(new_database("walked")).open_store()) as store:
        rows = []
        for n in range(1, 2_501):
            named = {"session": f"s{n}", "user_id": f"u{n}"}
            rows += [make_remembered("A kiln.", 3 * n, **named), make_question(3 * n + 1, f"r{n}", f"s{n}")]
            rows.append(make_answer(3 * n + 2, f"r{n}"))
        await store.remember_all(tuple(rows))
        run = store.connection.run
        await run(lambda sql: sql.execute("ANALYZE"))  # a busy database makes its statistics later

        async def counting(work: Callable[[Cursor], T], *arguments: Any) -> T:
            def both(sql: Cursor) -> T:
                before = fetched(sql)
                result = work(sql)
                walked.append(fetched(sql) - before)
                return result

            return await run(both, *arguments)

        monkeypatch.setattr(store.connection, "run", counting)
        query = RecallQuery(scope=scope, session="s7", after=make_place(0), until=FAR, limit=10**6, pinned=(), model=MODEL)
        assert len((await store.recall(query)).rows) == 3
    assert walked[0] < len(rows) / 2, "the joined answers of a person's workspace may be walked, its breadcrumbs not"


def fetched(sql: Cursor) -> int:
    """Rows that this connection has read from tables lately."""
    ((number,),) = sql.execute("SELECT sum(seq_tup_read + idx_tup_fetch)::bigint FROM pg_stat_xact_user_tables")
    return int(number)


async def test_what_one_worker_erases_in_the_shared_store_leaves_the_memory_of_the_other(tmp_path: Path, broker: Broker) -> None:
    shared = {"name": "sharing", "store": StoreSettings(url=new_database("sharing"))}
    one, other = (settings(tmp_path / name, broker.url).model_copy(update=shared) for name in ("one", "other"))
    async with (
        service_here(one) as first, service_here(other) as second, connect(broker.url, name="sharing") as client,
    ):  # fmt: skip
        await client.send_user_message("s1", "The kumquat is ripe.", message_id="m0")
        await client.send_user_message("s1", "The fig is not.", message_id="m1")
        (fig,) = await client.search("Which fig is ripe?", session="s1", limit=1)

        async def remembered(service: Service) -> str:
            recaller = service.core.builder.recaller
            view = await recaller.session_view("default", "s1", Place(2**61, 0))
            return " ".join(row.breadcrumb.text for row in view.history.rows)

        for service in (first, second):
            assert "kumquat" in await remembered(service)
        await client.forget("m0")

        async def is_gone() -> bool:
            return not any(["kumquat" in await remembered(service) for service in (first, second)])

        await until(is_gone, "both memories to be without it")
        assert "fig" in fig.text
        assert "kumquat" not in str([await client.search("What is ripe?", session="s1") for _ in range(6)])
