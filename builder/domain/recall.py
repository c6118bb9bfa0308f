"""What the store keeps of a breadcrumb, the question that it answers, and its answer."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.selector import Pinned


@dataclass(frozen=True, slots=True)
class Passage:
    """About 90 words of a breadcrumb's text, searched on their own."""

    start: int
    """Offset of its first character in the text."""
    end: int
    """Offset after its last character."""
    terms: str
    """Our own stemmed terms in order, joined by spaces."""
    vector: bytes
    """Unit vector as little-endian float16 bytes; empty until an engine has embedded the passage."""
    tokens: int
    """Token count (o200k_base)."""
    traits: int = 0
    """Bits of `builder.language.sentences.Trait`."""


class PassageFacts(NamedTuple):
    """What a sketch keeps of a passage."""

    session: str
    place: Place
    ordinal: int
    schema: str
    terms: str
    vector: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBreadcrumb:
    """A breadcrumb with its facts, as the store keeps it."""

    breadcrumb: Breadcrumb
    passages: tuple[Passage, ...]
    model: str
    """Id of the engine that made the vectors; vectors of two models are never compared. Empty until all passages have one."""
    fingerprint: bytes
    """Hash of what is compared of the text (`builder.language.sentences`); equal for repeats."""
    joins: str = ""
    """In a recall, the session that an answer of no session joined (`Breadcrumb.joins_by`); "" for all others."""
    entry: Place | None = None
    """In a recall, the place of a person's first words when it came into the scope with these: what agents said before them."""
    is_cut: bool = False
    """In a recall, of a person's first words where another person spoke before: nothing before them is in the scope."""

    @property
    def order(self) -> tuple[Place, int]:
        """Sort key: rows that come with a person's first message sort just before it."""
        return (self.breadcrumb.place, 1) if self.entry is None else (self.entry, 0)

    def without_facts(self) -> "StoredBreadcrumb":
        """The same with passages that have no terms and no vectors."""
        passages = tuple(Passage(each.start, each.end, "", b"", each.tokens, each.traits) for each in self.passages)
        return replace(self, passages=passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An expired breadcrumb, an earlier version of one, or a summary made from one."""

    breadcrumb: Breadcrumb
    size: int
    """Bytes that the store holds of it."""


def erased(breadcrumb: Breadcrumb) -> Breadcrumb:
    """The trace of an erased breadcrumb: identity, place, what it answered, privacy."""
    return replace(
        breadcrumb,
        speaker="",
        user_id="",
        utc_offset=None,
        role="other",
        tags=(),
        body="{}",
        text="",
        calls=() if breadcrumb.call_signatures else breadcrumb.calls,
        removes=breadcrumb.id,
        is_erased=True,
        pointers=(),
        expires_at=None,
        task="",
        tool="",
        failed=False,
        call_signatures=(),
        covers=(),
        hints="",
        creator="",
        to=(),
        agent="",
    )


EVERY_SESSION = "*"
"""All sessions, in place of a session's name, as in a NATS subject. No session can have this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Sessions of one workspace, or of one person in it."""

    workspace: str
    sessions: tuple[str, ...]
    """In order and each once, or only EVERY_SESSION."""
    user: str = ""
    """A person. Every session in which this person (`user_id`) has spoken belongs to the scope from the first words on, with what
    agents said before unless another person spoke; not so when its first breadcrumb is private. The trigger's own session belongs
    to it from the trigger on at the latest."""
    shared: tuple[str, ...] = ()
    """Schemas, in order and each once, whose breadcrumbs of no session belong to every session.

    So does a later version of such a breadcrumb whatever its schema is, because it ends the earlier one. A version that comes
    after a higher one never counts.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """The first `limit` rows of a scope in a span of places. Scope and session are always named."""

    scope: Scope
    session: str
    after: Place
    """Exclusive: the caller has everything up to it."""
    until: Place
    """Inclusive."""
    limit: int
    pinned: tuple[Pinned, ...]
    """Read beside the rows as of `until`, from the session or from no session; their sections do not matter here."""
    model: str
    searched: bool = True
    """Whether terms and vectors of passages are read; without a search nothing needs them."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a `RecallQuery`."""

    rows: tuple[StoredBreadcrumb, ...]
    """In place order."""
    pinned: tuple[tuple[StoredBreadcrumb, ...], ...]
    """For each `Pinned` of the query its breadcrumbs, newest first."""
    revision: int
    """Number of later changes to rows of the scope: erasures, and answers that moved to another session.

    Rows read under another revision are out of date.
    """
