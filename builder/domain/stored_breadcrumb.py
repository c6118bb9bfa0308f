"""What ingestion learns from one breadcrumb alone. Nothing here depends on any other breadcrumb."""

from dataclasses import dataclass, replace

from builder.domain.breadcrumb import Breadcrumb


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a breadcrumb's text that is searched on its own (about 90 words).

    start, end: character offsets into the text.
    terms: our own stemmed terms in order, joined by spaces.
    vector: unit vector as little-endian float16 bytes; empty when no engine has seen it yet.
    tokens: token count of the passage (o200k_base).
    traits: bits of what its words show (`builder.language.traits.Trait`).
    """

    start: int
    end: int
    terms: str
    vector: bytes
    tokens: int
    traits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBreadcrumb:
    """A breadcrumb with its facts, as the store keeps it.

    model: id of the engine that made the vectors; vectors of two models are never compared. Empty when no engine has seen the
    breadcrumb yet: then none of its passages has a vector, and they are filled in later.
    fingerprint: hash of what is compared of the text (`language/sameness.py`); equal for repeats.
    joins: in a recall, the session that an answer of no session joined (`Breadcrumb.joins_by`); "" for all others.
    """

    breadcrumb: Breadcrumb
    passages: tuple[Passage, ...]
    model: str
    fingerprint: bytes
    joins: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A stored breadcrumb whose time is over, an earlier version of one, or a summary made from one.

    size: bytes that the store holds of it.
    """

    breadcrumb: Breadcrumb
    size: int


def erased(breadcrumb: Breadcrumb) -> Breadcrumb:
    """What is left of a breadcrumb that was forgotten: which one it was, where it stood, what it answered. It removes itself."""
    return replace(
        breadcrumb,
        speaker="",
        user_id="",
        utc_offset=None,
        role="other",
        tags=(),
        body="{}",
        text="",
        calls=(),
        removes=breadcrumb.id,
        pointers=(),
        expires_at=None,
        task="",
        tool="",
        failed=False,
        call_signatures=(),
        covers=(),
    )
