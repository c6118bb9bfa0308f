"""How a delivery was settled."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    """Tokens of each published context."""
    reason: str = ""
    kind: str = ""
    """Kind of a rejection's reason: `Rejected.kind`."""
    unread: int = 0
    """Parts of its content that no reader knows."""
    parts: Mapping[Part, float] = field(default_factory=dict)
    """Seconds of each part, see `PARTS`."""

    @property
    def contexts(self) -> int:
        """Number of published contexts."""
        return len(self.tokens)
