"""What ingestion learns from one breadcrumb alone. Nothing here depends on any other breadcrumb."""

from dataclasses import dataclass

from builder.domain.breadcrumb import Breadcrumb


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a breadcrumb's text that is searched on its own (about 90 words, `reference/retrieval.md` §6).

    start, end: character offsets into the text.
    terms: our own stemmed terms in order, joined by spaces.
    vector: unit vector as little-endian float16 bytes; empty when no engine has seen it yet.
    tokens: token count of the passage (o200k_base).
    traits: bits of what its words show (`builder.pipeline.traits.Trait`).
    """

    start: int
    end: int
    terms: str
    vector: bytes
    tokens: int
    traits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A breadcrumb with its facts, as the store keeps it.

    model: id of the engine that made the vectors; vectors of two models are never compared. Empty when no engine has seen the
    breadcrumb yet: then none of its passages has a vector, and they are filled in later (features I13).
    fingerprint: hash of the normalised text (features F1); equal for exact repeats.
    """

    breadcrumb: Breadcrumb
    passages: tuple[Passage, ...]
    model: str
    fingerprint: bytes
