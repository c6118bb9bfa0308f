"""The outside world as this service needs it. Each docstring is the contract that its implementations are tested against.

Vectors are little-endian float16 bytes of unit length everywhere. Pure helpers (make terms, render, count tokens) are
arguments, not ports.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Protocol

from builder.domain.breadcrumb import Arrival, Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.facts import Ended, Remembered
from builder.domain.recall import Recall, RecallQuery
from builder.domain.summary import Line, Said


class BreadcrumbStore(Protocol):
    """Keeps breadcrumbs with their facts; a projection of the stream. All methods raise `Unavailable`."""

    async def remember(self, remembered: Remembered) -> bool:
        """Store it durably and return True; False when (workspace, id, version) is known: the first writer wins."""

    async def facts(self, breadcrumb: Breadcrumb) -> Remembered | None:
        """What is stored under (workspace, id, version), vectors included, or None. Its place may be an earlier one.

        Of what was erased, what is left: it removes itself.
        """

    async def recall(self, query: RecallQuery) -> Recall:
        """Up to `limit` rows of the scope with `after` < place <= `until` in place order, and the pinned ones as of `until`.

        For those only tombstones of the session and of none count, as catch-up walks no other. Tombstones of no session belong
        to every scope, and so does what joins one of its sessions (`Breadcrumb.joins_by`). What was erased is part of no recall.
        """

    async def places(self, workspace: str, session: str, after: Place, until: Place) -> frozenset[Place]:
        """Where something of the session, or of EVERY_SESSION, is stored with `after` < place < `until`."""

    async def count(self) -> int:
        """Breadcrumbs stored, old versions included, erased ones and secrets not."""


class Reader(Protocol):
    """Reads breadcrumbs one by one, for who follows a chain or looks something up. All methods raise `Unavailable`."""

    async def chain(self, workspace: str, identity: str, until: Place, limit: int) -> tuple[str, ...]:
        """The id, the id that the first version of it answers, and so on: up to `limit`, each once, as of `until`, inclusive.

        The last one may be unknown. What was erased still says what it answered.
        """

    async def versions(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        """All that is stored under the id and was not removed since, in place order."""

    async def told(
        self, workspace: str, session: str, span: tuple[Place, Place], limit: int, newest: bool
    ) -> tuple[Breadcrumb, ...]:
        """Up to `limit` breadcrumbs of the session between two places, both exclusive, that were not removed or replaced since.

        newest: from the end, the newest first.
        """

    async def vectors(self, breadcrumbs: tuple[Breadcrumb, ...], model: str) -> tuple[tuple[bytes, ...], ...]:
        """For each of these the vectors of its passages, in order; empty while it lacks them, or has those of another model."""


class Store(BreadcrumbStore, Reader, Protocol):
    """What builds contexts reads both ways."""


class Eraser(Protocol):
    """Forgets. All methods raise `Unavailable`; a second call with the same arguments changes nothing."""

    async def erase(self, workspace: str, session: str, identity: str, until: Place) -> tuple[Breadcrumb, ...]:
        """Take from every version of it with place < `until` all that `erased` takes, with passages, vectors and tags.

        So too from each summary of the session that names it, and from each that names one of those. NO_SESSION: in any session.
        Raises the `Recall.revision` of the sessions, and nobody remembers them anew. Returns what was taken by this call as it
        was, and is durable.
        """

    async def traces(self, workspace: str, identity: str) -> tuple[Breadcrumb, ...]:
        """What is left of all that `erase` took for this id, whenever, in place order."""

    async def ended(self, moment: datetime) -> tuple[Ended, ...]:
        """What is stored and has expired at the moment, with earlier versions of it in its session, in place order.

        So too the summaries that `erase` would take for it.
        """

    async def purge(self, ended: tuple[Ended, ...]) -> None:
        """Take from these what `erase` takes."""


class Stubs(Protocol):
    """Subjects of contexts that were taken away and whose stub is owed. All methods raise `Unavailable`."""

    async def owe(self, subject: str) -> None:
        """Note it, durably, before the context is taken away."""

    async def owed(self) -> tuple[str, ...]:
        """All of them, sorted."""

    async def pay(self, subject: str) -> None:
        """The stub is there."""


class Backlog(Protocol):
    """Breadcrumbs of model "", which no engine has seen yet. All methods raise `Unavailable`.

    Remembering one lists it, in the same transaction; filling its vectors in takes it off the list.
    """

    async def lacking(self, limit: int, after: Breadcrumb | None = None) -> tuple[Remembered, ...]:
        """Up to `limit` of them by place, then workspace and session, oldest first; `after`: only those behind this one."""

    async def fill(self, remembered: Remembered) -> bool:
        """Write the vectors and the model of what `lacking` gave, and return True.

        False, and nothing is written, when it lacks none any more: the first writer wins. Whoever has recalled it without them
        asks for them by `Reader.vectors`.
        """

    async def left(self) -> int:
        """How many lack vectors."""


class Ledger(Protocol):
    """What the worker must not forget between two processes. All methods raise `Unavailable`."""

    async def watermark(self, workspace: str, session: str) -> Place:
        """Everything of the session up to this place is remembered or was rejected; ORIGIN for an unknown session."""

    async def advance(self, workspace: str, session: str, place: Place) -> None:
        """Raise the watermark; a lower place changes nothing."""

    async def begin(self, place: Place) -> int:
        """Count an attempt before it is made; returns its number, 1 for the first."""

    async def forgive(self, place: Place) -> None:
        """Take back the attempt just begun: somebody else was unavailable."""

    async def settle(self, place: Place) -> None:
        """Forget the attempts of a finished delivery."""


NO_MODEL = "none"
"""Id of an engine that is never there."""


class Embedder(Protocol):
    """Turns text into a unit vector. A vector is a function of its text and of `model` alone."""

    @property
    def model(self) -> str:
        """Id of the engine, the hash of its weights included; known before the engine is there, "none" when it never is."""

    async def embed(self, text: str) -> bytes:
        """The vector; texts longer than the engine's window are cut there. Raises `Unavailable`, also while it is loading."""


