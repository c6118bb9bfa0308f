"""A breadcrumb with its facts: what ingestion finds in this breadcrumb alone, independent of any other."""

from dataclasses import dataclass, replace

from builder.domain.breadcrumb import Breadcrumb, Place


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a breadcrumb's text that is searched on its own (about 90 words)."""

    start: int
    """Offset of its first character in the text."""
    end: int
    """Offset behind its last character."""
    terms: str
    """Our own stemmed terms in order, joined by spaces."""
    vector: bytes
    """Unit vector as little-endian float16 bytes; empty until an engine has embedded the passage."""
    tokens: int
    """Token count (o200k_base)."""
    traits: int = 0
    """Bits of `builder.language.traits.Trait`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBreadcrumb:
    """A breadcrumb with its facts, as the store keeps it."""

    breadcrumb: Breadcrumb
    passages: tuple[Passage, ...]
    model: str
    """Id of the engine that made the vectors; vectors of two models are never compared. Empty until all passages have one."""
    fingerprint: bytes
    """Hash of what is compared of the text (`builder.language.sameness`); equal for repeats."""
    joins: str = ""
    """In a recall, the session that an answer of no session joined (`Breadcrumb.joins_by`); "" for all others."""
    entry: Place | None = None
    """In a recall, the place of a person's first words when it came into the scope with these: what agents said before them."""
    is_cut: bool = False
    """In a recall, of a person's first words where another person spoke before: nothing before them is in the scope."""

    @property
    def order(self) -> tuple[Place, int]:
        """To sort the rows of a recall: what comes with a person's first words stands in front of these, and behind all else."""
        return (self.breadcrumb.place, 1) if self.entry is None else (self.entry, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A stored breadcrumb that expired, an earlier version of one, or a summary made from one."""

    breadcrumb: Breadcrumb
    size: int
    """Bytes that the store holds of it."""


def erased(breadcrumb: Breadcrumb) -> Breadcrumb:
    """The trace of an erased breadcrumb: its identity, its place, what it answered, as a result too, and whether it is private.

    A session that its first breadcrumb keeps out of a person's memory stays out of it when this one is erased.
    """
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
