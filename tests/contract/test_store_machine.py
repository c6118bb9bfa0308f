"""Whatever is done to them in whatever order, SQLite and PostgreSQL answer what a plain model answers, and both the same."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from builder.adapters.sql.store import SqlStore
from builder.domain.breadcrumb import Place
from builder.domain.errors import Rejected, Unavailable
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope
from builder.domain.selector import Pinned, Selector
from builder.domain.stored import StoredBreadcrumb
from tests.contract.store_model import StoreModel
from tests.examples import examples
from tests.factories import MORNING, bare, make_breadcrumb, remembered_of
from tests.stores import durable_store, shared_store

T = TypeVar("T")

SESSIONS = ("s1", "s2", "_")
SCHEMAS = ("user.message.v1", "tool.catalog.v1", "note.v1", "summary.v1")
MODELS = ("new/int8/2", "old/fp32/1")

workspaces = st.sampled_from(("acme", "rival"))
sessions = st.sampled_from(SESSIONS)
ids = st.sampled_from(("a", "b", "c", "d"))
tags = st.lists(st.sampled_from(("pinned", "task", "ü")), max_size=3).map(tuple)
some_schemas = st.lists(st.sampled_from(SCHEMAS), max_size=2, unique=True).map(tuple)
selectors = st.builds(Selector, schemas=some_schemas, ids=st.lists(ids, max_size=2).map(tuple), any_tags=tags, all_tags=tags)
kinds = st.builds(
    Pinned,
    selector=selectors.filter(lambda each: each.schemas or each.ids or each.any_tags or each.all_tags),
    keep=st.sampled_from(("latest", 2, "all")),
    section=st.just(""),
)
models = st.sampled_from(MODELS)
some_sessions = st.sampled_from((("s1",), ("s2",), ("_", "s1"), (EVERY_SESSION,)))
scopes = st.one_of(
    st.builds(Scope, workspace=workspaces, sessions=some_sessions),
    st.builds(Scope, workspace=workspaces, sessions=st.sampled_from(((), ("s1",))), user=st.sampled_from(("u1", "u2"))),
)
places = st.builds(Place, st.integers(0, 2), st.integers(0, 9))
moments = st.integers(0, 5).map(lambda hours: MORNING + timedelta(hours=hours))
texts = st.sampled_from(("", "Yes.", "I moved to Lisbon.", "我昨天在上海。", "A\x00B 👍🏽", "One sentence of many. " * 120))


def answer_of(answer: Callable[[], T]) -> T | str:
    """What it returns, or that the store refused, and why."""
    try:
        return answer()
    except Rejected as refusal:
        return str(refusal)
    except Unavailable:
        return "unavailable"


def place_in(session: str, place: Place) -> Place:
    """A place of this session alone: the stream gives each number once."""
    return Place(place.incarnation, place.sequence * len(SESSIONS) + SESSIONS.index(session))


class Stores(RuleBasedStateMachine):
    """A model, and stores that answer the same: SQLite alone."""

    makes: tuple[Callable[[], SqlStore], ...] = (durable_store,)

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.model = StoreModel()
        self.stores = [make() for make in self.makes]
        self.rows: list[StoredBreadcrumb] = []
        self.filled: list[StoredBreadcrumb] = []

    @rule(
        workspace=workspaces,
        session=sessions,
        crumb=ids,
        version=st.integers(1, 3),
        place=places,
        schema=st.sampled_from(SCHEMAS),
        text=texts,
        removes=st.one_of(st.just(""), ids),
        tags=tags,
        model=st.one_of(models, st.just("")),
        answers=st.one_of(st.just(""), ids),
        covers=st.lists(ids, max_size=2).map(tuple),
        expires_at=st.one_of(st.none(), moments),
        calls=st.lists(st.sampled_from(("r1", "r2")), max_size=2).map(tuple),
        asks=st.booleans(),
        utc_offset=st.none() | st.integers(-1439, 1439),
        user_id=st.sampled_from(("", "u1", "u2")),
        private=st.booleans(),
        keeps=st.integers(0, 3).map(bool),
    )
    def remember(self, workspace: str, session: str, place: Place, crumb: str, text: str, model: str, **fields: Any) -> None:
        fields["call_signatures"] = fields["calls"] if fields.pop("asks") else ()
        first = self.model.identity(workspace, crumb).first
        if fields.pop("keeps") and first:
            session = first.session
            fields |= {"schema": first.schema, "user_id": first.user_id}
        where = place_in(session, place)
        row = remembered_of(make_breadcrumb(text, workspace=workspace, session=session, place=where, id=crumb, **fields), model)
        row = row if model else bare(row)
        self.rows.append(row)
        self.same("remember", row)

    @rule(number=st.integers(0, 99))
    def remember_again(self, number: int) -> None:
        if self.rows:
            row = self.rows[number % len(self.rows)]
            self.same("remember", row)

    @rule(numbers=st.lists(st.integers(0, 99), max_size=3), place=places)
    def remember_many_again_elsewhere(self, numbers: list[int], place: Place) -> None:
        rows = [self.rows[number % len(self.rows)] for number in numbers if self.rows]
        crumbs = [replace(row.breadcrumb, version=4, place=place_in(row.breadcrumb.session, place)) for row in rows]
        moved = tuple(replace(row, breadcrumb=crumb) for row, crumb in zip(rows, crumbs, strict=True))
        self.same("remember_all", moved)

    @rule(number=st.integers(0, 9), model=models)
    def fill_vectors(self, number: int, model: str) -> None:
        held = self.model.missing_vectors(10)
        if held:
            row = remembered_of(held[number % len(held)].breadcrumb, model)
            self.same("fill_vectors", row)
            self.filled.append(row)

    @rule(number=st.integers(0, 99), model=models)
    def fill_again(self, number: int, model: str) -> None:
        if self.filled:
            row = remembered_of(self.filled[number % len(self.filled)].breadcrumb, model)
            self.same("fill_vectors", row)

    @rule(limit=st.integers(0, 4), number=st.integers(0, 99))
    def ask_for_what_lacks_vectors(self, limit: int, number: int) -> None:
        after = self.rows[number % len(self.rows)].breadcrumb if self.rows and number % 3 else None
        self.same("missing_vectors", limit, after)

    @rule(numbers=st.lists(st.integers(0, 99), max_size=3), model=models)
    def ask_for_vectors(self, numbers: list[int], model: str) -> None:
        rows = (self.model.facts(self.rows[number % len(self.rows)].breadcrumb) for number in numbers if self.rows)
        self.same("vectors", tuple(row.breadcrumb for row in rows if row), model)

    @rule(workspace=workspaces, session=sessions, user=st.sampled_from(("u1", "u2")), until=places)
    def ask_for_people(self, workspace: str, session: str, user: str, until: Place) -> None:
        self.agreed("is_memory", workspace, session, user, until)
        self.agreed("first_speaker", workspace, session, until)
        self.agreed("sessions_of", workspace, user)
        self.agreed("latest", workspace, until, 2)

    @rule(number=st.integers(0, 99))
    def ask_for_facts(self, number: int) -> None:
        if self.rows:
            crumb = self.rows[number % len(self.rows)].breadcrumb
            self.same("facts", crumb)

    @rule(
        scope=scopes,
        session=sessions,
        after=places,
        until=st.builds(Place, st.integers(0, 3), st.integers(0, 30)),
        limit=st.integers(1, 6),
        pinned=st.lists(kinds, max_size=3, unique=True).map(tuple),
        model=models,
    )
    def recall(self, **asked: Any) -> None:
        query = RecallQuery(**asked)
        self.agreed("recall", query)
        scope, whole = query.scope, self.agreed("recall", replace(query, limit=1000))
        kinds = [self.model.pinned(scope.workspace, query.session, query.until, kind, query.model) for kind in query.pinned]
        assert [list(rows) for rows in whole.pinned] == kinds
        if not scope.user:
            own = [row for row in whole.rows if EVERY_SESSION in scope.sessions or row.breadcrumb.session in scope.sessions]
            span = query.after, query.until
            expected = self.model.recalled(scope.workspace, scope.sessions, span, query.model)
            assert [replace(row, joins="") for row in own] == expected

    @rule(
        workspace=workspaces,
        session=st.sampled_from((*SESSIONS, EVERY_SESSION)),
        after=places,
        until=st.builds(Place, st.integers(0, 3), st.integers(0, 30)),
    )
    def ask_for_places(self, workspace: str, session: str, after: Place, until: Place) -> None:
        self.same("places", workspace, session, after, until)

    @rule(workspace=workspaces, session=sessions, crumb=ids, until=st.builds(Place, st.integers(0, 3), st.integers(0, 30)))
    def erase(self, workspace: str, session: str, crumb: str, until: Place) -> None:
        self.same("erase", workspace, session, crumb, until)
        self.same("traces", workspace, crumb)

    @rule(moment=moments, purge=st.booleans())
    def end(self, moment: datetime, purge: bool) -> None:
        over = self.model.ended(moment)
        for store in self.stores:
            # PostgreSQL keeps a NUL as five bytes.
            found = tuple(
                replace(item, size=mine.size) for item, mine in zip(self.answer(store, "ended", moment), over, strict=True)
            )
            assert found == over
        assert self.answer(self.stores[0], "ended", moment) == over
        if purge:
            self.same("purge", over)

    @rule(workspace=workspaces, crumb=ids, until=st.builds(Place, st.integers(0, 3), st.integers(0, 30)), limit=st.integers(0, 5))
    def follow(self, workspace: str, crumb: str, until: Place, limit: int) -> None:
        self.same("chain", workspace, crumb, until, limit)
        self.same("versions", workspace, crumb)

    @rule(
        workspace=workspaces,
        session=sessions,
        after=places,
        until=st.builds(Place, st.integers(0, 3), st.integers(0, 30)),
        limit=st.integers(0, 5),
        newest=st.booleans(),
    )
    def tell(self, workspace: str, session: str, after: Place, until: Place, limit: int, newest: bool) -> None:
        asked = (workspace, session, (after, until), limit, newest)
        self.same("list_session", *asked)

    @rule(subject=ids, paid=st.booleans())
    def add_stub(self, subject: str, paid: bool) -> None:
        for step in ("add_stub", "remove_stub") if paid else ("add_stub",):
            self.same(step, subject)
        self.same("pending_stubs")

    @rule(workspace=workspaces, session=sessions, place=places)
    def advance(self, workspace: str, session: str, place: Place) -> None:
        self.same("advance", workspace, session, place)
        self.same("watermark", workspace, session)

    @rule(
        place=st.builds(Place, st.just(1), st.integers(1, 2)),
        step=st.sampled_from(("start_attempt", "start_attempt", "undo_attempt", "clear_attempts")),
    )
    def attempt(self, place: Place, step: str) -> None:
        self.same(step, place)

    @invariant()
    def both_hold_as_much(self) -> None:
        self.agreed("count")
        self.agreed("count_missing_vectors")

    @rule(place=places)
    def compare_what_a_rebuild_reads(self, place: Place) -> None:
        self.same("count_before", place)
        self.agreed("call_origins", place.incarnation)

    def same(self, method: str, *arguments: Any) -> None:
        """Every store answers what the model answers."""
        expected = answer_of(lambda: getattr(self.model, method)(*arguments))
        assert self.agreed(method, *arguments) == expected

    def agreed(self, method: str, *arguments: Any) -> Any:
        """The answer that all stores give."""
        answer, *others = [self.answer(store, method, *arguments) for store in self.stores]
        assert all(other == answer for other in others)
        return answer

    def answer(self, store: SqlStore, method: str, *arguments: Any) -> Any:
        return answer_of(lambda: self.runner.run(getattr(store, method)(*arguments)))

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.runner.close()


class PostgresStores(Stores):
    makes = (durable_store, shared_store)


TestPostgresStores = PostgresStores.TestCase
TestPostgresStores.settings = examples(50, stateful_step_count=25)
TestStores = Stores.TestCase
TestStores.settings = examples(100, stateful_step_count=25)
