"""What the service reports: a delivery that was settled, an erasure, a template that failed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from builder.domain.breadcrumb import Place
from builder.domain.timing import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """How one delivery was settled."""

    subject: str
    place: Place
    replay: bool
    """True for an import, and for a breadcrumb of the service itself."""
    outcome: str
    """One of remembered, published, superseded, waiting, expired, rejected, unavailable and failed."""
    seconds: float
    """From fetch to settle."""
    build: float | None = None
    """Seconds of remembering, recall and assembly; None where no context was built."""
    tokens: tuple[int, ...] = ()
    """Of each published context."""
    reason: str = ""
    kind: str = ""
    """Of the reason of a rejection: `Rejected.kind`."""
    parts: Mapping[Part, float] = field(default_factory=dict)
    """Seconds of each part, see `domain/timing.py`."""

    @property
    def contexts(self) -> int:
        """Number of published contexts."""
        return len(self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The account of one erasure: one breadcrumb in one session."""

    id: str
    workspace: str
    session: str
    """Its token; the client gives the session's text."""
    by: str
    """Who demanded it, for people; `System` when nobody was named."""
    at: datetime
    """Stream time of the tombstone."""
    versions: int
    """Stored versions of the breadcrumb that were erased."""
    summaries: tuple[str, ...]
    """Ids of the summaries made from it, which were erased too."""
    messages: int
    """Messages deleted from the stream of breadcrumbs."""
    contexts: int
    """Published contexts that became stubs."""
    dead_letters: int
    """Dead letters deleted."""
    cached: int
    """Vectors and fragments dropped from the memory of this process."""


TemplateKind = Literal["hints", "pages"]
LLM_HINTS = "llm_hints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failures of one template, or of the hints of records of one schema."""

    kind: TemplateKind | Literal["llm_hints"]
    name: str
    """Of the template, or of the schema."""
    reason: str
    """Of the first failure, with the line of the template."""
    instead: str
    """What was rendered in its place."""
    times: int = 1
    """Failures until now."""

    @property
    def file(self) -> str:
        """Path in the templates folder, or whose hints they are."""
        return f"{LLM_HINTS} of {self.name}" if self.kind == LLM_HINTS else f"{self.kind}/{self.name}.md.j2"
