"""What a store answers, said again over a plain dictionary: the model of the state machine.

It knows sessions. People, and answers of no session that join one, have properties of their own.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place
from builder.domain.errors import Unavailable
from builder.domain.recall import EVERY_SESSION, Ended, StoredBreadcrumb, erased
from builder.domain.selector import Pinned
from builder.domain.summary import ids_by_session, made_from

Key = tuple[str, str, int]


class StoreModel:
    """The rows, why each was erased, and what a worker notes beside them."""

    def __init__(self) -> None:
        self._rows: dict[Key, StoredBreadcrumb] = {}
        self._erased: dict[Key, str] = {}
        self._watermarks: dict[tuple[str, str], Place] = {}
        self._attempts: dict[Place, int] = {}
        self._stubs: set[str] = set()

    def remember(self, row: StoredBreadcrumb) -> bool:
        key = _identity(row.breadcrumb)
        if key in self._rows:
            return False
        if any(_position(held.breadcrumb) == _position(row.breadcrumb) for held in self._rows.values()):
            raise Unavailable("another breadcrumb stands there")
        self._rows[key] = row
        return True

    def remember_all(self, rows: tuple[StoredBreadcrumb, ...]) -> int:
        before = dict(self._rows)
        try:
            return sum(self.remember(row) for row in rows)
        except Unavailable:
            self._rows = before
            raise

    def facts(self, crumb: Breadcrumb) -> StoredBreadcrumb | None:
        return self._rows.get(_identity(crumb))

    def recalled(
        self, workspace: str, sessions: tuple[str, ...], span: tuple[Place, Place], model: str
    ) -> list[StoredBreadcrumb]:
        """The rows of these sessions with `span[0] < place <= span[1]`, and the traces of their results."""
        rows = [row for key, row in self._rows.items() if key[0] == workspace and (key not in self._erased or _is_trace(row))]
        within = (row for row in rows if span[0] < row.breadcrumb.place <= span[1])
        matches = (row for row in within if sessions == (EVERY_SESSION,) or row.breadcrumb.session in sessions)
        return [_of_model(row, model) for row in sorted(matches, key=lambda row: _by_place(row.breadcrumb))]

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
            if not any(_removes(other, row.breadcrumb) or _replaces(other, row.breadcrumb) for other in crumbs)
        ]
        return [_of_model(row, model) for row in found[: kind.limit]]

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
        behind = [row for row in bare if after is None or _oldest_first(row.breadcrumb) > _oldest_first(after)]
        return tuple(sorted(behind, key=lambda row: _oldest_first(row.breadcrumb))[:limit])

    def fill_vectors(self, row: StoredBreadcrumb) -> bool:
        key = _identity(row.breadcrumb)
        if self._rows[key].model or key in self._erased:
            return False
        self._rows[key] = row
        return True

    def vectors(self, crumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        rows = (self._rows[_identity(crumb)] for crumb in crumbs)
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
            if not self._is_removed(crumb) and not any(_replaces(other, crumb) for other in remaining)
        ]
        return tuple(reversed(matches) if newest else matches)[:limit]

    def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        near = self._of_session(workspace, session)
        itself = [crumb for crumb in near if crumb.id == identity and crumb.place < until]
        matches = sorted((*itself, *made_from(near, {identity})), key=_by_place)
        self._take((crumb, identity) for crumb in matches)
        return tuple(matches)

    def traces(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        keys = [key for key, reason in self._erased.items() if key[0] == workspace and reason == identity]
        return tuple(sorted((self._rows[key].breadcrumb for key in keys), key=_by_place))

    def ended(self, moment: datetime) -> tuple[Ended, ...]:
        rows = [row for workspace in {key[0] for key in self._rows} for row in self._remaining(workspace)]
        over = [row.breadcrumb for row in rows if row.breadcrumb.expires_at and row.breadcrumb.expires_at <= moment]
        matches = [
            row.breadcrumb
            for row in rows
            if any(_is_version(row.breadcrumb, crumb) and row.breadcrumb.place <= crumb.place for crumb in over)
        ]
        positions = {_position(crumb) for crumb in matches}
        for (workspace, session), ids in ids_by_session(matches).items():
            positions |= {_position(crumb) for crumb in made_from(self._of_session(workspace, session), ids)}
        ended = [row for row in rows if _position(row.breadcrumb) in positions]
        ended.sort(key=lambda row: (*_by_place(row.breadcrumb), row.breadcrumb.workspace))
        return tuple(Ended(breadcrumb=row.breadcrumb, size=_size(row)) for row in ended)

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
        return sorted(rows, key=lambda row: _by_place(row.breadcrumb))

    def _of_session(self, workspace: str, session: str) -> list[Breadcrumb]:
        """What was not erased of the session; NO_SESSION: of any."""
        return [row.breadcrumb for row in self._remaining(workspace) if session in (NO_SESSION, row.breadcrumb.session)]

    def _is_removed(self, crumb: Breadcrumb) -> bool:
        """Whether a tombstone of it came, which may have been erased itself."""
        return any(_removes(row.breadcrumb, crumb) for row in self._rows.values())

    def _take(self, crumbs: Iterable[tuple[Breadcrumb, str]]) -> None:
        for crumb, reason in crumbs:
            self._rows[_identity(crumb)] = StoredBreadcrumb(breadcrumb=erased(crumb), passages=(), model="", fingerprint=b"")
            self._erased[_identity(crumb)] = reason


def _is_trace(row: StoredBreadcrumb) -> bool:
    """Whether it is a result of a session, whose call stays answered when it is erased."""
    return bool(row.breadcrumb.calls) and row.breadcrumb.session != NO_SESSION


def _of_model(row: StoredBreadcrumb, model: str) -> StoredBreadcrumb:
    """The row without vectors of another model."""
    if row.model == model:
        return row
    return replace(row, passages=tuple(replace(passage, vector=b"") for passage in row.passages), model=model)


def _identity(crumb: Breadcrumb) -> Key:
    return crumb.workspace, crumb.id, crumb.version


def _position(crumb: Breadcrumb) -> tuple[str, str, Place]:
    return crumb.workspace, crumb.session, crumb.place


def _by_place(crumb: Breadcrumb) -> tuple[Place, str]:
    return crumb.place, crumb.session


def _oldest_first(crumb: Breadcrumb) -> tuple[Place, str, str]:
    return crumb.place, crumb.workspace, crumb.session


def _is_near(other: Breadcrumb, crumb: Breadcrumb) -> bool:
    return other.workspace == crumb.workspace and other.session in (crumb.session, NO_SESSION)


def _removes(other: Breadcrumb, crumb: Breadcrumb) -> bool:
    """Whether the other one is a tombstone of it, or the trace of a later version."""
    return other.removes == crumb.id and other.place > crumb.place and _is_near(other, crumb)


def _replaces(other: Breadcrumb, crumb: Breadcrumb) -> bool:
    """Whether the other one is a higher version of it, whichever came first."""
    return other.id == crumb.id and other.version > crumb.version and _is_near(other, crumb)


def _is_version(crumb: Breadcrumb, other: Breadcrumb) -> bool:
    return (crumb.workspace, crumb.session, crumb.id) == (other.workspace, other.session, other.id)


def _size(row: StoredBreadcrumb) -> int:
    """Bytes of its texts, lists and vectors."""
    crumb = row.breadcrumb
    lists = (crumb.tags, crumb.calls, crumb.pointers, crumb.call_signatures, crumb.covers)
    texts = (crumb.body, crumb.text, *map(json.dumps, lists), *(passage.terms for passage in row.passages))
    vectors = sum(len(passage.vector) for passage in row.passages)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) + vectors
