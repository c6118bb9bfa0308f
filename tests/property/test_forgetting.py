"""What was forgotten might as well never have come: whoever held it, and in every store."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from builder.domain.context import Context
from builder.domain.recall import StoredBreadcrumb
from tests.examples import examples
from tests.property.sessions import Session, hear, sessions
from tests.property.test_as_of import build, make_builder, remember
from tests.stores import durable_store


async def forgotten(
    session: Session, target: str, tombstone: StoredBreadcrumb, trigger: StoredBreadcrumb, where: str
) -> list[Context]:
    """The context of a trigger: by a store that never had the target, and by workers that held it before it was erased."""
    never = make_builder(durable_store())
    place = tombstone.breadcrumb.place
    rows = (*session.rows, session.trigger)
    kept = (row for row in rows if not (row.breadcrumb.id == target and where in (row.breadcrumb.session, "_")))
    await remember(never, *kept, tombstone)
    found = [await build(never, trigger)]
    store = durable_store()
    without_expired = make_builder(store)
    await remember(without_expired, *rows, tombstone)
    await build(without_expired, session.trigger)
    taken = await store.erase("acme", where, target, place)
    assert await store.erase("acme", where, target, place) == ()
    assert all(crumb.id == target for crumb in taken)
    await remember(without_expired, *rows)  # who still holds it in his hands cannot bring it back
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
def test_a_tombstone_of_no_session_removes_what_one_of_the_session_removes(session: Session, number: int) -> None:
    place = session.trigger.breadcrumb.place.sequence

    async def after(where: str) -> Context:
        builder = make_builder(durable_store())
        stone = hear(place, "breadcrumb.deleted.v1", {"breadcrumb_id": f"m{number}"}, "tombstone", session=where)
        await remember(builder, *session.rows, stone)
        asked = hear(place + 1, "user.message.v1", {"content": session.trigger.breadcrumb.text}, "asked")
        return await build(builder, asked)

    near, far = asyncio.run(after("s42")), asyncio.run(after("_"))
    assert f"m{number}" not in {each for section in far.sections for each in section.ids}
    assert near.markdown == far.markdown
