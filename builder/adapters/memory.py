"""Shipped fakes, held to the same contract suites as the real parts."""

from dataclasses import replace

from builder.domain.breadcrumb import NO_SESSION, ORIGIN, Breadcrumb, Place
from builder.domain.errors import Unavailable
from builder.domain.facts import PassageKey, Remembered
from builder.domain.recall import EVERY_SESSION, MOST_STANDING, Recall, RecallQuery, Scope
from builder.domain.selector import Standing


class MemoryStore:
    """`BreadcrumbStore`, `TokenVectors`, `Backlog` and `Ledger` without a disk: the model of the other stores."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, int], Remembered] = {}
        self._token_vectors: dict[tuple[str, PassageKey, str], bytes] = {}
        self._watermarks: dict[tuple[str, str], Place] = {}
        self._attempts: dict[Place, int] = {}
        self._revisions: dict[tuple[str, str], int] = {}

    def close(self) -> None:
        """Nothing to close."""

    async def remember(self, remembered: Remembered) -> bool:
        """See the port."""
        crumb = remembered.breadcrumb
        key = (crumb.workspace, crumb.id, crumb.version)
        if key in self._rows:
            return False
        if any(_where(row.breadcrumb) == _where(crumb) for row in self._rows.values()):
            raise Unavailable(
                f"another breadcrumb stands at {crumb.place} of {crumb.workspace}/{crumb.session}; check the stream"
            )
        self._rows[key] = self._kept(remembered)
        return True

    async def facts(self, breadcrumb: Breadcrumb) -> Remembered | None:
        """See the port."""
        return self._rows.get((breadcrumb.workspace, breadcrumb.id, breadcrumb.version))

    async def recall(self, query: RecallQuery) -> Recall:
        """See the port."""
        rows = sorted(
            (row for row in self._rows.values() if row.breadcrumb.workspace == query.scope.workspace),
            key=lambda row: (row.breadcrumb.place, row.breadcrumb.session),
        )
        until = [row for row in rows if row.breadcrumb.place <= query.until]
        held = [row for row in until if row.breadcrumb.place > query.after and _inside(row.breadcrumb.session, query.scope)]
        return Recall(
            rows=tuple(_of_model(row, query.model) for row in held[: query.limit]),
            standing=tuple(
                tuple(_of_model(row, query.model) for row in _standing(until, wanted, query.session)) for wanted in query.standing
            ),
            revision=sum(
                number
                for (workspace, session), number in self._revisions.items()
                if workspace == query.scope.workspace and _inside(session, query.scope)
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
        return len(self._rows)

    async def token_vectors(self, workspace: str, passages: tuple[PassageKey, ...], model: str) -> tuple[bytes, ...]:
        """See the port."""
        return tuple(self._token_vectors.get((workspace, key, model), b"") for key in passages)

    def _kept(self, remembered: Remembered) -> Remembered:
        """What recall gives back; the token vectors are laid aside."""
        crumb = remembered.breadcrumb
        for ordinal, held in enumerate(remembered.passages):
            key = PassageKey(crumb.session, crumb.place, ordinal)
            self._token_vectors[crumb.workspace, key, remembered.model] = held.token_vectors
        return replace(remembered, passages=tuple(replace(held, token_vectors=b"") for held in remembered.passages))

    async def lacking(self, limit: int, after: Breadcrumb | None = None) -> tuple[Remembered, ...]:
        """See the port."""
        bare = sorted((row for row in self._rows.values() if not row.model), key=lambda row: _oldest_first(row.breadcrumb))
        behind = (row for row in bare if after is None or _oldest_first(row.breadcrumb) > _oldest_first(after))
        return tuple(behind)[:limit]

    async def fill(self, remembered: Remembered) -> bool:
        """See the port."""
        crumb = remembered.breadcrumb
        key = (crumb.workspace, crumb.id, crumb.version)
        if self._rows[key].model:
            return False
        self._rows[key] = self._kept(remembered)
        session = (crumb.workspace, crumb.session)
        self._revisions[session] = self._revisions.get(session, 0) + 1
        return True

    async def left(self) -> int:
        """See the port."""
        return sum(not row.model for row in self._rows.values())

    async def watermark(self, workspace: str, session: str) -> Place:
        """See the port."""
        return self._watermarks.get((workspace, session), ORIGIN)

    async def advance(self, workspace: str, session: str, place: Place) -> None:
        """See the port."""
        self._watermarks[workspace, session] = max(place, await self.watermark(workspace, session))

    async def begin(self, place: Place) -> int:
        """See the port."""
        self._attempts[place] = self._attempts.get(place, 0) + 1
        return self._attempts[place]

    async def forgive(self, place: Place) -> None:
        """See the port."""
        if place in self._attempts:
            self._attempts[place] = max(self._attempts[place] - 1, 0)

    async def settle(self, place: Place) -> None:
        """See the port."""
        self._attempts.pop(place, None)


def _inside(session: str, scope: Scope) -> bool:
    return scope.sessions == (EVERY_SESSION,) or session in scope.sessions


def _where(crumb: Breadcrumb) -> tuple[str, str, Place]:
    return crumb.workspace, crumb.session, crumb.place


def _oldest_first(crumb: Breadcrumb) -> tuple[Place, str, str]:
    return crumb.place, crumb.workspace, crumb.session


def _standing(until: list[Remembered], wanted: Standing, session: str) -> list[Remembered]:
    near = [row for row in until if row.breadcrumb.session in (session, NO_SESSION)]
    found = [row for row in reversed(near) if wanted.selector.matches(row.breadcrumb) and not _is_gone(row, near)]
    return found[: 1 if wanted.keep == "latest" else MOST_STANDING]


def _is_gone(row: Remembered, near: list[Remembered]) -> bool:
    later = (other.breadcrumb for other in near if other.breadcrumb.place > row.breadcrumb.place)
    return any(row.breadcrumb.id in (other.id, other.removes) for other in later)


def _of_model(row: Remembered, model: str) -> Remembered:
    if row.model == model:
        return row
    passages = tuple(replace(held, vector=b"") for held in row.passages)
    return Remembered(breadcrumb=row.breadcrumb, passages=passages, model=model, fingerprint=row.fingerprint)
