"""All ports of a store without a disk, in dictionaries."""

import json
from dataclasses import replace
from datetime import datetime

from builder.adapters.memory.finding import (
    Joined,
    Joins,
    belongs,
    in_order,
    inside,
    joins_of,
    of_model,
    oldest_first,
    pinned,
    shares,
    where,
)
from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place
from builder.domain.errors import Unavailable
from builder.domain.recall import EVERY_SESSION, Recall, RecallQuery
from builder.domain.removal import ids_by_session, is_same, made_from, removed_by, replaced_by
from builder.domain.stored_breadcrumb import Ended, StoredBreadcrumb, erased


class MemoryStore:
    """All ports of a store without a disk: the model of the other stores."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, int], StoredBreadcrumb] = {}
        self._watermarks: dict[tuple[str, str], Place] = {}
        self._attempts: dict[Place, int] = {}
        self._revisions: dict[tuple[str, str], int] = {}
        self._erased: dict[tuple[str, str, int], str] = {}
        self._owed: set[str] = set()
        self._joins: dict[str, Joins] = {}

    def close(self) -> None:
        """Nothing to close."""

    async def remember(self, remembered: StoredBreadcrumb) -> bool:
        """See the port."""
        crumb = remembered.breadcrumb
        key = (crumb.workspace, crumb.id, crumb.version)
        if key in self._rows:
            return False
        if any(where(row.breadcrumb) == where(crumb) for row in self._rows.values()):
            raise Unavailable(
                f"another breadcrumb stands at {crumb.place} of {crumb.workspace}/{crumb.session}; check the stream"
            )
        self._rows[key] = remembered
        if crumb.asks_for or crumb.may_join:
            self._revise(self._moved_by(crumb))
        return True

    def _moved_by(self, crumb: Breadcrumb) -> set[tuple[str, str]]:
        """The sessions whose rows change because what had joined one joins another, now that this one is known."""
        before = self._joined(crumb.workspace)
        self._joins.setdefault(crumb.workspace, Joins()).note(crumb)
        now = self._joined(crumb.workspace)
        moved = ((session, now[place]) for place, session in before.items() if now[place] != session)
        return {(crumb.workspace, session) for both in moved for session in (*both, NO_SESSION) if session}

    async def facts(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb | None:
        """See the port."""
        return self._rows.get((breadcrumb.workspace, breadcrumb.id, breadcrumb.version))

    async def recall(self, query: RecallQuery) -> Recall:
        """See the port."""
        rows = self._kept_of(query.scope.workspace)
        until = [row for row in rows if row.breadcrumb.place <= query.until]
        joined = self._joined(query.scope.workspace)
        known = [row.breadcrumb for key, row in self._rows.items() if key[0] == query.scope.workspace]
        later = (row for row in until if row.breadcrumb.place > query.after)
        held = [
            row for row in later if belongs(row.breadcrumb, query.scope, joined) or shares(row.breadcrumb, query.scope, known)
        ]
        return Recall(
            rows=tuple(
                replace(of_model(row, query.model), joins=joins_of(row.breadcrumb, joined)) for row in held[: query.limit]
            ),
            pinned=tuple(
                tuple(of_model(row, query.model) for row in pinned(until, wanted, query.session)) for wanted in query.pinned
            ),
            revision=sum(
                number
                for (workspace, session), number in self._revisions.items()
                if workspace == query.scope.workspace
                and (inside(session, query.scope) or (session == NO_SESSION and query.scope.shared))
            ),
        )

    async def places(self, workspace: str, session: str, after: Place, until: Place) -> frozenset[Place]:
        """See the port."""
        held = (row.breadcrumb for row in self._rows.values())
        return frozenset(
            crumb.place
            for crumb in held
            if crumb.workspace == workspace and session in (crumb.session, EVERY_SESSION) and after < crumb.place < until
        )

    async def count(self) -> int:
        """See the port."""
        return sum(row.breadcrumb.kind not in {"secret", "erased"} for row in self._rows.values())

    def _kept_of(self, workspace: str) -> list[StoredBreadcrumb]:
        """What was not erased, in place order."""
        held = (row for key, row in self._rows.items() if key[0] == workspace and key not in self._erased)
        return sorted(held, key=lambda row: in_order(row.breadcrumb))

    def _of_session(self, workspace: str, session: str) -> list[Breadcrumb]:
        """What was not erased of the session; NO_SESSION: of any."""
        return [row.breadcrumb for row in self._kept_of(workspace) if session in (NO_SESSION, row.breadcrumb.session)]

    async def missing_vectors(self, limit: int, after: Breadcrumb | None = None) -> tuple[StoredBreadcrumb, ...]:
        """See the port."""
        missing_vectors = (row for key, row in self._rows.items() if not row.model and key not in self._erased)
        bare = sorted(missing_vectors, key=lambda row: oldest_first(row.breadcrumb))
        behind = (row for row in bare if after is None or oldest_first(row.breadcrumb) > oldest_first(after))
        return tuple(behind)[:limit]

    async def fill_vectors(self, remembered: StoredBreadcrumb) -> bool:
        """See the port."""
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

    async def count_missing_vectors(self) -> int:
        """See the port."""
        return sum(not row.model and key not in self._erased for key, row in self._rows.items())

    async def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        """See the port."""
        walked: list[str] = []
        while identity and identity not in walked and len(walked) < limit:
            walked.append(identity)
            held = (row.breadcrumb for row in self._rows.values() if row.breadcrumb.id == identity)
            earlier = (crumb for crumb in held if crumb.workspace == workspace and crumb.place <= until)
            first = min(earlier, key=lambda crumb: crumb.place, default=None)
            identity = first.answers if first else ""
        return tuple(walked)

    async def versions(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        """See the port."""
        rows = self._kept_of(workspace)
        held = (row.breadcrumb for row in rows if row.breadcrumb.id == identity and not row.breadcrumb.removes)
        traces = [row.breadcrumb for row in self._rows.values()]
        return tuple(crumb for crumb in held if not any(removed_by(crumb, other) for other in traces))

    async def list_session(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, newest: bool
    ) -> tuple[Breadcrumb, ...]:
        """See the port."""
        kept = [row.breadcrumb for row in self._kept_of(workspace)]
        traces = [row.breadcrumb for row in self._rows.values()]
        found = [
            crumb
            for crumb in kept
            if crumb.session == session and not crumb.removes and span[0] < crumb.place < span[1]
            if not any(removed_by(crumb, other) for other in traces) and not any(replaced_by(crumb, other) for other in kept)
        ]
        return tuple(reversed(found) if newest else found)[:limit]

    async def vectors(self, breadcrumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        """See the port."""
        rows = (self._rows[crumb.workspace, crumb.id, crumb.version] for crumb in breadcrumbs)
        return tuple(tuple(held.vector for held in row.passages) if row.model == model else () for row in rows)

    async def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        """See the port."""
        inside = self._of_session(workspace, session)
        itself = [crumb for crumb in inside if crumb.id == identity and crumb.place < until]
        found = sorted((*itself, *made_from(inside, {identity})), key=in_order)
        self._take([(crumb, identity) for crumb in found])
        return tuple(found)

    async def traces(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        """See the port."""
        held = (self._rows[key].breadcrumb for key, reason in self._erased.items() if key[0] == workspace and reason == identity)
        return tuple(sorted(held, key=in_order))

    async def ended(self, moment: datetime) -> tuple[Ended, ...]:
        """See the port."""
        kept = [row for workspace in {key[0] for key in self._rows} for row in self._kept_of(workspace)]
        over = [row.breadcrumb for row in kept if row.breadcrumb.expires_at and row.breadcrumb.expires_at <= moment]
        found = [
            row for row in kept if any(is_same(row.breadcrumb, crumb) and row.breadcrumb.place <= crumb.place for crumb in over)
        ]
        gone = {where(row.breadcrumb) for row in found}
        for (workspace, session), ids in ids_by_session(row.breadcrumb for row in found).items():
            gone |= {where(crumb) for crumb in made_from(self._of_session(workspace, session), ids)}
        ended = (row for row in kept if where(row.breadcrumb) in gone)
        ordered = sorted(ended, key=lambda row: (*in_order(row.breadcrumb), row.breadcrumb.workspace))
        return tuple(Ended(breadcrumb=row.breadcrumb, size=self._size(row)) for row in ordered)

    async def purge(self, ended: tuple[Ended, ...]) -> None:
        """See the port."""
        self._take([(item.breadcrumb, item.breadcrumb.id) for item in ended])

    def _take(self, crumbs: list[tuple[Breadcrumb, str]]) -> None:
        for crumb, reason in crumbs:
            key = (crumb.workspace, crumb.id, crumb.version)
            self._rows[key] = StoredBreadcrumb(breadcrumb=erased(crumb), passages=(), model="", fingerprint=b"")
            self._erased[key] = reason
        self._revise(set().union(*(self._sessions_of(crumb) for crumb, _ in crumbs)))

    def _size(self, row: StoredBreadcrumb) -> int:
        crumb = row.breadcrumb
        lists = (crumb.tags, crumb.calls, crumb.pointers, crumb.call_signatures, crumb.covers)
        texts = (crumb.body, crumb.text, *map(json.dumps, lists), *(held.terms for held in row.passages))
        vectors = sum(len(held.vector) for held in row.passages)
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) + vectors

    async def add_stub(self, subject: str) -> None:
        """See the port."""
        self._owed.add(subject)

    async def pending_stubs(self) -> tuple[str, ...]:
        """See the port."""
        return tuple(sorted(self._owed))

    async def remove_stub(self, subject: str) -> None:
        """See the port."""
        self._owed.discard(subject)

    async def watermark(self, workspace: str, session: str) -> Place:
        """See the port."""
        return self._watermarks.get((workspace, session), ORIGIN)

    async def advance(self, workspace: str, session: str, place: Place) -> None:
        """See the port."""
        self._watermarks[workspace, session] = max(place, await self.watermark(workspace, session))

    async def start_attempt(self, place: Place) -> int:
        """See the port."""
        self._attempts[place] = self._attempts.get(place, 0) + 1
        return self._attempts[place]

    async def undo_attempt(self, place: Place) -> None:
        """See the port."""
        if place in self._attempts:
            self._attempts[place] = max(self._attempts[place] - 1, 0)

    async def clear_attempts(self, place: Place) -> None:
        """See the port."""
        self._attempts.pop(place, None)
