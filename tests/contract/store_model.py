"""What a store answers, said again over a plain dictionary: the model of the state machine.

It knows sessions. People, and answers of no session that join one, have properties of their own.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from builder.adapters.sql.derivation import ids_by_session, made_from
from builder.domain.breadcrumb import MOVE, NO_SESSION, ORIGIN, SUMMARY, TOMBSTONE, Breadcrumb, Place
from builder.domain.erasure import Ended, erased
from builder.domain.errors import Rejected, Unavailable
from builder.domain.identity import Identity, displaces
from builder.domain.recall import EVERY_SESSION
from builder.domain.selector import Pinned
from builder.domain.stored import StoredBreadcrumb
from tests.contract.store_rules import (
    Key,
    by_place,
    closes,
    is_near,
    is_trace,
    is_version,
    key_of,
    of_model,
    oldest_first,
    position,
    removes,
    replaces,
    size,
)


class StoreModel:
    """The rows, why each was erased, and what a worker notes beside them."""

    def __init__(self) -> None:
        self._rows: dict[Key, StoredBreadcrumb] = {}
        self._erased: dict[Key, str] = {}
        self._watermarks: dict[tuple[str, str], Place] = {}
        self._attempts: dict[Place, int] = {}
        self._stubs: set[str] = set()

    def remember(self, row: StoredBreadcrumb) -> bool:
        crumb = row.breadcrumb
        there = self.identity(crumb.workspace, crumb.id)
        if there.is_closed(crumb):
            return self._leave(row)
        if self._has_closed_source(crumb):
            return False
        reason = there.conflict(crumb)
        if not reason and crumb.schema == TOMBSTONE and crumb.removes != crumb.id:
            reason = self.identity(crumb.workspace, crumb.removes).stray(crumb)
        if reason:
            raise Rejected(reason)
        before = dict(self._rows), dict(self._erased), dict(self._watermarks)
        try:
            self._make_way(crumb)
            held = self._rows.get(key_of(crumb))
            if held and key_of(crumb) not in self._erased and displaces(crumb, held.breadcrumb):
                self._remove(held.breadcrumb)
            return self._add(row)
        except Unavailable:
            self._rows, self._erased, self._watermarks = before
            raise

    def identity(self, workspace: str, name: str) -> Identity:
        """What is stored under an id: traces have a place, and say and close nothing."""
        identity = Identity()
        for key, row in self._rows.items():
            crumb = row.breadcrumb
            if crumb.workspace == workspace and (crumb.id == name or (crumb.removes == name and key not in self._erased)):
                identity = identity.with_crumb(crumb, name)
        return identity

    def _has_closed_source(self, crumb: Breadcrumb) -> bool:
        """Whether it is a summary of what a tombstone of its session or of none, or a trace of this version, closed."""
        if crumb.schema != SUMMARY or crumb.removes:
            return False
        closing = [
            (key, other.breadcrumb)
            for key, other in self._rows.items()
            if other.breadcrumb.schema != MOVE and is_near(other.breadcrumb, crumb)
        ]
        return any(
            other.removes == name and (key not in self._erased or other.version == 1)
            for name in crumb.covers
            for key, other in closing
        )

    def _leave(self, row: StoredBreadcrumb) -> bool:
        """The trace of what comes when its id is closed."""
        before = dict(self._rows), dict(self._erased), dict(self._watermarks)
        try:
            if self._add(row):
                self._take(((row.breadcrumb, row.breadcrumb.id),))
                self._make_way(erased(row.breadcrumb))
        except Unavailable:
            self._rows, self._erased, self._watermarks = before
            raise
        return False

    def _make_way(self, crumb: Breadcrumb) -> None:
        """What stands behind it and came first: what it closes becomes a trace, what may not stand behind it goes."""
        for name in {crumb.id, crumb.removes} - {""}:
            there = self.identity(crumb.workspace, name).with_crumb(crumb, name)
            rows = (row.breadcrumb for row in self._remaining(crumb.workspace))
            later = [each for each in rows if each.id == name and each.place > crumb.place]
            closed = [each for each in later if there.is_closed(each)]
            self._take((each, name) for each in closed)
            for each in later:
                if each not in closed and there.conflict(each):
                    self._remove(each)

    def _remove(self, crumb: Breadcrumb) -> None:
        """Its session is read again from there."""
        del self._rows[key_of(crumb)]
        mark = crumb.workspace, crumb.session
        if mark in self._watermarks:
            self._watermarks[mark] = min(self._watermarks[mark], crumb.place.previous)

    def _add(self, row: StoredBreadcrumb) -> bool:
        key = key_of(row.breadcrumb)
        if key in self._rows:
            return False
        if any(position(held.breadcrumb) == position(row.breadcrumb) for held in self._rows.values()):
            raise Unavailable("another breadcrumb stands there")
        nobody = replace(row.breadcrumb, user_id="") if row.breadcrumb.kind == "secret" else row.breadcrumb
        self._rows[key] = replace(row, breadcrumb=nobody)
        return True

    def remember_all(self, rows: tuple[StoredBreadcrumb, ...]) -> int:
        before = dict(self._rows)
        try:
            return sum(self._add(row) for row in rows)
        except Unavailable:
            self._rows = before
            raise

    def facts(self, crumb: Breadcrumb) -> StoredBreadcrumb | None:
        return self._rows.get(key_of(crumb))

    def recalled(
        self, workspace: str, sessions: tuple[str, ...], span: tuple[Place, Place], model: str
    ) -> list[StoredBreadcrumb]:
        """The rows of these sessions with `span[0] < place <= span[1]`, and the traces of their results."""
        rows = [row for key, row in self._rows.items() if key[0] == workspace and (key not in self._erased or is_trace(row))]
        within = (row for row in rows if span[0] < row.breadcrumb.place <= span[1])
        matches = (row for row in within if sessions == (EVERY_SESSION,) or row.breadcrumb.session in sessions)
        return [of_model(row, model) for row in sorted(matches, key=lambda row: by_place(row.breadcrumb))]

    def pinned(self, workspace: str, session: str, until: Place, kind: Pinned, model: str) -> list[StoredBreadcrumb]:
        """What the selector means of the session and of none, newest first."""
        sessions = (NO_SESSION,) if kind.of_no_session else (session, NO_SESSION)
        near = [
            row
            for row in self._remaining(workspace)
            if row.breadcrumb.place <= until and row.breadcrumb.session in sessions
        ]  # fmt: skip
        crumbs = [row.breadcrumb for row in near]
        found = [
            row
            for row in reversed(near)
            if kind.selector.matches(row.breadcrumb) and not row.breadcrumb.removes
            if not any(removes(other, row.breadcrumb) or replaces(other, row.breadcrumb) for other in crumbs)
        ]
        return [of_model(row, model) for row in found[: kind.limit]]

    def places(self, workspace: str, session: str, after: Place, until: Place) -> frozenset[Place]:
        crumbs = (row.breadcrumb for key, row in self._rows.items() if key[0] == workspace)
        return frozenset(
            crumb.place for crumb in crumbs if session in (crumb.session, EVERY_SESSION) and after < crumb.place < until
        )

    def count_before(self, place: Place) -> int:
        crumbs = (row.breadcrumb for row in self._rows.values())
        return sum(crumb.kind not in {"secret", "erased"} and crumb.place < place for crumb in crumbs)

    def missing_vectors(self, limit: int, after: Breadcrumb | None = None) -> tuple[StoredBreadcrumb, ...]:
        bare = [row for key, row in self._rows.items() if not row.model and key not in self._erased]
        behind = [row for row in bare if after is None or oldest_first(row.breadcrumb) > oldest_first(after)]
        return tuple(sorted(behind, key=lambda row: oldest_first(row.breadcrumb))[:limit])

    def fill_vectors(self, row: StoredBreadcrumb) -> bool:
        key = key_of(row.breadcrumb)
        if self._rows[key].model or key in self._erased:
            return False
        self._rows[key] = row
        return True

    def vectors(self, crumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        rows = (self._rows[key_of(crumb)] for crumb in crumbs)
        return tuple(tuple(passage.vector for passage in row.passages) if row.model == model else () for row in rows)

    def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        walked: list[str] = []
        while identity and identity not in walked and len(walked) < limit:
            walked.append(identity)
            versions = [row.breadcrumb for key, row in self._rows.items() if key[:2] == (workspace, identity)]
            first = min(
                (crumb for crumb in versions if crumb.place <= until), key=lambda crumb: crumb.place, default=None
            )  # fmt: skip
            identity = first.answers if first else ""
        return tuple(walked)

    def versions(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        remaining = (row.breadcrumb for row in self._remaining(workspace))
        return tuple(crumb for crumb in remaining if crumb.id == identity and not crumb.removes and not self._is_removed(crumb))

    def list_session(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, newest: bool
    ) -> tuple[Breadcrumb, ...]:
        remaining = [row.breadcrumb for row in self._remaining(workspace)]
        matches = [
            crumb
            for crumb in remaining
            if crumb.session == session and not crumb.removes and span[0] < crumb.place < span[1]
            if not self._is_removed(crumb) and not any(replaces(other, crumb) for other in remaining)
        ]
        return tuple(reversed(matches) if newest else matches)[:limit]

    def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        near = self._of_session(workspace, session)
        itself = [crumb for crumb in near if crumb.id == identity and crumb.place < until and not closes(crumb)]
        matches = sorted((*itself, *made_from(near, {identity})), key=by_place)
        self._take((crumb, identity) for crumb in matches)
        return tuple(matches)

    def traces(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        keys = [key for key, reason in self._erased.items() if key[0] == workspace and reason == identity]
        return tuple(sorted((self._rows[key].breadcrumb for key in keys), key=by_place))

    def ended(self, moment: datetime) -> tuple[Ended, ...]:
        rows = [row for workspace in {key[0] for key in self._rows} for row in self._remaining(workspace)]
        over = [row.breadcrumb for row in rows if row.breadcrumb.expires_at and row.breadcrumb.expires_at <= moment]
        matches = [
            row.breadcrumb
            for row in rows
            if not closes(row.breadcrumb)
            and any(is_version(row.breadcrumb, crumb) and row.breadcrumb.place <= crumb.place for crumb in over)
        ]
        positions = {position(crumb) for crumb in matches}
        for (workspace, session), ids in ids_by_session(matches).items():
            positions |= {position(crumb) for crumb in made_from(self._of_session(workspace, session), ids)}
        ended = [row for row in rows if position(row.breadcrumb) in positions]
        ended.sort(key=lambda row: (*by_place(row.breadcrumb), row.breadcrumb.workspace))
        return tuple(Ended(breadcrumb=row.breadcrumb, size=size(row)) for row in ended)

    def purge(self, ended: tuple[Ended, ...]) -> None:
        self._take((item.breadcrumb, item.breadcrumb.id) for item in ended)

    def add_stub(self, subject: str) -> None:
        self._stubs.add(subject)

    def remove_stub(self, subject: str) -> None:
        self._stubs.discard(subject)

    def pending_stubs(self) -> tuple[str, ...]:
        return tuple(sorted(self._stubs))

    def watermark(self, workspace: str, session: str) -> Place:
        return self._watermarks.get((workspace, session), ORIGIN)

    def advance(self, workspace: str, session: str, place: Place) -> None:
        self._watermarks[workspace, session] = max(place, self.watermark(workspace, session))

    def start_attempt(self, place: Place) -> int:
        self._attempts[place] = self._attempts.get(place, 0) + 1
        return self._attempts[place]

    def undo_attempt(self, place: Place) -> None:
        if place in self._attempts:
            self._attempts[place] = max(self._attempts[place] - 1, 0)

    def clear_attempts(self, place: Place) -> None:
        self._attempts.pop(place, None)

    def _remaining(self, workspace: str) -> list[StoredBreadcrumb]:
        """What was not erased, in place order."""
        rows = (row for key, row in self._rows.items() if key[0] == workspace and key not in self._erased)
        return sorted(rows, key=lambda row: by_place(row.breadcrumb))

    def _of_session(self, workspace: str, session: str) -> list[Breadcrumb]:
        """What was not erased of the session; NO_SESSION: of any."""
        return [row.breadcrumb for row in self._remaining(workspace) if session in (NO_SESSION, row.breadcrumb.session)]

    def _is_removed(self, crumb: Breadcrumb) -> bool:
        return any(removes(row.breadcrumb, crumb) for row in self._rows.values())

    def _take(self, crumbs: Iterable[tuple[Breadcrumb, str]]) -> None:
        for crumb, reason in crumbs:
            self._rows[key_of(crumb)] = StoredBreadcrumb(breadcrumb=erased(crumb), passages=(), model="", fingerprint=b"")
            self._erased[key_of(crumb)] = reason
