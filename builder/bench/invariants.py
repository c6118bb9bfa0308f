"""`bench invariants`: no window, limit, fold, budget, summary or mask tears, repeats or orphans a unit, and no page is too long.

Random sessions under random wishes, each page read by `page_reader`, which calls nothing of the pipeline.
"""

import asyncio
import gc
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from multiprocessing import get_context
from random import Random
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np

from builder.app import encoder
from builder.app.scratch import ENCODINGS, bundled_wishes, open_scratch
from builder.bench.made_sessions import SESSION, START, MadeSession, Record
from builder.bench.page_reader import FAULTS, Reading, faults
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.domain.selector import Pinned, Selector
from builder.pipeline.summaries import recipe_of
from builder.wire.inbound import decode
from builder.wire.lines import outgoing

WORKSPACE = "acme"
AT_ONCE = 100
"""Sessions that a process makes before it reports."""
MOST = 40
"""Of every limit."""
LEAST, LARGEST = 3, 60
"""Records of a history."""
USER = "user.message.v1"
PROCESSES = 2
WORD = re.compile(r"\w+")
DIRECTIONS: tuple[bytes, ...] = tuple(
    (row / np.linalg.norm(row)).astype("<f2").tobytes() for row in np.random.default_rng(3).normal(size=(500, 16))
)
"""Unit vectors; two texts in 500 point the same way, so that near repeats are looked for too."""


class _Hashing:
    """`Embedder` without a model: one of some random directions for each text, chosen by its end."""

    model = "hashing/bench/000000"

    async def embed(self, text: str) -> bytes:
        return DIRECTIONS[crc32(text[-12:].encode("utf-8", "replace")) % len(DIRECTIONS)]


def _words(text: str) -> str:
    """Terms without a stemmer."""
    return " ".join(WORD.findall(text.lower()))


@dataclass(slots=True)
class _Tally:
    """What was found. example: history and fault of the first that is wrong."""

    histories: int = 0
    contexts: int = 0
    refused: int = 0
    records: int = 0
    shown: int = 0
    found: Counter[str] = field(default_factory=Counter)
    example: tuple[int, str] | None = None

    def add(self, other: "_Tally") -> None:
        self.histories += other.histories
        self.contexts += other.contexts
        self.refused += other.refused
        self.records += other.records
        self.shown += other.shown
        self.found += other.found
        examples = [example for example in (self.example, other.example) if example]
        self.example = min(examples, default=None)


def run(histories: int, contexts: int, seed: int, first: int, size: int, step: Callable[[], None]) -> dict[str, Any]:
    """Make sessions until there are at least so many histories and contexts, on two cores.

    first: number of the first history, to see one again. size: mean records of a history. step: called after each history.
    """
    start, each, tally = perf_counter(), -(-contexts // histories), _Tally()
    jobs = [(seed, at, min(AT_ONCE, first + histories - at), each, size) for at in range(first, first + histories, AT_ONCE)]
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_measure, *job) for job in jobs]):
            part = done.result()
            tally.add(part)
            for _ in range(part.histories):
                step()
    return {
        "seed": seed,
        "histories": tally.histories,
        "contexts": tally.contexts,
        **{kind: tally.found[kind] for kind in FAULTS},
        "refused": tally.refused,
        "records_mean": round(tally.records / tally.histories, 1),
        "shown_mean": round(tally.shown / max(tally.contexts, 1), 1),
        "seconds": round(perf_counter() - start, 1),
        "example": {"history": tally.example[0], "fault": tally.example[1]} if tally.example else None,
    }


def _measure(seed: int, first: int, number: int, contexts: int, size: int) -> _Tally:
    async def work() -> _Tally:
        tally = _Tally()
        for history in range(first, first + number):
            tally.add(await check_history(seed, history, contexts, size))
        return tally

    gc.disable()  # a fifth of the time, for cycles that go with their sessions
    try:
        return asyncio.run(work())
    finally:
        gc.enable()
        gc.collect()


async def check_history(seed: int, history: int, contexts: int, size: int) -> _Tally:
    """Make one session, ask for so many contexts in it, and read each: page after page, as of different triggers."""
    tally = _Tally(histories=1)
    async for records, profile, page in pages(seed, history, contexts, size):
        tally.records = max(tally.records, len(records))
        if page is None:
            tally.refused += 1
            continue
        tally.contexts += 1
        tally.shown += sum(len(section.ids) for section in page.sections)
        for kind, what in faults(reading_of(records, profile, page)):
            tally.found[kind] += 1
            tally.example = tally.example or (history, f"{kind}: {what}")
    return tally


