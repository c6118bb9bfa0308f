"""The store: a projection of the stream, for recall. Vectors are little-endian float16 bytes of unit length."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import NamedTuple, Protocol

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.edition import Edition
from builder.domain.erasure import Ended
from builder.domain.identity import Identity
from builder.domain.recall import Recall, RecallQuery
from builder.domain.stored import PassageFacts, StoredBreadcrumb

MAX_EDITIONS = 200
"""Editions of profiles and templates that a store keeps."""


class BreadcrumbStore(Protocol):
    """Keeps breadcrumbs with their facts; a projection of the stream. All methods raise `Unavailable`."""

    async def remember(self, remembered: StoredBreadcrumb) -> bool:
        """Store it durably and return True; False when its version is known or its id closed. Raises `Rejected` (`Identity`)."""

    async def facts(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb | None:
        """The row of (workspace, id, version) with its vectors, or None; its place may be earlier. An erased one is its trace."""

    async def recall(self, query: RecallQuery) -> Recall:
        """Up to `limit` rows of the scope with `after` < place <= `until` in place order, and the pinned ones as of `until`.

        What agents said before a person's first words comes with these (`StoredBreadcrumb.entry`), beside the limit.

        For those only tombstones of their own session and of none count. Tombstones of no session belong
        to every scope, and so does what joins one of its sessions (`Breadcrumb.joins_by`). What was erased is part of no recall.
        """

    async def places(self, workspace: str, session: str, after: Place, until: Place) -> frozenset[Place]:
        """Where something of the session, or of EVERY_SESSION, is stored with `after` < place < `until`."""

    async def count(self) -> int:
        """Breadcrumbs stored, old versions included, erased ones and secrets not."""


class Reader(Protocol):
    """Reads single breadcrumbs and chains. All methods raise `Unavailable`."""

    async def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        """The id, the id that the first version of it answers, and so on: up to `limit`, each once, as of `until`, inclusive.

        The last id may be unknown. An erased breadcrumb keeps the id that it answers.
        """

    async def versions(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        """All that is stored under the id and was not removed since, in place order."""

    async def list_session(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, newest: bool
    ) -> tuple[Breadcrumb, ...]:
        """Up to `limit` breadcrumbs of the session between two places, both exclusive, that were not removed or replaced since.

        newest: from the end, the newest first.
        """

    async def caller_session(self, answer: Breadcrumb) -> str:
        """The only session that had made the call of a tool's answer of no session before the answer; "" = none, or several."""

    async def vectors(self, breadcrumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        """For each of these the vectors of its passages, in order; empty while it lacks them, or has those of another model."""


class People(Protocol):
    """Where people have spoken. All methods raise `Unavailable`."""

    async def is_memory(self, workspace: str, session: str, user: str, until: Place) -> bool:
        """True if nobody else spoke first in the session before `until`, and its first breadcrumb is not private.

        A trace may have been anybody's. True for an unknown session.
        """

    async def first_speaker(self, workspace: str, session: str, until: Place) -> str | None:
        """As `last_speaker`, of the first one. A trace counts as a person, whoever wrote what was erased."""

    async def last_speaker(self, workspace: str, session: str, until: Place) -> str | None:
        """The `user_id` of the last person who spoke in the session before `until`; None = nobody, "" = unknown or erased."""

    async def latest(self, workspace: str, until: Place, limit: int) -> tuple[Breadcrumb, ...]:
        """The newest breadcrumb of each session, of up to `limit` sessions that end before `until`, the newest first.

        NO_SESSION and tombstones are left out.
        """

    async def sessions_of(self, workspace: str, user: str) -> tuple[str, ...]:
        """Every session that has a breadcrumb with this `user_id`, private ones and NO_SESSION included, sorted."""


class WorkspaceReader(Protocol):
    """Reads parts of a workspace that is too large to be read whole. All methods raise `Unavailable`."""

    async def identities(self, workspace: str, ids: tuple[str, ...]) -> dict[str, Identity]:
        """Each id with who stands under it."""

    async def outgrows(self, workspace: str, rows: int, until: Place) -> bool:
        """Whether it has more breadcrumbs than this before a place, erased ones and old versions included."""

    async def passages(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, model: str
    ) -> tuple[tuple[PassageFacts, ...], Place]:
        """Passages of the session, or of EVERY_SESSION, by place, and the place up to which these are all.

        span: the first place exclusive, the last one inclusive. limit: of breadcrumbs. Vectors of other models are empty.
        """

    async def revisions(self, workspace: str) -> Mapping[str, int]:
        """Session → number of later changes to its rows; see `Recall.revision`."""

    async def stretches(
        self, workspace: str, places: Mapping[str, frozenset[Place]], reach: int, until: Place, model: str
    ) -> tuple[StoredBreadcrumb, ...]:
        """The rows at these places, and up to `reach` before and after each in its session.

        With their higher versions and tombstones, of that session or of none. None comes after `until`. In any order. places: by
        session.
        """


class Store(BreadcrumbStore, Reader, People, WorkspaceReader, Protocol):
    """All that the context builder reads and writes."""


class Eraser(Protocol):
    """Erases. All methods raise `Unavailable`; a second call with the same arguments changes nothing."""

    async def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        """Take from every version of it with place < `until` all that `erased` takes, with passages, vectors and tags.

        The same is taken from each summary of the session that names it, and from each that names such a summary. NO_SESSION: in
        any. Raises the sessions' `Recall.revision`; an erased version is never stored again. Returns durably erased breadcrumbs
        as they were; words stay in files until `vacuum`.
        """

    async def traces(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        """The traces of all that `erase` took for this id, in place order."""

    async def ended(self, moment: datetime) -> tuple[Ended, ...]:
        """Expired rows, with their earlier versions in the session and the summaries that `erase` would take, in place order."""

    async def purge(self, ended: tuple[Ended, ...]) -> None:
        """Take from these what `erase` takes."""

    async def vacuum(self, sessions: frozenset[str]) -> None:
        """Take off the disk what was erased of these sessions, by an ended process too; one costly call for many erasures."""


class PendingStubs(Protocol):
    """Subjects of contexts whose replacement stub has still to be published. All methods raise `Unavailable`."""

    async def add_stub(self, subject: str) -> None:
        """Store it durably, before the context is deleted."""

    async def pending_stubs(self) -> tuple[str, ...]:
        """All of them, sorted."""

    async def remove_stub(self, subject: str) -> None:
        """Remove it: the stub was published."""


class MissingVectors(Protocol):
    """Breadcrumbs of model "", which have no vectors yet. All methods raise `Unavailable`.

    Remembering one lists it, in the same transaction; filling its vectors in takes it off the list.
    """

    async def missing_vectors(self, limit: int, after: Breadcrumb | None = None) -> tuple[StoredBreadcrumb, ...]:
        """Up to `limit` of them by place, then workspace and session, oldest first; `after`: only those behind this one."""

    async def fill_vectors(self, remembered: StoredBreadcrumb) -> bool:
        """Write the vectors and the model; False when it had vectors already: the first writer wins."""

    async def count_missing_vectors(self) -> int:
        """How many lack vectors."""


class Progress(Protocol):
    """Progress that survives restarts. All methods raise `Unavailable`."""

    async def watermark(self, workspace: str, session: str) -> Place:
        """Everything of the session up to this place is remembered or was rejected; ORIGIN for an unknown session."""

    async def advance(self, workspace: str, session: str, place: Place) -> None:
        """Raise the watermark; a lower place changes nothing."""

    async def start_attempt(self, place: Place) -> int:
        """Count an attempt before it begins; returns its number, 1 for the first."""

    async def undo_attempt(self, place: Place) -> None:
        """Take back the last attempt: a dependency was unavailable. If that fails, `start_attempt` does it before it counts."""

    async def clear_attempts(self, place: Place) -> None:
        """Forget the attempts of a finished delivery."""


class Editions(Protocol):
    """The files of contexts that were published, and what an edit of them is tried on. All methods raise `Unavailable`."""

    async def add_edition(self, edition: Edition) -> None:
        """Store it durably. A known one becomes the newest. Of more than MAX_EDITIONS the oldest go."""

    async def editions(self, templates: str) -> tuple[Edition, ...]:
        """Those in which the templates had this revision, the newest first; "" = any."""

    async def newest(self, schema: str, limit: int) -> tuple[Breadcrumb, ...]:
        """The newest `limit` breadcrumbs of this schema in all workspaces, the newest first; an erased one is its trace."""


class CallOrigin(NamedTuple):
    """The first request of a session under a request id."""

    workspace: str
    call: str
    session: str
    incarnation: int
    sequence: int


def origins_of(crumb: Breadcrumb) -> tuple[CallOrigin, ...]:
    """The calls that it makes in its session."""
    return tuple(CallOrigin(crumb.workspace, call, crumb.session, *crumb.place) for call in crumb.asks_for)


class Rebuild(Protocol):
    """Compares a store with the stream and fills it when it is built from there. All methods raise `Unavailable`."""

    async def models(self) -> frozenset[str]:
        """The engines whose vectors are stored; "" stands for breadcrumbs that lack vectors."""

    async def count_before(self, place: Place) -> int:
        """Breadcrumbs below the place, counted as `BreadcrumbStore.count` does."""

    async def call_origins(self, incarnation: int) -> tuple[CallOrigin, ...]:
        """Every origin in this incarnation of the stream, sorted, those of erased requests included."""

    async def add_call_origins(self, origins: tuple[CallOrigin, ...]) -> None:
        """Store origins, the earliest of a session; stored results without a session join by them.

        For rebuilds, because the stream may have lost the requests, and for requests that are remembered later.
        """

    async def remember_all(self, rows: tuple[StoredBreadcrumb, ...]) -> int:
        """Store many breadcrumbs durably, all or none; returns how many were new."""


class StoreHealth(Protocol):
    """The state of the store, for operators. `check` and `count_outdated` wait for it."""

    async def check(self) -> str:
        """Why the store cannot be read right now; empty when it can."""

    @property
    def refusal(self) -> str:
        """Why a recent write failed; empty when the same write has succeeded since."""

    def size_bytes(self) -> int:
        """Bytes that the store occupies."""

    def free_bytes(self) -> int | None:
        """Bytes that are free where the store lies; None when the store does not know."""

    async def count_outdated(self) -> int:
        """How many breadcrumbs have words or bodies as an earlier release computed them."""


class CompleteStore(Store, Eraser, PendingStubs, MissingVectors, Progress, Editions, Rebuild, StoreHealth, Protocol):
    """All ports of an open store: what an adapter implements."""


class StoreLocation(Protocol):
    """Where a store is, or may be. All methods raise `Misconfigured`."""

    @property
    def name(self) -> str:
        """The location as people read it, without credentials."""

    async def exists(self) -> bool:
        """Whether a store is there."""

    def open(self) -> AbstractAsyncContextManager[CompleteStore]:
        """The store, open inside the block; an empty one is made where none exists."""

    def alone(self) -> AbstractAsyncContextManager["StoreLocation"]:
        """The location for one who maintains it: nobody else opens the store, or maintains it, during the block.

        Raises `Misconfigured` while it is in use. What is opened then may be a copy that is not whole, which others refuse.
        """

    def rebuild(self) -> AbstractAsyncContextManager[tuple["StoreLocation | None", "StoreLocation"]]:
        """`alone`, with the store as it is, and an empty location, whose store is in its place after the block, in one step.

        If the block fails, nothing is changed. None: no store is there, or it is damaged; then its files are kept aside, and the
        log says where. Each call has a location of its own; what a killed one left is removed by the next `rebuild` or `open`.
        """
