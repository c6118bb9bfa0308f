"""Whatever is edited, deleted, erased, purged or hidden: who has looked at a session and looks again publishes nothing."""

import asyncio
import json
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.profile import Profile
from builder.service import ContextBuilder
from tests.examples import examples
from tests.factories import make_breadcrumb, make_tombstone
from tests.property.sessions import Session, remember, sessions
from tests.property.test_summaries import place, spread
from tests.stores import DurableStore, durable_store
from tests.summarised import Publishing, make_builder, make_summarising, summing

ACTS = ("compact", "erase", "purge", "purge", "forget", "edit", "hide", "hide all")
RECIPES = st.builds(
    summing, max_pending=st.integers(1, 4), keep=st.integers(0, 2), batch=st.integers(1, 3), tokens=st.sampled_from((None, 30))
)


@dataclass(slots=True, kw_only=True)
class Told:
    """A session as it grows. published: all summaries ever. number: of the row that came last."""

    store: DurableStore
    builder: ContextBuilder
    profile: Profile
    hours: float | None
    published: list[Breadcrumb]
    number: int = 0
    used: int = 0

    def here(self) -> Place:
        """A new place behind all that there is."""
        self.used += 1
        return place(self.number, self.used)


async def act(told: Told, last: Breadcrumb, kind: str, which: int) -> None:
    """What may happen to a session between two rows. last: the row that came last. which: of the summaries or of the rows."""
    summary = told.published[which % len(told.published)].id if told.published else "m1"
    tombstone = make_tombstone(summary, 0, id=f"t{told.number}-{told.used}", place=told.here()).breadcrumb
    here, moment = told.here(), last.received_at
    match kind:
        case "compact":
            await look(told, last, compact=True)
        case "erase":
            await told.store.erase("acme", "s42", f"m{1 + which}", last.place)
        case "purge":
            await told.store.purge(await told.store.ended(moment + timedelta(hours=1)))
        case "forget":
            await remember(told.builder, replace(tombstone, received_at=moment))
            if which % 2:
                await told.store.erase("acme", "s42", summary, tombstone.place)
        case "edit":
            edit = next((crumb for crumb in told.published if crumb.id == summary), None)
            if edit:
                await remember(told.builder, replace(edit, version=told.number + 1, place=here, received_at=moment))
        case _:
            schemas = [{"schema_name": "summary.v1"}] if kind == "hide all" else []
            body = {"excluded_ids": [f"m{1 + which}", summary], "excluded_schemas": schemas}
            hidden = make_breadcrumb("", id=f"b{told.number}", place=here, created_at=moment, body=json.dumps(body))
            await remember(told.builder, replace(hidden, schema="context.blacklist.v1", session="_", role="other"))


async def look(told: Told, last: Breadcrumb, *, compact: bool = False) -> int:
    """How many summaries a worker that was just started publishes when it looks at the end of the session."""
    here = told.here()
    publishing = Publishing(told.builder, Place(here.incarnation, here.sequence + 1), moment=last.received_at, hours=told.hours)
    loop = make_summarising(told.builder, publishing, told.profile)
    await (loop.compact("acme", "s42", told.profile) if compact else loop.look("acme", "s42", here))
    told.used += len(publishing.out)
    told.published += publishing.out
    return len(publishing.out)


async def lived(told: Told, session: Session, acts: dict[int, tuple[str, int]], ending: frozenset[int]) -> None:
    for told.number, crumb in enumerate(spread(session), 1):
        told.used = 0
        end = crumb.received_at + timedelta(minutes=told.number % 4) if told.number in ending else None
        await remember(told.builder, replace(crumb, expires_at=end))
        if told.number in acts:
            await look(told, crumb)
            await act(told, crumb, *acts[told.number])
            await look(told, crumb)
            assert await look(told, crumb) == 0


@examples(40)
@given(
    sessions(most=30, later=8),
    RECIPES,
    st.dictionaries(st.integers(3, 20), st.tuples(st.sampled_from(ACTS), st.integers(0, 20)), min_size=4, max_size=12),
    st.frozensets(st.integers(1, 20), max_size=4),
    st.sampled_from((None, 0.0, 0.05, 9.0)),
)
def test_who_looks_a_second_time_publishes_nothing(
    session: Session,
    profile: Profile,
    acts: dict[int, tuple[str, int]],
    ending: frozenset[int],
    hours: float | None,
) -> None:
    store = durable_store()
    told = Told(store=store, builder=make_builder(store), profile=profile, hours=hours, published=[])
    asyncio.run(lived(told, session, acts, ending))
