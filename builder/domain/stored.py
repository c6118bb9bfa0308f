"""A breadcrumb as the store keeps it: with its passages, and the facts that were computed once."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from builder.domain.breadcrumb import Breadcrumb, Place


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
    """Bits of `builder.language.traits.Trait`."""


class PassageFacts(NamedTuple):
    """The facts of a passage that a sketch keeps."""

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
    """Hash of what is compared of the text (`builder.language.wording`); equal for repeats."""
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
