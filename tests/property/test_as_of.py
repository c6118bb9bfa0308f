"""A context depends on what came before its trigger: never on what came later, is held in memory or was forgotten."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import Store
from builder.service import ContextBuilder
from tests.examples import examples
from tests.factories import make_profile, make_remembered
from tests.hashing_embedder import HashingEmbedder
from tests.property.sessions import SPEAKERS, Session, hear, remember, sessions
from tests.stores import durable_store
from tests.unit.service import test_service

PROFILE = make_profile(budget=700)
GREETINGS = tuple(
    make_remembered("Hello.", id=f"greeting-{n}", place=Place(1, n), speaker=name) for n, name in enumerate(SPEAKERS[1:], 1)
)
"""Every speaker introduces himself before anything else, in an earlier stream."""


def make_builder(store: Store, passages: int = 10_000, engine: HashingEmbedder | None = None) -> ContextBuilder:
    return test_service.make_builder(engine or HashingEmbedder(), store, (PROFILE,), passages)


def crumbs_of(rows: Iterable[StoredBreadcrumb]) -> list[Breadcrumb]:
    return [row.breadcrumb for row in rows]


async def build(builder: ContextBuilder, trigger: StoredBreadcrumb) -> Context:
    (context,) = (await builder.build(trigger.breadcrumb, (PROFILE,))).contexts
    return context


async def contexts(session: Session) -> list[Context]:
    """The context of one trigger, asked for at several times by workers that remember more or less."""
    store = durable_store()
    without_expired, forgetful = make_builder(store), make_builder(store, passages=0)
    await remember(without_expired, *crumbs_of(session.rows))
    found = [await build(without_expired, session.trigger), await build(forgetful, session.trigger)]
    await remember(without_expired, *crumbs_of(session.later))
    await build(without_expired, hear(999, "user.message.v1", {"content": "And what came of it?"}))
    return [*found, *[await build(builder, session.trigger) for builder in (without_expired, forgetful, make_builder(store))]]


@examples(60)
@given(sessions(most=25, later=15))
def test_a_context_is_the_same_before_and_after_later_rows_arrive(session: Session) -> None:
    first, *others = asyncio.run(contexts(replace(session, rows=(*GREETINGS, *session.rows))))
    assert all(other == first for other in others)


def test_a_speaker_who_comes_later_does_not_change_what_was_asked() -> None:
    said = ("I wrote remark number {} on the kiln.", "Remark {} is by Ana.")
    rows = tuple(hear(n, "user.message.v1", {"content": said[n % 2].format(n)}) for n in range(1, 80))
    trigger = hear(80, "user.message.v1", {"content": "What did Ana write?"})
    later = (hear(81, "user.message.v1", {"content": "Hello, I am new here.", "speaker": "Ana"}),)
    first, *others = asyncio.run(contexts(Session(rows, trigger, later)))
    assert all(other == first for other in others)


@examples(40)
@given(sessions(most=25), st.integers(0, 99))
def test_the_order_in_which_rows_reached_the_store_does_not_matter(session: Session, seed: int) -> None:
    async def build_after(rows: list[StoredBreadcrumb]) -> Context:
        store = durable_store()
        builder = make_builder(store)
        for crumb in crumbs_of(rows):
            if not await remember(builder, crumb) and crumb.removes:
                await store.erase(crumb.workspace, crumb.session, crumb.removes, crumb.place)
        return await build(builder, session.trigger)

    shuffled = sorted(session.rows, key=lambda row: hash((seed, row.breadcrumb.place)))
    assert asyncio.run(build_after(shuffled)) == asyncio.run(build_after(list(session.rows)))


@examples(40)
@given(sessions(most=25, later=8), st.lists(st.booleans(), min_size=34, max_size=34), st.integers(1, 34))
def test_a_worker_that_held_the_session_before_vectors_were_filled_in_builds_what_a_fresh_one_builds(
    session: Session, away: list[bool], fillings: int
) -> None:
    async def built() -> list[Context]:
        store, engine = durable_store(), HashingEmbedder()
        without_expired = make_builder(store, engine=engine)
        for engine.away, row in zip(away, (*session.rows, *session.later), strict=False):
            await remember(without_expired, row.breadcrumb)
        engine.away = False
        await build(without_expired, session.trigger)
        for row in await store.missing_vectors(fillings):
            await store.fill_vectors(await without_expired.ingest.with_vectors(row))
        return [await build(builder, session.trigger) for builder in (without_expired, make_builder(store))]

    held, fresh = asyncio.run(built())
    assert held == fresh


async def forgotten(
    session: Session, target: str, tombstone: StoredBreadcrumb, trigger: StoredBreadcrumb, where: str
) -> list[Context]:
    """The context of a trigger: by a store that never had the target, and by workers that held it before it was erased."""
    never = make_builder(durable_store())
    place = tombstone.breadcrumb.place
    rows = (*session.rows, session.trigger)
    kept = (row for row in rows if not (row.breadcrumb.id == target and where in (row.breadcrumb.session, "_")))
    await remember(never, *crumbs_of(kept), tombstone.breadcrumb)
    found = [await build(never, trigger)]
    store = durable_store()
    without_expired = make_builder(store)
    await remember(without_expired, *crumbs_of(rows), tombstone.breadcrumb)
    await build(without_expired, session.trigger)
    taken = await store.erase("acme", where, target, place)
    assert await store.erase("acme", where, target, place) == ()
    assert all(crumb.id == target for crumb in taken)
    await remember(without_expired, *crumbs_of(rows))  # who still holds it in his hands cannot bring it back
    found += [await build(builder, trigger) for builder in (without_expired, make_builder(store))]
    return found


@examples(40)
@given(sessions(most=25), st.integers(1, 25), st.sampled_from(("s42", "_")))
def test_a_context_after_forgetting_is_that_of_a_store_that_never_had_it(session: Session, number: int, where: str) -> None:
    target = f"m{number}"
    last = session.trigger.breadcrumb.place.sequence
    tombstone = hear(last + 1, "breadcrumb.deleted.v1", {"breadcrumb_id": target}, "tombstone", session=where)
    asked = hear(last + 2, "user.message.v1", {"content": session.trigger.breadcrumb.text}, "asked")
    first, *others = asyncio.run(forgotten(session, target, tombstone, asked, where))
    assert all(other == first for other in others)


@examples(25)
@given(sessions(most=25), st.integers(1, 25))
def test_a_tombstone_of_no_session_removes_what_one_of_the_session_removes_and_more(session: Session, number: int) -> None:
    place = session.trigger.breadcrumb.place.sequence

    async def after(where: str) -> tuple[Context, list[Breadcrumb]]:
        builder = make_builder(durable_store())
        stone = hear(place, "breadcrumb.deleted.v1", {"breadcrumb_id": f"m{number}"}, "tombstone", session=where).breadcrumb
        await remember(builder, *crumbs_of(session.rows))
        refused = await remember(builder, stone)
        asked = hear(place + 1, "user.message.v1", {"content": session.trigger.breadcrumb.text}, "asked")
        return await build(builder, asked), refused

    (near, refused), (far, nothing) = asyncio.run(after("s42")), asyncio.run(after("_"))
    first = next((row.breadcrumb for row in session.rows if row.breadcrumb.id == f"m{number}"), None)
    assert nothing == []
    assert bool(refused) == (first is not None and first.session == "_")
    assert f"m{number}" not in {each for section in far.sections for each in section.ids}
    assert refused or near.markdown == far.markdown
