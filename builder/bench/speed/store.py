"""`bench store`: what a recall costs while the store grows, and how much the store takes."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from builder.app.components import Components
from builder.bench.data.synthetic import WORKSPACE, breadcrumb, message, mixer, texts
from builder.bench.speed.quantiles import at, milliseconds
from builder.domain.breadcrumb import ORIGIN, Place
from builder.domain.recall import RecallQuery, Scope
from builder.domain.stored import StoredBreadcrumb

SESSION_MESSAGES = 1_000
"""Messages of a session."""
SESSIONS = 10
"""Sessions whose messages arrive in turn."""
BATCH_MESSAGES, SINGLE_WRITES, CONCURRENT_WRITES = 500, 2_000, 16
"""Messages of a bulk transaction; messages stored one by one, so many at once."""


async def run(core: Components, sizes: tuple[int, ...], rounds: int, step: Callable[[], None]) -> dict[str, Any]:
    """The report. sizes: rising numbers of stored messages, multiples of SESSION_MESSAGES * SESSIONS. `step` each message."""
    mix = await mixer(core)
    choosing, figures, stored = random.Random(7), dict[str, dict[str, Any]](), 0

    def rows(first: int, number: int, session: str = "") -> list[StoredBreadcrumb]:
        breadcrumbs = []
        for count, text in enumerate(texts(number, first), first):
            name = session or f"store-{count // (SESSION_MESSAGES * SESSIONS)}-{count % SESSIONS}"
            crumb = replace(message(name, count, text), id=f"m{count}")
            breadcrumbs.append(mix(crumb))
            step()
        return breadcrumbs

    for size in sizes:
        seconds = 0.0
        for first in range(stored, size, BATCH_MESSAGES):
            batch = tuple(rows(first, min(BATCH_MESSAGES, size - first)))
            start = perf_counter()
            await core.store.remember_all(batch)
            seconds += perf_counter() - start
        added, stored = size - stored, size
        await core.store.check()
        sessions = [
            f"store-{choosing.randrange(size // (SESSION_MESSAGES * SESSIONS))}-{choosing.randrange(SESSIONS)}"
            for _ in range(rounds)
        ]
        recalls = [await _recall(core, session, size) for session in sessions]
        builds = [await _build(core, session, size, number) for number, session in enumerate(dict.fromkeys(sessions))]
        figures[str(size)] = {
            "bulk_per_second": round(added / seconds),
            "bytes_per_message": round(core.store.size_bytes() / size),
            "recall_p50_ms": milliseconds(at(sorted(recalls), 0.5)),
            "recall_p90_ms": milliseconds(at(sorted(recalls), 0.9)),
            "cold_context_p50_ms": milliseconds(at(sorted(builds), 0.5)),
        }
    singles = rows(stored, SINGLE_WRITES, "single")
    start = perf_counter()
    for first in range(0, SINGLE_WRITES, CONCURRENT_WRITES):
        await asyncio.gather(*(core.store.remember(row) for row in singles[first : first + CONCURRENT_WRITES]))
    return {"sizes": figures, "remember_per_second": round(SINGLE_WRITES / (perf_counter() - start)), "rounds": rounds}


async def _recall(core: Components, session: str, stored: int) -> float:
    scope = Scope(workspace=WORKSPACE, sessions=(session,))
    query = RecallQuery(
        scope=scope,
        session=session,
        after=ORIGIN,
        until=Place(1, stored + 1),
        limit=SESSION_MESSAGES,
        pinned=(),
        model=core.embedder.model,
    )
    start = perf_counter()
    recall = await core.store.recall(query)
    seconds = perf_counter() - start
    if len(recall.rows) != SESSION_MESSAGES:
        raise AssertionError(f"{session} has {len(recall.rows)} rows")
    return seconds


async def _build(core: Components, session: str, stored: int, number: int) -> float:
    text = f"What did we decide about order {number * 11} and where does the key go?"
    trigger = breadcrumb(session, f"asked-{stored}-{number}", text, Place(1, stored + number + 1), "user.message.v1")
    start = perf_counter()
    await core.builder.build(trigger, (core.profile("default"),))
    return perf_counter() - start
