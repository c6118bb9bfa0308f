"""No body is worth more than its length: work grows with it, and a page's no further than the page.

Work is counted, never timed: calls of functions, of Python's and of C's, and characters whose tokens are counted.
"""

import asyncio
import cProfile
from dataclasses import dataclass
from functools import cache

from builder.adapters.tokens import load_counter
from builder.bench.data.hostile import Pathological, corpus
from builder.bench.scratch import scratch_builder
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.remember.decode import BODIES, decode
from builder.service import ContextBuilder
from builder.wire.records import outgoing
from tests.examples import is_full
from tests.factories import MORNING, make_place, make_profile, make_terms
from tests.hashing_embedder import HashingEmbedder
from tests.stores import durable_store

SIZE = 2_000
"""Bytes of the smaller record; both are far more than the page holds."""
BUDGET = 200
LINEAR = 2.5
"""Times the work that twice the bytes may take."""
KINDS = tuple(corpus())
_MESSAGES = [kind for kind in KINDS if kind.name.startswith("user.message.v1 content: ")]
_MANY = [kind for kind in KINDS if ": " not in kind.name]
_OTHERS = [kind for kind in KINDS if kind not in _MESSAGES and kind not in _MANY]
SAMPLE = KINDS if is_full() else (*_MESSAGES[::8], *_MANY, *_OTHERS[::5])
"""An eighth of the texts in a message, everything that comes many times, and one shape in each other field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    calls: int
    characters: int


async def handle(kind: Pathological, size: int, builder: ContextBuilder, profile: Profile) -> None:
    """A record is remembered, and answered when it asks; the next turn is answered."""
    asked = {"schema_name": "user.message.v1", "context": {"content": "Where does the key of the kiln go?"}}
    for number, record in enumerate(({"schema_name": kind.schema} | dict(kind.make(size)), asked), 1):
        arrival = outgoing({"id": f"m{number}"} | record, "acme", "s42").arrive(make_place(number), MORNING)
        try:
            crumb = decode(arrival)
        except Rejected:
            continue
        await builder.build(crumb, (profile,) if crumb.role == "user" else ())


@cache
def work(kind: Pathological, size: int) -> Work:
    counted: list[int] = []
    count = load_counter("o200k_base")

    def counting(text: str) -> int:
        counted.append(len(text))
        return count(text)

    calls = cProfile.Profile()

    async def counted_calls() -> None:
        builder, profile = (
            scratch_builder(durable_store(), HashingEmbedder(), make_terms, lambda _: counting),
            make_profile(budget=BUDGET),
        )
        calls.enable()
        await handle(kind, size, builder, profile)
        calls.disable()

    asyncio.run(counted_calls())
    return Work(calls=sum(entry.callcount for entry in calls.getstats()), characters=sum(counted))


def growth(kind: Pathological, size: int) -> float:
    """How many times the work twice the bytes take."""
    small, large = work(kind, size), work(kind, 2 * size)
    return max(large.calls / small.calls, large.characters / small.characters)


def test_twice_the_bytes_take_at_most_two_and_a_half_times_the_work_in_every_field_of_every_schema() -> None:
    """Where a page can hold the smaller one only, or a part of the larger one, the step is none of the third doubling."""
    work.__wrapped__(KINDS[0], SIZE)  # caches of the process
    steps = [kind for kind in SAMPLE if growth(kind, SIZE) > LINEAR]
    grown = {kind.name: growth(kind, 4 * SIZE) for kind in steps}
    assert [name for name, ratio in grown.items() if ratio > LINEAR] == []


def test_the_sample_has_every_field_of_the_corpus() -> None:
    assert {kind.name.partition(": ")[0] for kind in KINDS} == {kind.name.partition(": ")[0] for kind in SAMPLE}


def test_the_corpus_has_every_schema_that_takes_a_text() -> None:
    without_text = {"breadcrumb.deleted.v1", "breadcrumb.moved.v1", "context.config.v1", "browser.tab.context.v1"}
    assert BODIES.keys() - {kind.schema for kind in KINDS} == without_text