async def pages(seed: int, history: int, contexts: int, size: int) -> AsyncIterator[tuple[list[Record], Profile, Context | None]]:
    """Records in front of a trigger, who asked, and the page; None when it was refused. Until so many were not refused.

    The first trigger is the last record, and the summaries are its consumer's; the others ask from the middle, when all is there.
    """
    rng = Random(f"{seed} {history}")
    profile = draw_profile(rng)
    recipe = recipe_of(profile)
    made = MadeSession(rng, recipe.name if recipe else "0")
    made.grow(min(max(int(rng.expovariate(1 / (size - LEAST))) + LEAST, LEAST), LARGEST))
    made.ask()
    builder = open_scratch(_Hashing(), _words)
    remembered = [await builder.remember(crumb) for crumb in _decoded(made.records)]
    said = Counter(row.fingerprint for row in remembered)  # who says a thing again has it in the conversation and asks it
    mine = (row for row in remembered if row.breadcrumb.schema == USER and row.breadcrumb.session == SESSION)
    triggers = [row for row in mine if said[row.fingerprint] == 1]
    trigger, got = remembered[-1], 0
    while got < contexts:
        built = await builder.answer(trigger, (profile,))
        yield made.records[: trigger.breadcrumb.place.sequence - 1], profile, next(iter(built.contexts), None)
        got += len(built.contexts)
        if not built.contexts:
            profile = replace(profile, budget=2 * profile.budget + MOST)
        elif got < contexts:
            profile, trigger = draw_profile(rng), rng.choice(triggers or remembered[-1:])


def reading_of(records: list[Record], profile: Profile, page: Context) -> Reading:
    """The page as the consumer gets it."""
    sources = {rule.name: rule.source for rule in profile.sections}
    wanted = set(profile.audience.any_tags) if profile.audience else None
    return Reading(
        records=records,
        now=page.trigger.received_at,
        hears=lambda tags: wanted is None or not wanted.isdisjoint(tags),
        task=page.trigger.task if profile.scope_to_task else None,
        sections=tuple((sources[section.name], section.ids) for section in page.sections),
        markdown=page.markdown,
        limit=int(profile.budget * (1 - profile.margin)) - profile.reserve,
        count=_true_count(profile.encoding),
    )


@cache
def _true_count(encoding: str) -> Callable[[str], int]:
    encode = encoder(encoding)
    return lambda text: len(encode(text))


def _decoded(records: list[Record]) -> Iterator[Breadcrumb]:
    for sequence, record in enumerate(records, 1):
        sent = json.loads(json.dumps({name: value for name, value in record.items() if value is not None}))
        yield decode(outgoing(sent, WORKSPACE).arrive(Place(1, sequence), START + timedelta(minutes=sequence)))


def draw_profile(rng: Random) -> Profile:
    """Any preset with every limit drawn anew."""
    base = rng.choice(bundled_wishes())
    trigger = rng.randint(1, MOST)
    window = replace(
        base.window,
        max_units=trigger,
        trim_to=rng.randint(1, trigger),
        max_tool_turns=rng.choice((None, 0, rng.randint(1, MOST), rng.randint(1, 4))),
        keep_share=rng.choice((0.25, 0.5, 1.0)),
    )
    cuts = replace(base.tool_output.cut, results=rng.randint(1, MOST), characters=rng.randint(1, MOST))
    output = replace(
        base.tool_output,
        cut=rng.choice((base.tool_output.cut, cuts)),
        placeholder_after=rng.choice((None, rng.randint(1, MOST), rng.randint(1, 4))),
        fold_at=rng.choice((None, 0.05, 0.3, 0.7)),
        fold_keep=rng.randint(1, MOST),
        newest_only=rng.random() < 1 / 2,
        old_tools=rng.choice(((), ("search", "bash"))),
        old_characters=rng.choice((rng.randint(1, MOST), 1500)),
    )
    retrieval = replace(
        base.retrieval,
        relevance_threshold=rng.choice((None, base.retrieval.relevance_threshold)),
        neighbours=rng.choice((0, 0, rng.randint(1, 3))),
        max_results=rng.choice((base.retrieval.max_results, rng.randint(1, MOST))),
        duplicate_threshold=rng.choice((0.95, 0.8)),
    )
    stands = any(rule.source == "pinned" for rule in base.sections)
    pinned = Pinned(selector=Selector(all_tags=("pinned",)), keep=rng.choice(("latest", "all")), section="")
    return replace(
        base,
        window=window,
        tool_output=output,
        retrieval=retrieval,
        encoding=rng.choice(ENCODINGS),
        page=rng.choice(("default", "xml")),
        budget=rng.choice((rng.randint(1, MOST), rng.randint(MOST, 400), rng.randint(400, 4000))),
        audience=Selector(any_tags=("to:mira",)) if rng.random() < 1 / 6 else None,
        scope_to_task=rng.random() < 1 / 12,
        pinned=(*base.pinned, pinned) if stands and rng.random() < 1 / 3 else base.pinned,
    )
