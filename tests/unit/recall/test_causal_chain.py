"""How long a chain of answers may be."""

from collections.abc import Iterator

import pytest
from typing_extensions import override

from builder.adapters.sql.store import SqlStore
from builder.domain.breadcrumb import Place
from builder.domain.profile import Profile
from builder.recall.causal_chain import chain_refusals
from tests.factories import make_breadcrumb, make_profile, make_remembered
from tests.stores import DurableStore, durable_store


class CountingStore(DurableStore):
    """Notes how many links were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: list[int] = []

    @override
    async def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        self.limits.append(limit)
        return await super().chain(workspace, identity, until, limit)


async def answering(length: int) -> CountingStore:
    """m1, and each next breadcrumb answers the one before it."""
    store = CountingStore()
    for number in range(1, length + 1):
        await store.remember(make_remembered(f"Remark {number}.", number, answers=f"m{number - 1}" if number > 1 else ""))
    return store


def consumers(*limits: int) -> tuple[Profile, ...]:
    return tuple(make_profile(consumer=f"at {limit}", recursion_limit=limit) for limit in limits)


async def test_the_chain_is_read_once_and_no_further_than_one_step_above_the_highest_limit() -> None:
    store = await answering(3)
    await chain_refusals(store, make_breadcrumb("Go on.", 4, answers="m3"), consumers(2, 9, 5))
    assert store.limits == [10]


async def test_what_answers_nothing_and_what_triggers_nobody_needs_no_look_at_the_chain() -> None:
    store = await answering(3)
    assert await chain_refusals(store, make_breadcrumb("Hello.", 4), consumers(1)) == {}
    assert await chain_refusals(store, make_breadcrumb("Go on.", 4, answers="m3"), ()) == {}
    assert store.limits == []


@pytest.fixture
def store() -> Iterator[SqlStore]:
    store = durable_store()
    yield store
    store.close()
