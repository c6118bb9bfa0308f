"""Workspaces that are too large to be read whole are read in two stages.

A sketch of every passage gives candidates by meaning and by words. They are read with what stands around them, with all later
versions, and with the whole session of the trigger; the search then ranks these rows exactly, as it ranks a workspace that was
read whole. Decision 17 has what that loses.
"""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place
from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope
from builder.domain.selector import Pinned
from builder.domain.stored import PassageFacts, StoredBreadcrumb
from builder.ports.models import NO_MODEL
from builder.recall.histories import HistoryReader, PinnedRows
from builder.recall.index.chronology import in_order_of_time
from builder.recall.index.conversation import last_row_of_person
from builder.recall.index.history import History
from builder.recall.index.sketch import Filter, Key, Sketches
from builder.recall.index.view import View, as_of
from builder.recall.keyed_lock import KeyedLock
from builder.recall.search.query import Query, Searcher

MAX_ROWS = 20_000
"""Breadcrumbs up to which a workspace is read whole."""
NEAREST, HOLDING = 300, 150
"""Candidates by meaning, and by words."""
REACH = 2
"""Breadcrumbs that are read before and after each candidate in its session."""
NEWEST = 200
"""Newest breadcrumbs of no session that are read for a trigger of no session."""
PAGE_ROWS = 5_000
"""Breadcrumbs of which passages are read at once."""
REACH_OF_CALLS = 20
"""Breadcrumbs around a call without its results, or a result without its call, that are read for the rest of the exchange."""
MAX_PASSAGES = 20_000_000
"""Passages of all sketches together, 160 to 330 bytes each; the workspace that was read last stays whatever its size is."""
WAITING = 64
"""Breadcrumbs without vectors that one look asks for."""


class _Sketch:
    """The passages of a workspace up to a place."""

    def __init__(self) -> None:
        self.place = ORIGIN
        self.revisions: Mapping[str, int] = {}
        self.indexed = Sketches()
        self.waiting = Sketches()
        """Breadcrumbs with a passage that has no vector yet: they are found by words alone."""

    def __len__(self) -> int:
        return len(self.indexed) + len(self.waiting)

    def add(self, rows: Sequence[PassageFacts], *, has_model: bool) -> None:
        """Append passages of whole breadcrumbs."""
        lacking = {Key(row.session, row.place) for row in rows if has_model and row.terms and not row.vector}
        waiting = [row for row in rows if lacking and Key(row.session, row.place) in lacking]
        self.waiting.add(waiting)
        self.indexed.add([row for row in rows if Key(row.session, row.place) not in lacking] if lacking else rows)

    def candidates(self, query: Query, filtering: Filter) -> dict[str, frozenset[Place]]:
        """Places by session."""
        terms = query.words
        keys = (
            *self.indexed.nearest(query.vector, NEAREST, filtering),
            *self.indexed.holding(terms, HOLDING, filtering),
            *self.waiting.holding(terms, HOLDING, filtering),
        )
        return _by_session(keys)


