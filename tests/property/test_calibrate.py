"""Whatever agents report: pages keep their budget, and are a function of the reports that came before their trigger."""

import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.domain.breadcrumb import Place
from builder.domain.context import Context
from builder.domain.profile import MAX_MARGIN, Profile
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.domain.usage import MIN_TOKENS, NEWEST_REPORTS, USAGE, Usage
from builder.ports.store import Store
from builder.publish.event import encode
from builder.recall.calibration import MIN_REPORTS, calibrated
from builder.recall.index.cache import HistoryCache
from builder.remember.schemas.removals import excluded
from builder.remember.schemas.usage import MAX_TOKENS, usage
from builder.service import ContextBuilder, Functions
from tests.examples import examples
from tests.factories import BY_HAND, HashingEmbedder, make_profile, make_rendering, make_terms
from tests.memory_store.store import MemoryStore
from tests.property.sessions import Session, hear, sessions
from tests.stores import durable_store

COUNT = load_counter("o200k_base")
PROFILE = make_profile(budget=700, margin=0.1, calibrate="gpt-4o")
BETWEEN = 100
"""Places between two rows of a session: room for the reports on what was said."""
tokens = st.one_of(st.integers(1, 200), st.integers(200, 5000), st.integers(200, 5000), st.integers(1, MAX_TOKENS))


@st.composite
def reports(draw: st.DrawFn) -> Usage:
    """Mostly honest ones, some that are absurd, some about another model."""
    model = draw(st.sampled_from(("gpt-4o", "openai/gpt-4o-2024-08-06", "gpt-4o:latest", "gpt-4o-mini")))
    counted, percent = draw(tokens), draw(st.integers(70, 160))
    honest = min(max(counted * percent // 100, 1), MAX_TOKENS)
    return Usage(model=model, counted=counted, used=honest if draw(st.integers(0, 19)) else draw(tokens))


many = st.integers(0, 2 * NEWEST_REPORTS).flatmap(lambda number: st.lists(reports(), min_size=number, max_size=number))


@st.composite
def reported(draw: st.DrawFn, session: Session) -> Session:
    """The session with reports in it and in no session; some in another session, which must not count."""
    rows = [said_at(row, row.breadcrumb.place.sequence * BETWEEN) for row in session.rows]
    last = session.trigger.breadcrumb.place.sequence
    trigger = said_at(session.trigger, last * BETWEEN)
    found = []
    for number, said in enumerate(draw(many), 1):
        sequence = draw(st.integers(0, last)) * BETWEEN + number
        where = draw(st.sampled_from(("s42", "s42", "_", "elsewhere")))
        body = {"model": said.model, "counted": said.counted, "used": said.used}
        found.append(said_at(hear(1, USAGE, body, crumb=f"u{number}", session=where), sequence))
    everything = sorted((*rows, *found), key=lambda row: row.breadcrumb.place)
    before = [row for row in everything if row.breadcrumb.place < trigger.breadcrumb.place]
    return Session(tuple(before), trigger, tuple(everything[len(before) :]))


def said_at(row: StoredBreadcrumb, sequence: int) -> StoredBreadcrumb:
    place = Place(row.breadcrumb.place.incarnation, sequence)
    return replace(row, breadcrumb=replace(row.breadcrumb, place=place))


def make_builder(store: Store) -> ContextBuilder:
    renderings = {"o200k_base": make_rendering()}
    helpers = Functions(terms=make_terms, count=COUNT, renderings=renderings, ranker=BY_HAND, excluded=excluded, usage=usage)
    return ContextBuilder(store, HashingEmbedder(), (PROFILE,), helpers, HistoryCache(10_000))


async def contexts(session: Session, store: Store) -> list[Context]:
    """The context of one trigger, by the worker that saw it, after what came later, and by a fresh one."""
    worker = make_builder(store)
    found: list[Context] = []
    for row in session.rows:
        await worker.remember(row.breadcrumb)
    for builder, later in ((worker, ()), (worker, session.later), (make_builder(store), ())):
        for row in later:
            await builder.remember(row.breadcrumb)
        found += (await builder.build(session.trigger.breadcrumb, (PROFILE,))).contexts
    return found


def counting(said: list[Usage]) -> list[Usage]:
    """Those about the profile's model and about pages that are large enough, which a tokenizer can have made."""
    about = [report for report in said if report.model != "gpt-4o-mini" and report.counted >= MIN_TOKENS]
    return [report for report in about if report.counted / 2 <= report.used <= report.counted * 2]


def expected(session: Session) -> float:
    """The margin, by brute force."""
    crumbs = (row.breadcrumb for row in session.rows if row.breadcrumb.schema == USAGE)
    said = [usage(crumb)[0] for crumb in crumbs if crumb.session != "elsewhere"]
    newest = counting(said)[-NEWEST_REPORTS:]
    if len(newest) < MIN_REPORTS:
        return PROFILE.margin
    return min(max(1 - 1 / sorted(report.used / report.counted for report in newest)[-2], 0), MAX_MARGIN)


@examples(40)
@given(sessions(most=15).flatmap(reported))
def test_a_page_keeps_its_budget_and_is_the_same_bytes_at_any_time_from_any_worker_and_store(session: Session) -> None:
    file = durable_store()
    found = [context for store in (MemoryStore(), file) for context in asyncio.run(contexts(session, store))]
    file.close()
    assert len({encode(context) for context in found}) == 1
    assert len(found) == 6
    assert abs(found[0].margin - expected(session)) < 1e-12
    assert COUNT(found[0].markdown) == found[0].tokens <= found[0].budget * (1 - found[0].margin)


@examples(40)
@given(sessions(most=15).flatmap(reported))
def test_a_report_is_on_no_page_and_changes_nothing_but_the_room(session: Session) -> None:
    (context, *_) = asyncio.run(contexts(session, MemoryStore()))
    without = replace(session, rows=tuple(row for row in session.rows if row.breadcrumb.schema != USAGE), later=())
    fixed = replace(PROFILE, calibrate=None, margin=context.margin)
    (same,) = asyncio.run(plain(without, fixed))
    assert context.markdown == same.markdown
    assert context.omissions == same.omissions


async def plain(session: Session, profile: Profile) -> tuple[Context, ...]:
    builder = make_builder(MemoryStore())
    for row in session.rows:
        await builder.remember(row.breadcrumb)
    return (await builder.build(session.trigger.breadcrumb, (profile,))).contexts


@given(many, st.integers(16, 2_000_000), st.floats(0, 0.9))
def test_a_page_would_have_fitted_in_all_reports_but_one_unless_more_than_half_had_to_go(
    said: list[Usage], budget: int, margin: float
) -> None:
    profile = calibrated(replace(PROFILE, budget=budget, margin=margin), tuple(said))
    assert 0 <= profile.margin <= max(MAX_MARGIN, margin)
    assert profile.allowance <= budget
    if len(said) >= MIN_REPORTS and profile.margin < MAX_MARGIN:
        further_off = [report for report in said if report.used > report.counted]
        assert sum(profile.allowance * report.used > budget * report.counted for report in further_off) <= 1
