"""All ports of a store without a disk, in dictionaries."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain

from typing_extensions import override

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.errors import Unavailable
from builder.domain.recall import EVERY_SESSION, Ended, Recall, RecallQuery, StoredBreadcrumb, erased
from builder.domain.summary import ids_by_session, made_from
from builder.ports.store import CallOrigin, CompleteStore
from tests.memory_store import people
from tests.memory_store.editions import MemoryEditions
from tests.memory_store.people import MemoryPeople
from tests.memory_store.progress import MemoryProgress
from tests.memory_store.queries import (
    AFTER_ALL,
    Joined,
    Joins,
    belongs_to_scope,
    by_order,
    by_place,
    is_in_scope,
    is_shared_by,
    is_trace,
    joins_of,
    key_of,
    of_model,
    of_query,
    oldest_first,
    pinned,
    size_of,
)  # fmt: skip
from tests.memory_store.removal import is_same, removed_by, replaced_by
from tests.memory_store.workspace import MemoryWorkspaceReader


class MemoryStore(MemoryProgress, MemoryEditions, MemoryPeople, MemoryWorkspaceReader, CompleteStore):
    """All ports of a store without a disk: the model of the other stores."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[tuple[str, str, int], StoredBreadcrumb] = {}
        self._revisions: dict[tuple[str, str], int] = {}
        self._erased: dict[tuple[str, str, int], str] = {}
        self._joins: dict[str, Joins] = {}

    def close(self) -> None:
        """Nothing."""

    @override
    async def check(self) -> str:
        return ""

    @property
    @override
    def refusal(self) -> str:
        return ""

    @override
    def size_bytes(self) -> int:
        return sum(map(size_of, self._rows.values()))

    @override
    def free_bytes(self) -> int | None:
        return None

    @override
    async def remember_all(self, rows: tuple[StoredBreadcrumb, ...]) -> int:
        before = deepcopy((self._rows, self._joins, self._revisions))
        try:
            return sum([await self.remember(row) for row in rows])
        except Unavailable:
            self._rows, self._joins, self._revisions = before
            raise

    @override
    async def remember(self, remembered: StoredBreadcrumb) -> bool:
        crumb = remembered.breadcrumb
        key = (crumb.workspace, crumb.id, crumb.version)
        if key in self._rows:
            return False
        if any(key_of(row.breadcrumb) == key_of(crumb) for row in self._rows.values()):
            raise Unavailable(
                f"another breadcrumb stands at {crumb.place} of {crumb.workspace}/{crumb.session}; check the stream"
            )
        self._rows[key] = remembered
        if crumb.asks_for or crumb.may_join:
            self._revise(self._moved_by(crumb.workspace, lambda joins: joins.note(crumb)))
        return True

    def _moved_by(self, workspace: str, note: Callable[[Joins], object]) -> set[tuple[str, str]]:
        """The sessions whose rows change because what had joined one joins another, now that this is noted."""
        joins = self._joins.setdefault(workspace, Joins())
        before, _, now = joins.joined(), note(joins), joins.joined()
        changes = [(*both, NO_SESSION) for place, old in before.items() if (both := (old, now[place])) and old != now[place]]
        return {(workspace, session) for sessions in changes for session in sessions if session}

    @override
    async def facts(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb | None:
        return self._rows.get((breadcrumb.workspace, breadcrumb.id, breadcrumb.version))

    @override
    async def recall(self, query: RecallQuery) -> Recall:
        until = [row for row in self._remaining(query.scope.workspace) if row.breadcrumb.place <= query.until]
        traces = (self._rows[key] for key in self._erased if key[0] == query.scope.workspace)
        answers = [row for row in traces if is_trace(row.breadcrumb, query.until)]
        joined = self._joined(query.scope.workspace)
        crumbs = [row.breadcrumb for key, row in self._rows.items() if key[0] == query.scope.workspace]
        places = people.first_words(query, crumbs)
        scope = people.with_sessions(query.scope, places)
        in_scope = (
            people.as_entered(row, joins_of(row.breadcrumb, joined) or row.breadcrumb.session, query.scope, places, crumbs)
            for row in (*until, *answers)
            if belongs_to_scope(row.breadcrumb, scope, joined) or is_shared_by(row.breadcrumb, scope, crumbs)
        )
        matches = sorted((row for row in in_scope if row is not None and people.comes_with(row) > query.after), key=by_order)
        page = people.first_rows(matches, query.limit)
        return Recall(
            rows=tuple(replace(of_query(row, query), joins=joins_of(row.breadcrumb, joined)) for row in page),
            pinned=tuple(
                tuple(of_model(row, query.model) for row in pinned(until, kind, query.session)) for kind in query.pinned
            ),
            revision=sum(
                number
                for (workspace, session), number in self._revisions.items()
                if workspace == query.scope.workspace
                and (query.scope.user or is_in_scope(session, query.scope) or (session == NO_SESSION and query.scope.shared))
            ),
        )

    @override
    async def places(self, workspace: str, session: str, after: Place, until: Place) -> frozenset[Place]:
        return frozenset(
            crumb.place
            for crumb in (row.breadcrumb for row in self._rows.values())
            if crumb.workspace == workspace and session in (crumb.session, EVERY_SESSION) and after < crumb.place < until
        )

    @override
    async def count(self) -> int:
        return await self.count_before(AFTER_ALL)

    @override
    async def count_before(self, place: Place) -> int:
        crumbs = (row.breadcrumb for row in self._rows.values())
        return sum(crumb.kind not in {"secret", "erased"} and crumb.place < place for crumb in crumbs)

    @override
    async def models(self) -> frozenset[str]:
        return frozenset(row.model for row in self._rows.values())

    @override
    async def call_origins(self, incarnation: int) -> tuple[CallOrigin, ...]:
        origins = chain.from_iterable(joins.origins(workspace) for workspace, joins in self._joins.items())
        return tuple(sorted(origin for origin in origins if origin.incarnation == incarnation))

    @override
    async def add_call_origins(self, origins: tuple[CallOrigin, ...]) -> None:
        for origin in origins:
            self._revise(self._moved_by(origin.workspace, partial(Joins.add, origin=origin)))

    def _remaining(self, workspace: str) -> list[StoredBreadcrumb]:
        """What was not erased, in place order."""
        rows = (row for key, row in self._rows.items() if key[0] == workspace and key not in self._erased)
        return sorted(rows, key=lambda row: by_place(row.breadcrumb))

    def _of_session(self, workspace: str, session: str) -> list[Breadcrumb]:
        """What was not erased of the session; NO_SESSION: of any."""
        return [row.breadcrumb for row in self._remaining(workspace) if session in (NO_SESSION, row.breadcrumb.session)]

    @override
    async def missing_vectors(self, limit: int, after: Breadcrumb | None = None) -> tuple[StoredBreadcrumb, ...]:
        missing_vectors = (row for key, row in self._rows.items() if not row.model and key not in self._erased)
        bare = sorted(missing_vectors, key=lambda row: oldest_first(row.breadcrumb))
        behind = (row for row in bare if after is None or oldest_first(row.breadcrumb) > oldest_first(after))
        return tuple(behind)[:limit]

    @override
    async def fill_vectors(self, remembered: StoredBreadcrumb) -> bool:
        crumb = remembered.breadcrumb
        key = (crumb.workspace, crumb.id, crumb.version)
        if self._rows[key].model or key in self._erased:
            return False
        self._rows[key] = remembered
        return True

    def _revise(self, sessions: set[tuple[str, str]]) -> None:
        for session in sessions:
            self._revisions[session] = self._revisions.get(session, 0) + 1

    def _joined(self, workspace: str) -> Joined:
        return self._joins[workspace].joined() if workspace in self._joins else {}

    def _sessions_of(self, crumb: Breadcrumb) -> set[tuple[str, str]]:
        """Its own, and that which it joined."""
        joined = self._joined(crumb.workspace).get(crumb.place, "") if crumb.session == NO_SESSION else ""
        return {(crumb.workspace, session) for session in (crumb.session, joined) if session}

    @override
    async def count_missing_vectors(self) -> int:
        return sum(not row.model and key not in self._erased for key, row in self._rows.items())

    @override
    async def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        walked: list[str] = []
        while identity and identity not in walked and len(walked) < limit:
            walked.append(identity)
            versions = (row.breadcrumb for row in self._rows.values() if row.breadcrumb.id == identity)
            earlier = (crumb for crumb in versions if crumb.workspace == workspace and crumb.place <= until)
            first = min(earlier, key=lambda crumb: crumb.place, default=None)
            identity = first.answers if first else ""
        return tuple(walked)

    @override
    async def versions(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        rows = self._remaining(workspace)
        versions = (row.breadcrumb for row in rows if row.breadcrumb.id == identity and not row.breadcrumb.removes)
        return tuple(crumb for crumb in versions if not any(removed_by(crumb, row.breadcrumb) for row in self._rows.values()))

    @override
    async def list_session(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, newest: bool
    ) -> tuple[Breadcrumb, ...]:
        remaining, traces = ([row.breadcrumb for row in rows] for rows in (self._remaining(workspace), self._rows.values()))
        matches = [
            crumb
            for crumb in remaining
            if crumb.session == session and not crumb.removes and span[0] < crumb.place < span[1]
            if not any(removed_by(crumb, other) for other in traces) and not any(replaced_by(crumb, other) for other in remaining)
        ]
        return tuple(reversed(matches) if newest else matches)[:limit]

    @override
    async def caller_session(self, answer: Breadcrumb) -> str:
        return self._joins.get(answer.workspace, Joins()).caller(answer.joins_by, answer.place)

    @override
    async def vectors(self, breadcrumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        rows = (self._rows[crumb.workspace, crumb.id, crumb.version] for crumb in breadcrumbs)
        return tuple(tuple(passage.vector for passage in row.passages) if row.model == model else () for row in rows)

    @override
    async def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        is_in_scope = self._of_session(workspace, session)
        itself = [crumb for crumb in is_in_scope if crumb.id == identity and crumb.place < until]
        matches = sorted((*itself, *made_from(is_in_scope, {identity})), key=by_place)
        self._take([(crumb, identity) for crumb in matches])
        return tuple(matches)

    @override
    async def traces(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        keys = [key for key, reason in self._erased.items() if key[0] == workspace and reason == identity]
        return tuple(sorted((self._rows[key].breadcrumb for key in keys), key=by_place))

    @override
    async def ended(self, moment: datetime) -> tuple[Ended, ...]:
        rows = [row for workspace in {key[0] for key in self._rows} for row in self._remaining(workspace)]
        over = [row.breadcrumb for row in rows if row.breadcrumb.expires_at and row.breadcrumb.expires_at <= moment]
        matches = [
            row for row in rows if any(is_same(row.breadcrumb, crumb) and row.breadcrumb.place <= crumb.place for crumb in over)
        ]
        places = {key_of(row.breadcrumb) for row in matches}
        for (workspace, session), ids in ids_by_session(row.breadcrumb for row in matches).items():
            places |= {key_of(crumb) for crumb in made_from(self._of_session(workspace, session), ids)}
        ended = (row for row in rows if key_of(row.breadcrumb) in places)
        ordered = sorted(ended, key=lambda row: (*by_place(row.breadcrumb), row.breadcrumb.workspace))
        return tuple(Ended(breadcrumb=row.breadcrumb, size=size_of(row)) for row in ordered)

    @override
    async def purge(self, ended: tuple[Ended, ...]) -> None:
        self._take([(item.breadcrumb, item.breadcrumb.id) for item in ended])

    def _take(self, crumbs: list[tuple[Breadcrumb, str]]) -> None:
        for crumb, reason in crumbs:
            key = (crumb.workspace, crumb.id, crumb.version)
            self._rows[key] = StoredBreadcrumb(breadcrumb=erased(crumb), passages=(), model="", fingerprint=b"")
            self._erased[key] = reason
        self._revise(set().union(*(self._sessions_of(crumb) for crumb, _ in crumbs)))
