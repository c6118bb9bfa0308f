"""PostgreSQL is killed, full or slow under load: workers that share it lose nothing and answer nothing twice."""

import asyncio
import os
import signal
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest
from psycopg_pool.base import AttemptWithBackoff

from builder.domain.errors import Unavailable
from builder.extras.postgres import connection
from tests.commands import DEADLINE
from tests.factories import make_remembered
from tests.postgres import ROLE, kill, new_database, restart, superuser
from tests.running import Broker, Running, all_settled, answered, dead_letters, jetstream, say, triggers, until
from tests.stores import shared_store

SESSIONS, MESSAGES = 8, 12


async def test_a_database_that_is_killed_under_load_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    url = new_database("failover")
    with ExitStack() as stack:
        broker = stack.enter_context(Broker(tmp_path / "broker"))
        for worker in range(2):
            stack.enter_context(Running(tmp_path / f"worker{worker}", broker.url, store__url=url, embedding__engine="none"))
        async with jetstream(broker.url) as js:
            spoken = set()
            for number in range(MESSAGES):
                for session in range(SESSIONS):
                    identity = f"m{session}-{number}"
                    await say(js, f"Kiln {number} of room {session} is cold.", f"s{session}", identity)
                    spoken.add(("acme", f"s{session}", identity, "default"))
                if number == MESSAGES // 3:
                    await until(lambda: answered(js), "the first answers")
                    kill()
            restart()
            await all_settled(js)
            events = await answered(js)
            assert set(triggers(events)) == spoken
            assert len(events) == len(spoken), "one context for each trigger"
            assert await dead_letters(js) == []
    with psycopg.connect(superuser("failover")) as connection:
        (stored,) = connection.execute("SELECT count(*) FROM context_builder.breadcrumbs").fetchone() or (0,)
    assert stored == len(spoken)


async def test_a_store_whose_role_may_have_no_more_connections_goes_on_with_those_it_has() -> None:
    with closing(shared_store()) as store, psycopg.connect(superuser(), autocommit=True) as connection:
        try:
            connection.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT 1")
            rows = [make_remembered(f"Kiln {n}.", n, id=f"m{n}") for n in range(1, 30)]
            assert all(await asyncio.gather(*(store.remember(row) for row in rows)))
        finally:
            connection.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT -1")


async def test_a_lost_connection_is_an_unavailable_store_and_the_next_one_works() -> None:
    with closing(shared_store()) as store:
        await store.remember(make_remembered())
        kill()
        lost = store.remember(make_remembered("Lost.", 2, id="m2"))
        error, check = await asyncio.gather(lost, store.check(), return_exceptions=True)
        assert isinstance(error, Unavailable)
        assert "the store postgresql:" in str(check)
        assert "failed" in store.refusal
        restart()
        assert await store.remember(make_remembered("Back.", 3, id="m3"))
        assert await store.check() == ""
        assert store.refusal == ""


async def test_after_a_long_outage_a_store_is_back_as_soon_as_after_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "WAIT_SECONDS", 0.5)
    monkeypatch.setattr(AttemptWithBackoff, "INITIAL_DELAY", 300.0)  # as the pauses of a pool are after five minutes
    with closing(shared_store()) as store:
        kill()
        for number in range(2):
            with pytest.raises(Unavailable):
                await store.remember(make_remembered("Lost.", number + 1))
        restart()
        async with asyncio.timeout(DEADLINE):
            while await store.check():
                await asyncio.sleep(0.05)


async def test_a_store_whose_server_hangs_is_closed_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "WAIT_SECONDS", 0.5)
    store = shared_store()
    ((pid,),) = await store.connection.rows("SELECT pg_backend_pid()")
    os.kill(pid, signal.SIGSTOP)
    try:
        waiting = asyncio.create_task(store.remember(make_remembered()))
        await asyncio.sleep(0.05)
        async with asyncio.timeout(DEADLINE):
            await asyncio.to_thread(store.close)
        with pytest.raises(Unavailable):
            await waiting
    finally:
        os.kill(pid, signal.SIGCONT)
