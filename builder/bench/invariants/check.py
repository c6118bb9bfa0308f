"""`bench invariants`: a page shows the conversation: all of it when it fits, else the newest, each result with its call.

Random sessions under random profiles. `account.faults` reads each published page and calls nothing of `recall` or `assemble`.
"""

import asyncio
import gc
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, lru_cache
from multiprocessing import get_context
from random import Random
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np

from builder.bench.invariants.account import faults
from builder.bench.invariants.conversation import is_under_pressure
from builder.bench.invariants.estimates import ample
from builder.bench.invariants.events import DELETED, Events
from builder.bench.invariants.random_profiles import draw_profile
from builder.bench.invariants.random_sessions import SESSION, START, RandomSession, Record
from builder.bench.invariants.reader import FAULTS, Reading
from builder.bench.invariants.records import RESULTS
from builder.bench.scratch import encoder, open_scratch
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.publish.event import encode
from builder.recall.summaries.recipes import recipe_of
from builder.remember.decode import decode
from builder.service import ContextBuilder
from builder.wire.records import outgoing

WORKSPACE, RIVAL = "acme", "rival"
SESSIONS_OF_JOB = 10
"""Sessions that a process makes before it reports."""
MIN_RECORDS, MAX_RECORDS = 3, 60
"""Records of a history that is not long."""
MIN_LONG_RECORDS, MAX_LONG_RECORDS = 301, 420
LONG_SHARE = 0.1
TOOLS_SHARE = 0.85
"""Share of triggers that are tools' answers; some of them give no page."""
USER = "user.message.v1"
PROCESSES = 2
CACHED_TEXTS = 50_000
"""Texts whose token counts are cached."""
WORD = re.compile(r"\w+")
DIRECTIONS: tuple[bytes, ...] = tuple(
    (row / np.linalg.norm(row)).astype("<f2").tobytes() for row in np.random.default_rng(3).normal(size=(500, 16))
)
"""Unit vectors; two texts in 500 point the same way, so that near repeats are looked for too."""


class _Hashing:
    """`Embedder` without a model: one of some random directions for each text, chosen by its end."""

    model = "hashing/bench/000000"
    batch = 1

    async def embed(self, text: str, *, is_query: bool = False) -> bytes:  # noqa: ARG002
        return DIRECTIONS[crc32(text[-12:].encode("utf-8", "replace")) % len(DIRECTIONS)]


def _words(text: str) -> str:
    """Terms without a stemmer."""
    return " ".join(WORD.findall(text.lower()))


@dataclass(slots=True)
class Tally:
    """Counts of sessions, pages and faults."""

    counts: Counter[str] = field(default_factory=Counter)
    """histories, long, contexts, pressed, refusals, records, breadcrumbs, and each kind of fault."""
    example: tuple[int, str] | None = None
    """History and text of the first fault."""

    def add(self, other: "Tally") -> None:
        """The sum of both."""
        self.counts += other.counts
        self.example = min(filter(None, (self.example, other.example)), default=None)


def run(histories: int, contexts: int, seed: int, first: int, size: int, step: Callable[[], None]) -> dict[str, Any]:
    """Make sessions until there are at least so many histories and contexts, on two cores.

    first: number of the first history, to see one again. size: mean records of a history. step: called after each history.
    """
    start, each, tally = perf_counter(), -(-contexts // histories), Tally()
    jobs = [
        (seed, at, min(SESSIONS_OF_JOB, first + histories - at), each, size)
        for at in range(first, first + histories, SESSIONS_OF_JOB)
    ]
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_measure, *job) for job in jobs]):
            part = done.result()
            tally.add(part)
            for _ in range(part.counts["histories"]):
                step()
    seconds, counts = perf_counter() - start, tally.counts
    return {
        "seed": seed,
        "histories": counts["histories"],
        "contexts": counts["contexts"],
        **{kind: counts[kind] for kind in FAULTS},
        "refusals": counts["refusals"],
        "by_tools": round(counts["by_tools"] / max(counts["contexts"], 1), 3),
        "under_pressure": round(counts["pressed"] / max(counts["contexts"], 1), 3),
        "long_histories": round(counts["long"] / counts["histories"], 3),
        "records_mean": round(counts["records"] / counts["histories"], 1),
        "shown_mean": round(counts["breadcrumbs"] / max(counts["contexts"], 1), 1),
        "seconds": round(seconds, 1),
        "contexts_per_second": round(counts["contexts"] / seconds, 1),
        "example": {"history": tally.example[0], "fault": tally.example[1]} if tally.example else None,
    }


def _measure(seed: int, first: int, number: int, contexts: int, size: int) -> Tally:
    async def work() -> Tally:
        tally = Tally()
        for history in range(first, first + number):
            tally.add(await check_history(seed, history, contexts, size))
        return tally

    gc.disable()  # a fifth of the time, for cycles that go with their sessions
    try:
        return asyncio.run(work())
    finally:
        gc.enable()
        gc.collect()


async def check_history(seed: int, history: int, contexts: int, size: int) -> Tally:
    """Make one session, build `contexts` pages in it, as of different triggers, and read each."""
    tally = Tally(Counter(histories=1))
    counts = tally.counts
    async for reading in pages(seed, history, contexts, size):
        counts["records"] = max(counts["records"], len(reading.events.records))
        for kind, what in faults(reading):
            counts[kind] += 1
            tally.example = tally.example or (history, f"{kind}: {what}")
        if reading.page is None:
            counts["refusals"] += 1
            continue
        counts["contexts"] += 1
        counts["by_tools"] += bool(reading.turn)
        counts["pressed"] += is_under_pressure(reading)
        counts["breadcrumbs"] += sum(len(section["ids"]) for section in reading.page["sections"])
    counts["long"] = int(counts["records"] >= MIN_LONG_RECORDS - 1)
    return tally


