"""The outside world as this service needs it. Each docstring is the contract that its implementations are tested against.

Vectors are little-endian float16 bytes of unit length everywhere. Pure helpers (make terms, render, count tokens) are
arguments, not ports.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from builder.domain.breadcrumb import Arrival, Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.facts import PassageKey, Remembered
from builder.domain.recall import Recall, RecallQuery
from builder.domain.summary import Line, Said


class BreadcrumbStore(Protocol):
    """Keeps breadcrumbs with their facts; a projection of the stream. All methods raise `Unavailable`."""

    async def remember(self, remembered: Remembered) -> bool:
        """Store it durably and return True; False when (workspace, id, version) is known: the first writer wins."""

    async def facts(self, breadcrumb: Breadcrumb) -> Remembered | None:
        """What is stored under (workspace, id, version), vectors included, or None. Its place may be an earlier one."""

    async def recall(self, query: RecallQuery) -> Recall:
        """Up to `limit` rows of the scope with `after` < place <= `until` in place order, and the standing ones as of `until`.

        For those only tombstones of the session and of none count, as catch-up walks no other.
        """

    async def places(self, workspace: str, session: str, after: Place, until: Place) -> frozenset[Place]:
        """Where something of the session, or of EVERY_SESSION, is stored with `after` < place < `until`."""

    async def count(self) -> int:
        """Breadcrumbs stored, old versions included."""


class TokenVectors(Protocol):
    """What late interaction reads. Remembering and filling in write it, in the same transaction; recall leaves it out."""

    async def token_vectors(self, workspace: str, passages: tuple[PassageKey, ...], model: str) -> tuple[bytes, ...]:
        """Of these passages, in the order asked; empty where none of this model are stored. Raises `Unavailable`."""


class Backlog(Protocol):
    """Breadcrumbs of model "", which no engine has seen yet. All methods raise `Unavailable`.

    Remembering one lists it, in the same transaction; filling its vectors in takes it off the list.
    """

    async def lacking(self, limit: int, after: Breadcrumb | None = None) -> tuple[Remembered, ...]:
        """Up to `limit` of them by place, then workspace and session, oldest first; `after`: only those behind this one."""

    async def fill(self, remembered: Remembered) -> bool:
        """Write the vectors and the model of what `lacking` gave, raise the `Recall.revision` of its scopes, and return True.

        False, and nothing is written, when it lacks none any more: the first writer wins.
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


class Embedder(Protocol):
    """Turns text into a unit vector. A vector is a function of its text and of `model` alone."""

    @property
    def model(self) -> str:
        """Id of the engine, the hash of its weights included; known before the engine is there, "none" when it never is."""

    async def embed(self, text: str) -> bytes:
        """The vector; texts longer than the engine's window are cut there. Raises `Unavailable`, also while it is loading."""

    async def embed_tokens(self, text: str) -> tuple[bytes, bytes]:
        """The same vector and, of the same forward pass, the token vectors; an engine that has no pieces gives none of them.

        Token vectors are the last layer's states of the word pieces of the text, in order, the marks around it left out: unit
        vectors times 127 as int8 bytes of shape (pieces, dimension). Raises `Unavailable` as `embed` does.
        """


class Stream(Protocol):
    """Reads the stream beside the subscription, for catch-up."""

    def walk(self, workspace: str, session: str, after: Place, until: Place) -> AsyncIterator[Arrival]:
        """Breadcrumbs of the session, or of EVERY_SESSION, with `after` < place < `until`, in order. Raises `Unavailable`."""


class Publisher(Protocol):
    """Sends what leaves the service."""

    async def publish(self, context: Context, event: bytes) -> None:
        """Raises `AlreadyPublished` when the server holds a context with this id, `Unavailable` when it cannot be reached."""

    async def put(self, subject: str, data: bytes, message_id: str) -> int:
        """Publish a breadcrumb of the service's own, which never triggers; returns its sequence. Raises `Unavailable`.

        The same message id twice within the server's window is one breadcrumb, with the first one's sequence.
        """

    async def dead_letter(self, arrival: Arrival, reason: str) -> None:
        """Keep what was rejected, with its reason, subject and sequence. Twice for one place keeps one. Raises `Unavailable`."""


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
