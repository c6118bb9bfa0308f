"""Shadows are built behind their consumers, while nothing else is in work, and never hold anything up."""

import asyncio
from collections import Counter
from dataclasses import replace

from builder.domain.context import Context
from builder.domain.errors import Unavailable
from builder.domain.profile import Profile
from builder.domain.shadow_difference import ShadowDifference
from builder.worker.shadowing import Outcome, Shadowing, in_the_place_of
from tests.commands import DEADLINE
from tests.factories import make_breadcrumb, make_profile
from tests.memory_store.store import MemoryStore
from tests.summarised import make_builder

CONSUMER = make_profile(consumer="a")
SHADOW = replace(make_profile(consumer="lean", budget=200, triggers=()), shadow_of="a")


class Differences:
    """Keeps them in a list. is_away: all raise."""

    def __init__(self) -> None:
        self.list: list[ShadowDifference] = []
        self.is_away = False

    async def keep(self, difference: ShadowDifference) -> None:
        if self.is_away:
            raise Unavailable("the broker is away")
        self.list.append(difference)

    async def remove(self, workspace: str, triggers: frozenset[str]) -> None:
        """Nothing is removed here."""


class Bench:
    """Shadowing of one consumer. busy: whether a delivery is in work."""

    def __init__(self, *shadows: Profile, max_waiting: int = 4) -> None:
        self.store, self.differences, self.outcomes = MemoryStore(), Differences(), Counter[Outcome]()
        self.builder = make_builder(self.store)
        self.busy, self.changed = False, asyncio.Event()
        self.shadowing = Shadowing(lambda: shadows, self.differences, lambda: self.busy, self.count, max_waiting)

    def count(self, outcome: Outcome) -> None:
        self.outcomes[outcome] += 1
        self.changed.set()

    async def published(self, name: str = "m1", consumers: tuple[Profile, ...] = (CONSUMER,)) -> Context:
        built = await self.builder.build(make_breadcrumb("Where does the kiln stand?", int(name[1:]), id=name), consumers)
        for context in built.contexts:
            self.shadowing.note(self.builder, consumers, context)
        return built.contexts[0]

    async def until(self, outcome: Outcome, number: int) -> None:
        running = asyncio.create_task(self.shadowing.run())
        async with asyncio.timeout(DEADLINE):
            while self.outcomes[outcome] < number:
                self.changed.clear()
                await self.changed.wait()
        running.cancel()


async def test_the_difference_of_a_published_context_is_kept() -> None:
    bench = Bench(SHADOW)
    context = await bench.published()
    await bench.until("built", 1)
    (difference,) = bench.differences.list
    assert (difference.consumer, difference.shadow, difference.trigger) == ("a", "lean", "m1")
    assert difference.page.tokens == context.tokens
    assert difference.shadow_page is not None
    assert difference.shadow_page.budget == 200


async def test_a_consumer_without_a_shadow_costs_nothing() -> None:
    bench = Bench(replace(SHADOW, shadow_of="b"))
    await bench.published()
    assert bench.shadowing._waiting.empty()


async def test_nothing_is_built_while_a_delivery_is_in_work() -> None:
    bench = Bench(SHADOW)
    await bench.published()
    bench.busy = True
    running = asyncio.create_task(bench.shadowing.run())
    for _ in range(100):
        await asyncio.sleep(0)
    assert bench.differences.list == []
    bench.busy = False
    running.cancel()
    await bench.published("m2")
    await bench.until("built", 1)


async def test_what_finds_no_room_is_left_out_and_counted() -> None:
    bench = Bench(SHADOW, max_waiting=2)
    for number in range(1, 6):
        await bench.published(f"m{number}")
    assert bench.outcomes == {"left out": 3}
    await bench.until("built", 2)
    assert [each.trigger for each in bench.differences.list] == ["m1", "m2"]


async def test_a_shadow_that_fails_is_counted_and_the_next_one_is_built() -> None:
    bench = Bench(SHADOW)
    bench.differences.is_away = True
    await bench.published()
    await bench.until("failed", 1)
    bench.differences.is_away = False
    await bench.published("m2")
    await bench.until("built", 1)


async def test_a_shadow_whose_page_has_no_room_says_why() -> None:
    bench = Bench(replace(SHADOW, budget=5))
    await bench.published()
    await bench.until("built", 1)
    (difference,) = bench.differences.list
    assert difference.shadow_page is None
    assert difference.rejection.startswith("a: ")


async def test_the_shadow_of_an_erased_trigger_is_left_out() -> None:
    bench = Bench(SHADOW)
    context = await bench.published()
    await bench.store.erase("acme", "s42", "m1", context.place.next)
    await bench.until("left out", 1)
    assert bench.differences.list == []


def test_a_shadow_is_built_under_the_name_of_its_consumer_and_for_its_triggers() -> None:
    profile = replace(CONSUMER, debounce=2.0)
    shadow = in_the_place_of(profile, SHADOW)
    assert (shadow.consumer, shadow.triggers, shadow.debounce, shadow.budget) == ("a", profile.triggers, 2.0, 200)