async def pages(seed: int, history: int, contexts: int, size: int) -> AsyncGenerator[Reading, None]:
    """Pages of one session, refused ones included, until `contexts` were built.

    The first trigger is the last record, and the summaries are its consumer's; the other triggers are earlier records.
    """
    rng = Random(f"{seed} {history}")
    profile = draw_profile(rng, rng.randint(100, 5000))
    session = _random_session(rng, profile, size)
    async with open_scratch(_Hashing(), _words) as builder:
        await _remember_rival(builder)
        remembered = await _remember_all(builder, session.records)
        triggers, results = _asking(remembered)
        trigger, count = remembered[-1], 0
        while count < contexts:
            built = await builder.build_contexts(trigger, (profile,))
            page = next(iter(built.contexts), None)
            reading = reading_of(session.records, await builder.in_session(trigger.breadcrumb), profile, page)
            if built.contexts or built.rejected:
                if trigger in results and not reading.turn:
                    raise AssertionError(f"{trigger.breadcrumb.id} triggers")
                yield reading
            elif reading.turn:
                raise AssertionError(f"{trigger.breadcrumb.id} triggers nothing")
            count += len(built.contexts)
            if built.rejected:
                profile = replace(profile, budget=2 * profile.budget + 40, on_overflow="trim")
            elif count < contexts:
                trigger = rng.choice(results if results and rng.random() < TOOLS_SHARE else triggers)
                profile = draw_profile(rng, _need(reading_of(session.records, trigger.breadcrumb, profile, None)))


def _asking(rows: list[StoredBreadcrumb]) -> tuple[list[StoredBreadcrumb], list[StoredBreadcrumb]]:
    """First versions of words of people in the session, and of results."""
    firsts = [row for row in rows if row.breadcrumb.version == 1]
    spoken = [row for row in firsts if (row.breadcrumb.schema, row.breadcrumb.session) == (USER, SESSION)]
    return spoken, [row for row in firsts if row.breadcrumb.schema in RESULTS]


def _need(reading: Reading) -> int:
    """Tokens of all of the conversation."""
    return sum(ample(entry, reading) for entry in reading.events.conversation)


def _random_session(rng: Random, profile: Profile, size: int) -> RandomSession:
    """size: mean records."""
    recipe = recipe_of(profile)
    session = RandomSession(rng, recipe.name if recipe else "0")
    long = rng.random() < LONG_SHARE
    drawn = min(max(int(rng.expovariate(1 / (size - MIN_RECORDS))) + MIN_RECORDS, MIN_RECORDS), MAX_RECORDS)
    session.grow(rng.randint(MIN_LONG_RECORDS, MAX_LONG_RECORDS) if long else drawn)
    session.ask()
    return session


def reading_of(records: list[Record], trigger: Breadcrumb, profile: Profile, page: Context | None) -> Reading:
    """The page as the consumer gets it."""
    audience = set(profile.audience.any_tags) if profile.audience else None
    events = Events(
        records=records[: trigger.place.sequence - (trigger.role != "tool")],
        session=trigger.session,
        now=trigger.received_at,
        is_visible=lambda tags: audience is None or not audience.isdisjoint(tags),
        task=trigger.task if profile.scope_to_task else None,
        agent=profile.agent,
        trigger=records[trigger.place.sequence - 1] if trigger.role != "tool" else None,
    )
    return Reading(
        events=events,
        trigger=records[trigger.place.sequence - 1] | {"session": trigger.session},
        profile=profile,
        page=json.loads(encode(page)) if page else None,
        count=_true_count(profile.encoding),
    )


@cache
def _true_count(encoding: str) -> Callable[[str], int]:
    encode_text = encoder(encoding)
    return lru_cache(CACHED_TEXTS)(lambda text: len(encode_text(text)))


async def _remember_all(builder: ContextBuilder, records: list[Record]) -> list[StoredBreadcrumb]:
    """The records that the service takes; the others are replaced by one that says nothing."""
    remembered = []
    for number, crumb in enumerate(_decoded(records)):
        row = None
        with suppress(Rejected):
            row = await builder.remember(crumb)
        if row is None or (row.breadcrumb.is_erased and not crumb.removes):
            nothing = {"schema_name": DELETED, "context": {"breadcrumb_id": ""}, "version": 1, "id": f"none-{number}"}
            records[number] = {**records[number], **nothing}
        else:
            remembered.append(row)
    return remembered


async def _remember_rival(builder: ContextBuilder) -> None:
    """Another workspace has a session and ids of the same names."""
    for number in range(1, 4):
        body = {"content": f"z{number}x the kiln is hot", "speaker": "Ana"}
        record = {"id": f"m{number}", "schema_name": USER, "session": SESSION, "version": 1, "context": body}
        arrival = outgoing(record, RIVAL).arrive(Place(1, number), START)
        await builder.remember(decode(arrival))


def _decoded(records: list[Record]) -> Iterator[Breadcrumb]:
    """Each comes when it was sent, or later: the stream's clock does not run back."""
    arrival = START
    for sequence, record in enumerate(records, 1):
        arrival = max(arrival, datetime.fromisoformat(record["created_at"]))
        sent = json.loads(json.dumps({name: value for name, value in record.items() if value is not None}))
        yield decode(outgoing(sent, WORKSPACE).arrive(Place(1, sequence), arrival))
