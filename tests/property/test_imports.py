"""The page does not hang on the order of two imports."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Breadcrumb
from tests.examples import examples
from tests.factories import MORNING, make_place
from tests.property.sessions import Session, sessions
from tests.property.test_as_of import PROFILE, make_builder
from tests.stores import durable_store

KINDS = ("user.message.v1", "agent.response.v1", "tool.request.v1", "tool.response.v1", "tool.error.v1")


def spoken(session: Session) -> list[Breadcrumb]:
    """Messages, calls and results in their first version, a minute apart."""
    crumbs = [row.breadcrumb for row in session.rows if row.breadcrumb.schema in KINDS and row.breadcrumb.version == 1]
    own = [crumb for crumb in crumbs if crumb.session == session.trigger.breadcrumb.session]
    return [replace(crumb, replay=True, created_at=MORNING + timedelta(minutes=n)) for n, crumb in enumerate(own)]


async def page_after(imports: Iterable[Breadcrumb], trigger: Breadcrumb) -> str:
    builder, arrival = make_builder(durable_store()), MORNING + timedelta(days=40)
    for place, crumb in enumerate(imports, 1):
        await builder.remember(replace(crumb, place=make_place(place), received_at=arrival + timedelta(seconds=place)))
    asked = replace(trigger, id="asked", place=make_place(900), created_at=arrival, received_at=arrival + timedelta(hours=1))
    (context,) = (await builder.build(asked, (PROFILE,))).contexts
    return context.markdown


@examples(60)
@given(sessions(most=25), st.integers(0, 25))
def test_the_older_half_may_be_imported_last(session: Session, cut: int) -> None:
    crumbs, trigger = spoken(session), session.trigger.breadcrumb
    expected = asyncio.run(page_after(crumbs, trigger))
    assert asyncio.run(page_after([*crumbs[cut:], *crumbs[:cut]], trigger)) == expected
    assert asyncio.run(page_after([*crumbs[::2], *crumbs[1::2]], trigger)) == expected