class Workspaces:
    """Reads large workspaces. All methods raise `Unavailable`."""

    def __init__(self, reader: HistoryReader, searcher: Searcher) -> None:
        self._reader = reader
        self._store = reader.store
        self._searcher = searcher
        self.max_rows = MAX_ROWS
        """Breadcrumbs up to which a workspace is read whole."""
        self._sketches: OrderedDict[str, _Sketch] = OrderedDict()
        self._locks = KeyedLock[str]()

    async def is_large(self, scope: Scope, until: Place) -> bool:
        """Whether the scope is a workspace that is not read whole."""
        return scope.sessions == (EVERY_SESSION,) and await self._store.outgrows(scope.workspace, self.max_rows, until)

    async def read(
        self, trigger: Breadcrumb, until: Place, profile: Profile, pinned: tuple[Pinned, ...], *, inclusive: bool
    ) -> tuple[PinnedRows, View]:
        """As `HistoryReader.read`: what may answer the trigger, and its session."""
        scope = Scope(workspace=trigger.workspace, sessions=(trigger.session,))
        if trigger.session == NO_SESSION:
            rows, own, of_session = await self._of_no_session(scope, until, pinned)
        else:
            rows, own = await self._reader.read(trigger.session, until, scope, pinned, inclusive=inclusive)
            query = RecallQuery(
                scope=scope, session=trigger.session, after=ORIGIN, until=until, limit=1, pinned=(), model=self._reader.model
            )
            of_session = await self._reader.rows(query)
        places = await self._candidates(trigger, until, profile, own, inclusive=inclusive) if profile.searches else {}
        stretches = await self._stretches(trigger.workspace, places, until)
        every = {_key(row): row for row in (*stretches, *of_session)}
        history, in_place_order = History(), sorted(every.values(), key=lambda row: (*row.order, row.breadcrumb.session))
        for _ in history.extending(tuple(in_order_of_time(in_place_order))):
            await asyncio.sleep(0)
        return rows, as_of(history, until, trigger.session, inclusive=inclusive)

    async def _stretches(
        self, workspace: str, places: Mapping[str, frozenset[Place]], until: Place
    ) -> tuple[StoredBreadcrumb, ...]:
        """The rows around these places, without calls and results that are not whole."""
        model = self._reader.model
        rows = await self._store.stretches(workspace, places, REACH, until, model)
        if broken := _incomplete(rows):
            rows += await self._store.stretches(workspace, _by_session(broken), REACH_OF_CALLS, until, model)
            rows = tuple({_key(row): row for row in rows}.values())
        while broken := _incomplete(rows):  # a call that goes leaves its other results behind
            rows = tuple(row for row in rows if _key(row) not in broken)
        return rows

    async def _of_no_session(
        self, scope: Scope, until: Place, pinned: tuple[Pinned, ...]
    ) -> tuple[PinnedRows, View, tuple[StoredBreadcrumb, ...]]:
        """Not whole: it may have as many notes as the workspace has messages."""
        model = self._reader.model
        query = RecallQuery(scope=scope, session=NO_SESSION, after=until, until=until, limit=1, pinned=pinned, model=model)
        newest = await self._store.list_session(scope.workspace, NO_SESSION, (ORIGIN, until.next), NEWEST, newest=True)
        places = {NO_SESSION: frozenset((until, *(crumb.place for crumb in newest)))}
        rows = await self._store.stretches(scope.workspace, places, 1, until, model)
        return (await self._store.recall(query)).pinned, as_of(History(), until, NO_SESSION), rows

    async def _candidates(
        self, trigger: Breadcrumb, until: Place, profile: Profile, own: View, *, inclusive: bool
    ) -> dict[str, frozenset[Place]]:
        person = last_row_of_person(own) if trigger.role == "tool" else -1
        text = own.breadcrumb(person).text if person >= 0 else trigger.text  # results are no question
        query = await self._searcher.query(text, own, profile, Scope(workspace=trigger.workspace, sessions=()), {})
        filtering = Filter(until=until.next if inclusive else until, schemas=frozenset(profile.retrieval.schemas))
        async with self._locks.of(trigger.workspace):
            try:
                sketch = await self._sketch(trigger.workspace, until if inclusive else until.previous)
            except BaseException:
                self._sketches.pop(trigger.workspace, None)  # half of a page may be in it
                raise
            return await asyncio.to_thread(sketch.candidates, query, filtering)

    async def _sketch(self, workspace: str, until: Place) -> _Sketch:
        sketch = self._sketches.setdefault(workspace, _Sketch())
        self._sketches.move_to_end(workspace)
        await self._revise(sketch, workspace)
        while sketch.place < until:
            span = (sketch.place, until)
            sketch.place = await self._add(sketch, workspace, EVERY_SESSION, span)
        await self._fill(sketch, workspace)
        passages = sum(map(len, self._sketches.values()))
        while len(self._sketches) > 1 and passages > MAX_PASSAGES:
            passages -= len(self._sketches.popitem(last=False)[1])
        return sketch

    async def _fill(self, sketch: _Sketch, workspace: str) -> None:
        """Ask for the vectors of breadcrumbs that lacked them."""
        while keys := sketch.waiting.keys(WAITING):
            before = len(sketch.waiting)
            for key in keys:
                await asyncio.to_thread(sketch.waiting.drop, frozenset((key.session,)), key.place)
                await self._add(sketch, workspace, key.session, (key.place.previous, key.place))
            if len(sketch.waiting) == before:
                return

    async def _revise(self, sketch: _Sketch, workspace: str) -> None:
        """Read sessions again of which rows have changed since: something was erased, or has moved."""
        revisions = await self._store.revisions(workspace)
        changed = frozenset(name for name, number in revisions.items() if sketch.revisions.get(name) != number)
        sketch.revisions = revisions
        if not (len(sketch) and changed):
            return
        for each in (sketch.indexed, sketch.waiting):
            await asyncio.to_thread(each.drop, changed)
        for session in sorted(changed):
            after = ORIGIN
            while after < sketch.place:
                after = await self._add(sketch, workspace, session, (after, sketch.place))

    async def _add(self, sketch: _Sketch, workspace: str, session: str, span: tuple[Place, Place]) -> Place:
        model = self._reader.model
        rows, end = await self._store.passages(workspace, session, span, PAGE_ROWS, model)
        await asyncio.to_thread(sketch.add, rows, has_model=model != NO_MODEL)
        return end


def _by_session(keys: Iterable[Key]) -> dict[str, frozenset[Place]]:
    places: defaultdict[str, set[Place]] = defaultdict(set)
    for key in keys:
        places[key.session].add(key.place)
    return {session: frozenset(of_session) for session, of_session in places.items()}


def _incomplete(rows: Iterable[StoredBreadcrumb]) -> frozenset[Key]:
    """Results whose call, and calls of which a result, is not among the rows."""
    of_tools = [row for row in rows if row.breadcrumb.calls]
    calls = {(_home(row), call) for row in of_tools for call in row.breadcrumb.asks_for}
    results = {(_home(row), call) for row in of_tools if not row.breadcrumb.asks_for for call in row.breadcrumb.calls}
    return frozenset(
        _key(row)
        for row in of_tools
        if any((_home(row), call) not in (results if row.breadcrumb.asks_for else calls) for call in row.breadcrumb.calls)
    )


def _key(row: StoredBreadcrumb) -> Key:
    return Key(row.breadcrumb.session, row.breadcrumb.place)


def _home(row: StoredBreadcrumb) -> str:
    return row.joins or row.breadcrumb.session
