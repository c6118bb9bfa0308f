"""`bench latency --calls` and `--scenario reads`: what one page takes in Python calls, and how often it is begun.

Calls do not hang on the machine, on its load or on the encoder, which runs in a thread of its own.
"""

import cProfile
import pstats
import statistics
from collections.abc import Callable, Iterator
from datetime import timedelta
from time import perf_counter
from typing import Any

from builder.app.components import Components
from builder.assemble import assemble
from builder.bench.data.datasets import SUMMARY_ROOM
from builder.bench.data.synthetic import START, WORKSPACE, breadcrumb, texts
from builder.bench.speed.latency import CONSUMER, fill_sessions, session_name
from builder.bench.speed.quantiles import milliseconds
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.publish.event import encode
from builder.remember.decode import decode
from builder.wire.records import make_record, outgoing

WARM_UPS = 3
ROUNDS = 5
RESULTS = 10
RESULT_CHARS = 13_000
READS = "reads"
"""Session of ten long results of tools."""
PAGE = (assemble.__file__, assemble.complete.__name__)
"""What makes the second half of a page: file and function."""


async def run(core: Components, sizes: tuple[int, ...], step: Callable[[], None]) -> dict[str, Any]:
    """Calls of `ContextBuilder.build` and `encode`, of a session that is warm and a question that is new."""
    await fill_sessions(core, sizes, step)
    rows: dict[str, dict[str, float]] = {}
    for size in sizes:
        session, following = session_name("build", size), size + SUMMARY_ROOM
        triggers = [_asks(session, following + number, number) for number in range(WARM_UPS + ROUNDS)]
        rows[str(size)] = await _median(core, triggers)
        step()
    return {"sizes": rows}


async def reads(core: Components, step: Callable[[], None], chars: int = RESULT_CHARS, rounds: int = ROUNDS) -> dict[str, Any]:
    """A question right behind ten long results, each session asked once: nothing of it is in any cache.

    chars: of each result.
    """
    rows: list[dict[str, float]] = []
    for number in range(rounds):
        session = f"{READS}-{number}"
        for crumb in _read(session, chars):
            await core.builder.remember(crumb)
        rows.append(await _profile(core, _asks(session, 2 * RESULTS + 1, number)))
        step()
    return {"scenarios": {READS: _medians(rows)}}


def _read(session: str, chars: int) -> Iterator[Breadcrumb]:
    """A call for each file, and its result: texts that no other session has."""
    lines = texts(RESULTS * chars // 40)
    for number in range(RESULTS):
        text = "\n".join(f"{session} {line}" for line in lines[number::RESULTS])[:chars]
        call = {"requestId": f"{session}-call-{number}", "tool": "read", "input": {"path": f"part-{number}.txt"}}
        answer = {"tool": "read", "request_id": call["requestId"], "status": "success", "output": text}
        yield _crumb(session, 2 * number + 1, "agent.response.v1", {"content": "", "tool_requests": [call]})
        yield _crumb(session, 2 * number + 2, "tool.response.v1", answer)


def _crumb(session: str, place: int, schema: str, body: dict[str, Any]) -> Breadcrumb:
    moment = START + timedelta(minutes=place)
    record = make_record(schema, f"{session}-{place}", session, body, created_at=moment)
    return decode(outgoing(record, WORKSPACE).arrive(Place(1, place), moment))


def _asks(session: str, place: int, number: int) -> Breadcrumb:
    text = f"What did we decide about order {number * 7} and where does its key go, round {number}?"
    return breadcrumb(session, f"{session}-asks-{number}", text, Place(1, place), "user.message.v1")


async def _median(core: Components, triggers: list[Breadcrumb]) -> dict[str, float]:
    for trigger in triggers[:WARM_UPS]:
        await core.builder.build(trigger, (core.profile(CONSUMER),))
    return _medians([await _profile(core, trigger) for trigger in triggers[WARM_UPS:]])


async def _profile(core: Components, trigger: Breadcrumb) -> dict[str, float]:
    profile = cProfile.Profile()
    start = perf_counter()
    profile.enable()
    built = await core.builder.build(trigger, (core.profile(CONSUMER),))
    for context in built.contexts:
        encode(context)
    profile.disable()
    seconds = perf_counter() - start
    stats: Any = pstats.Stats(profile)
    pages = sum(row[1] for (file, _, name), row in stats.stats.items() if (file, name) == PAGE)
    return {"calls": stats.total_calls, "pages_begun": pages, "page_tokens": built.contexts[0].tokens, "seconds": seconds}


def _medians(rows: list[dict[str, float]]) -> dict[str, float]:
    medians = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    return medians | {"profiled_ms": milliseconds(medians.pop("seconds"))}