class Stream(Protocol):
    """Reads the stream beside the subscription, for catch-up."""

    def walk(self, workspace: str, session: str, after: Place, until: Place) -> AsyncIterator[Arrival]:
        """Breadcrumbs of the session, or of EVERY_SESSION, with `after` < place < `until`, in order. Raises `Unavailable`."""


class Archive(Protocol):
    """Takes away from the streams, beyond recovery. All methods raise `Unavailable` and may be repeated.

    ids: of one workspace; session: theirs, NO_SESSION = any.
    """

    async def delete_breadcrumbs(self, workspace: str, session: str, ids: frozenset[str], until: Place) -> int:
        """Delete every message of these breadcrumbs below the place; returns how many."""

    async def delete_at(self, place: Place, workspace: str, session: str, identity: str = "") -> bool:
        """Delete the message at this place; False when the stream no longer holds it, or holds another session's there.

        identity: only when the message is a record of this id.
        """

    async def delete_letters(self, workspace: str, session: str, ids: frozenset[str]) -> int:
        """Delete the dead letters that are about them; returns how many."""

    async def contexts_with(self, workspace: str, ids: frozenset[str]) -> tuple[tuple[int, str], ...]:
        """Sequence and subject of the published contexts that name one of them."""

    async def replace_context(self, sequence: int, subject: str) -> None:
        """Delete the context, and put a stub in its place, so that no second one can follow. sequence: 0 = only the stub."""


class Published(Protocol):
    """Reads contexts that were published. All methods raise `Unavailable`; None = there is none, or it was forgotten."""

    async def last_context(self, workspace: str, consumer: str, session: str) -> bytes | None:
        """The newest one of a consumer in a session."""

    async def context(self, workspace: str, consumer: str, session: str, identity: str) -> bytes | None:
        """The one with this id (`domain.context.context_id`)."""


class Publisher(Protocol):
    """Sends what leaves the service."""

    async def publish(self, context: Context, event: bytes) -> None:
        """Raises `AlreadyPublished` when the server holds a context with this id, `Unavailable` when it cannot be reached.

        Plain subscribers hear what the server refuses, too: ask `holds` before a second attempt.
        """

    async def holds(self, context: Context) -> bool:
        """Whether the server holds a context with this id, or what is left of one that was forgotten. Raises `Unavailable`."""

    async def announce(self, context: Context) -> None:
        """Tell whoever listens that tool results were folded in a context that has been published (`context.compacted.v1`).

        Nobody keeps it, and a context that nothing was folded in says nothing. Raises `Unavailable`.
        """

    async def dead_letter(self, arrival: Arrival, reason: str) -> None:
        """Keep what was rejected, with its reason, subject and sequence. Twice for one place keeps one. Raises `Unavailable`."""


class Sender(Protocol):
    """Sends breadcrumbs of the service's own: they enter the store through the stream."""

    async def send(self, subject: str, data: bytes, message_id: str, *, triggers: bool = False) -> Arrival:
        """Publish and return what the stream will hand over. Raises `Unavailable`. triggers: it may ask for contexts.

        The same message id twice within the server's window is one breadcrumb: the first one is returned, whatever its words,
        because it is what every worker reads. Raises `Rejected` when it stands on another subject.
        """


class Summarizer(Protocol):
    """Makes the lines of a summary out of earlier lines and of what was said since. A fallback needs no such port."""

    @property
    def name(self) -> str:
        """What the summary names as its maker."""

    async def summarise(self, lines: tuple[Line, ...], said: tuple[Said, ...], cap: int) -> tuple[Line, ...]:
        """At most `cap` tokens of lines in the language of what was said, each with the breadcrumbs that it was made from.

        Raises `Unavailable` when there is nobody who could, or nothing useful came back after all attempts.
        """


class Delivery(Protocol):
    """One hand-over of an arrival by the broker, settled exactly once by the worker. Settling never raises."""

    @property
    def arrival(self) -> Arrival:
        """What came."""

    async def ack(self) -> None:
        """Done with it."""

    async def retry(self, delay: float) -> None:
        """Deliver it again after `delay` seconds."""

    async def reject(self) -> None:
        """Never deliver it again."""

    async def keep_alive(self) -> None:
        """Tell the broker that work goes on."""
