"""`bench memory`: memory of a worker with a large store, after a trigger in every session."""

import resource
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from builder.app.components import Components
from builder.bench.data.synthetic import breadcrumb, message, mixer, texts
from builder.domain.breadcrumb import Place
from builder.publish.event import encode

CONSUMER = "default"
BATCH_MESSAGES = 10_000
"""Messages made and stored at once."""


async def fill(core: Components, stored: int, sessions: int, step: Callable[[], None]) -> None:
    """Distinct messages, spread evenly over the sessions, through the store like any other. `step` each of them."""
    mix = await mixer(core)
    for first in range(0, stored, BATCH_MESSAGES):
        rows = []
        for number, text in enumerate(texts(min(BATCH_MESSAGES, stored - first), first), first):
            crumb = replace(message(f"memory-{number % sessions}", number, text), id=f"m{number}")
            rows.append(mix(crumb))
            step()
        await core.store.remember_all(tuple(rows))


async def ask(core: Components, stored: int, sessions: int, step: Callable[[], None]) -> dict[str, Any]:
    """A trigger in each session, one after the other; memory of the process before and after, and its peak."""
    before = resident_mb()
    for number in range(sessions):
        text = f"What did we decide about order {number * 11} and where does the key go?"
        trigger = breadcrumb(f"memory-{number}", f"asked-{number}", text, Place(1, stored + number + 1), "user.message.v1")
        built = await core.builder.build(trigger, (core.profile(CONSUMER),))
        for context in built.contexts:
            encode(context)
        step()
    return {
        "stored": stored,
        "sessions": sessions,
        "resident_before_mb": before,
        "resident_mb": resident_mb(),
        "peak_mb": peak_mb(),
    }


def resident_mb() -> float:
    """Memory of this process now, in MB of 1,000,000 bytes; where the system has no figure, the peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return peak_mb()
    return round(pages * resource.getpagesize() / 1e6, 1)


def peak_mb() -> float:
    """The most memory that this process ever had, in MB of 1,000,000 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)
