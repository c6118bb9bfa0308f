"""Nothing is covered twice or left out, no unit is torn, no cap is passed, and the past stays as it was."""

import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.domain.summary import Source, read_summary
from builder.extras.summaries.chain import chain_of, covered_sources, sources_of, waiting_units
from builder.recall.index.view import View
from builder.recall.summaries.lines import shown_lines, tokens_of
from builder.recall.summaries.recipes import recipe_of
from builder.service import ContextBuilder
from tests.examples import examples
from tests.factories import INCARNATION
from tests.property.sessions import Session, remember, sessions
from tests.stores import durable_store
from tests.summarised import COUNT, Publishing, make_builder, make_summarising, summing

STEP = 100
"""Places between two rows: room for what is published."""
RECIPES = st.builds(
    summing,
    max_pending=st.integers(1, 8),
    keep=st.integers(0, 5),
    batch=st.integers(1, 5),
    cap=st.sampled_from((20, 40, 200)),
    tokens=st.sampled_from((None, 30)),
)


def spread(session: Session) -> list[Breadcrumb]:
    """All rows, their places wide apart."""
    rows = (*session.rows, session.trigger, *session.later)
    return [replace(row.breadcrumb, place=place(row.breadcrumb.place.sequence)) for row in rows]


def place(sequence: int, after: int = 0) -> Place:
    return Place(INCARNATION, sequence * STEP + after)


def units(view: View) -> list[tuple[Source, ...]]:
    """Id and version of what still counts of each unit of the conversation, in the order of their heads."""
    found: dict[int, list[Source]] = {}
    for row in view.rows.tolist():
        if view.dialogue[row] and view.current[row]:
            crumb = view.breadcrumb(row)
            found.setdefault(view.unit_of(row), []).append((crumb.id, crumb.version))
    return [tuple(found[head]) for head in sorted(found)]


async def sources(builder: ContextBuilder, profile: Profile, until: Place) -> tuple[Source, ...]:
    recipe = recipe_of(profile)
    assert recipe
    return covered_sources(await builder.recaller.session_view("acme", "s42", until), recipe)


async def summarised_in_steps(session: Session, profile: Profile, every: int) -> None:
    builder = make_builder(durable_store())
    waits = profile.summaries
    assert waits
    for number, crumb in enumerate(spread(session), 1):
        await remember(builder, crumb)
        if number % every:
            continue
        before = await sources(builder, profile, crumb.place)
        publishing = Publishing(builder, place(number, 1))
        await make_summarising(builder, publishing, profile).look("acme", "s42", crumb.place)
        after = await sources(builder, profile, place(number, STEP - 1))
        assert len(set(after)) == len(after)
        assert after[: len(before)] == before
        new = after[len(before) :]
        held = units(await builder.recaller.session_view("acme", "s42", crumb.place))
        pending = [part for unit in held if (part := tuple(source for source in unit if source not in before))]
        left = [part for part in pending if not set(part) & set(new)]
        assert new == tuple(source for part in pending[: len(pending) - len(left)] for source in part)
        assert waits.tokens or len(left) <= max(waits.max_pending or 0, waits.keep)
        for made in publishing.out:
            summary = read_summary(made)
            assert tokens_of(summary.lines, COUNT) <= waits.cap
            assert {source for line in summary.lines for source in line.sources} <= set(after)


async def summarised_late(session: Session, profile: Profile, every: int, compacting: frozenset[int]) -> None:
    """What is published comes back only after the rows of the next step, whatever they edit or delete."""
    builder, recipe = make_builder(durable_store()), recipe_of(profile)
    assert recipe
    under_way: list[Breadcrumb] = []
    for number, crumb in enumerate(spread(session), 1):
        await remember(builder, crumb)
        if number % every:
            continue
        for ordinal, made in enumerate(under_way):
            await builder.remember(replace(made, place=place(number, 1 + ordinal)))
        here = place(number, 1 + len(under_way))
        publishing = Publishing(builder, here, remembering=False)
        loop = make_summarising(builder, publishing, profile)
        if number in compacting:
            await loop.compact("acme", "s42", profile)
        await loop.look("acme", "s42", here)
        under_way = publishing.out
        view = await builder.recaller.session_view("acme", "s42", here)
        chain, done = chain_of(view, recipe), await sources(builder, profile, here)
        waits = sources_of(view, waiting_units(view, recipe, chain.last))
        assert len(set(done)) == len(done)
        assert sorted((*(source for source in done if holds(view, source)), *waits)) == sorted(
            source for unit in units(view) for source in unit
        )
        lines = shown_lines(view, chain.lasting, chain.free)
        assert len({(line.text, line.sources) for line in lines}) == len(lines)
        assert all(holds(view, source) for line in lines for source in line.sources)
        asked = [(name, version) for name, version in done if any(name in line.ids for line in chain.lasting)]
        assert {source for line in chain.lasting for source in line.sources} <= set(asked)


def holds(view: View, source: Source) -> bool:
    row = view.row_of(source[0])
    return bool(view.current[row]) and view.breadcrumb(row).version == source[1]


@examples(40)
@given(sessions(most=30, later=10), RECIPES, st.integers(1, 7), st.frozensets(st.integers(1, 40), max_size=4))
def test_the_newest_version_of_everything_is_covered_or_waits_whatever_is_edited_meanwhile(
    session: Session, profile: Profile, every: int, compacting: frozenset[int]
) -> None:
    asyncio.run(summarised_late(session, profile, every, compacting))


@examples(40)
@given(sessions(most=30, later=10), RECIPES, st.integers(1, 7))
def test_every_unit_is_covered_once_whole_and_in_order(session: Session, profile: Profile, every: int) -> None:
    asyncio.run(summarised_in_steps(session, profile, every))


@examples(40)
@given(sessions(most=25, later=12), RECIPES)
def test_summaries_of_later_rows_change_no_earlier_context(session: Session, profile: Profile) -> None:
    async def contexts() -> list[Context]:
        store = durable_store()
        builder = make_builder(store)
        *earlier, trigger = spread(replace(session, later=()))
        await remember(builder, *earlier)
        first = Publishing(builder, Place(INCARNATION, trigger.place.sequence - STEP + 1))
        await make_summarising(builder, first, profile).look("acme", "s42", (earlier or [trigger])[-1].place)
        found = list((await builder.build(trigger, (profile,))).contexts)
        rest = spread(session)[len(earlier) + 1 :]
        await remember(builder, *rest)
        end = (rest or [trigger])[-1].place
        second = Publishing(builder, Place(INCARNATION, end.sequence + 1))
        await make_summarising(builder, second, profile).look("acme", "s42", end)
        for again in (builder, make_builder(store)):
            found += (await again.build(trigger, (profile,))).contexts
        return found

    one, *others = asyncio.run(contexts())
    assert all(other == one for other in others)
