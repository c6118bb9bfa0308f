"""What the memory store finds, as pure functions of its rows: the model of what SQL finds elsewhere."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb, Place
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope, StoredBreadcrumb
from builder.domain.selector import Pinned
from builder.ports.store import CallOrigin

AFTER_ALL = Place(2**63, 0)
Where = tuple[str, str, Place]
Joined = dict[Place, str]
"""Where in its workspace a tool's answer of no session stands → the session that it joined, "" for none."""


def is_in_scope(session: str, scope: Scope) -> bool:
    """Whether the scope names the session."""
    return scope.sessions == (EVERY_SESSION,) or session in scope.sessions


def belongs_to_scope(crumb: Breadcrumb, scope: Scope, joined: Joined) -> bool:
    """Tombstones of no session belong to every scope, and so does what joined one of its sessions."""
    if is_in_scope(crumb.session, scope) or joins_of(crumb, joined) in scope.sessions:
        return True
    return crumb.session == NO_SESSION and crumb.removes != ""


def is_shared_by(crumb: Breadcrumb, scope: Scope, crumbs: Iterable[Breadcrumb]) -> bool:
    """Whether the scope shares it: it, or an earlier version, is of such a schema, and no higher one came before it.

    crumbs: all of the workspace, erased ones included.
    """
    if crumb.session != NO_SESSION or crumb.removes or not scope.shared:
        return False
    before = [
        other
        for other in crumbs
        if other.id == crumb.id and other.session == NO_SESSION and not other.removes and other.place < crumb.place
    ]
    earlier = any(other.version < crumb.version and other.schema in scope.shared for other in before)
    return (crumb.schema in scope.shared or earlier) and not any(other.version > crumb.version for other in before)


def joins_of(crumb: Breadcrumb, joined: Joined) -> str:
    """The session that it joined; "" for none."""
    return joined.get(crumb.place, "") if crumb.session == NO_SESSION and not crumb.removes else ""


class Joins:
    """What may join the sessions of a workspace, and who asked: what is noted is never taken back."""

    def __init__(self) -> None:
        self._requests: dict[str, dict[str, Place]] = {}
        self._answers: dict[str, dict[Place, str]] = {}

    def note(self, crumb: Breadcrumb) -> None:
        """Look at one more breadcrumb."""
        for call in crumb.asks_for:
            self.add(CallOrigin(crumb.workspace, call, crumb.session, *crumb.place))
        if crumb.may_join:
            self._answers.setdefault(crumb.id, {})[crumb.place] = crumb.joins_by

    def add(self, origin: CallOrigin) -> None:
        """Note a request; the earliest of a session counts."""
        sessions = self._requests.setdefault(origin.call, {})
        place = Place(origin.incarnation, origin.sequence)
        sessions[origin.session] = min(place, sessions.get(origin.session, place))

    def origins(self, workspace: str) -> Iterator[CallOrigin]:
        """Every request that was noted."""
        for call, sessions in self._requests.items():
            for session, place in sessions.items():
                yield CallOrigin(workspace, call, session, *place)

    def joined(self) -> Joined:
        """All versions of an answer join where the first that names a call does: the only session that had asked by then."""
        matches: Joined = {}
        for versions in self._answers.values():
            first = min((place for place, call in versions.items() if call), default=None)
            home = self.caller(versions[first], first) if first else ""
            matches |= {place: home if first and place >= first else "" for place in versions}
        return matches

    def caller(self, call: str, before: Place) -> str:
        """The only session that had made this call before the place; "" = none, or several."""
        askers = [session for session, place in self._requests.get(call, {}).items() if place < before]
        return askers[0] if len(askers) == 1 else ""


def by_place(crumb: Breadcrumb) -> tuple[Place, str]:
    """To sort breadcrumbs of a workspace."""
    return crumb.place, crumb.session


def key_of(crumb: Breadcrumb) -> Where:
    """Where it stands."""
    return crumb.workspace, crumb.session, crumb.place


def oldest_first(crumb: Breadcrumb) -> tuple[Place, str, str]:
    """To sort breadcrumbs of all workspaces."""
    return crumb.place, crumb.workspace, crumb.session


def pinned(until: list[StoredBreadcrumb], kind: Pinned, session: str) -> list[StoredBreadcrumb]:
    """What the selector means of the session and of none, newest first. until: rows up to a place, in place order."""
    sessions = (NO_SESSION,) if kind.of_no_session else (session, NO_SESSION)
    near = [row for row in until if row.breadcrumb.session in sessions]
    candidates = (row for row in reversed(near) if kind.selector.matches(row.breadcrumb) and not row.breadcrumb.removes)
    matches = [row for row in candidates if not _is_gone(row, near)]
    return matches[: kind.limit]


def _is_gone(row: StoredBreadcrumb, near: list[StoredBreadcrumb]) -> bool:
    """Whether a tombstone came after it, or a higher version at any place, of its own session or of none.

    near: all of the asking session and of none.
    """
    crumb = row.breadcrumb
    others = [other.breadcrumb for other in near if other.breadcrumb.session in (crumb.session, NO_SESSION)]
    removed = any(other.removes == crumb.id and other.place > crumb.place for other in others)
    return removed or any(other.id == crumb.id and other.version > crumb.version for other in others)


def of_query(row: StoredBreadcrumb, query: RecallQuery) -> StoredBreadcrumb:
    """The row without vectors of another model, and without what only a search needs."""
    row = of_model(row, query.model)
    bare = tuple(replace(passage, terms="", vector=b"") for passage in row.passages)
    return row if query.searched else replace(row, passages=bare)


def of_model(row: StoredBreadcrumb, model: str) -> StoredBreadcrumb:
    """The row without vectors of another model."""
    if row.model == model:
        return row
    passages = tuple(replace(passage, vector=b"") for passage in row.passages)
    return replace(row, passages=passages, model=model)


def size_of(row: StoredBreadcrumb) -> int:
    """Bytes of its texts, lists and vectors."""
    crumb = row.breadcrumb
    lists = (crumb.tags, crumb.calls, crumb.pointers, crumb.call_signatures, crumb.covers)
    texts = (crumb.body, crumb.text, *map(json.dumps, lists), *(passage.terms for passage in row.passages))
    vectors = sum(len(passage.vector) for passage in row.passages)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) + vectors


def is_trace(crumb: Breadcrumb, until: Place) -> bool:
    """Whether it is an erased result, whose call was answered."""
    return bool(crumb.calls) and crumb.session != NO_SESSION and crumb.place <= until


def by_order(row: StoredBreadcrumb) -> tuple[tuple[Place, int], Place, str]:
    """The order of a recall."""
    return row.order, row.breadcrumb.place, row.breadcrumb.session
