"""What the worker tells about one delivery, for the log line and the metrics."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """replay: it came by an import, or from the service itself.

    outcome: remembered, published, expired, rejected, unavailable or failed.

    seconds: from fetch to settle. build: seconds of remembering, recall and assembly, None where nothing was built.
    tokens: of the contexts published. stopped: a consumer got none because the causal chain is too long.
    """

    subject: str
    sequence: int
    replay: bool
    outcome: str
    seconds: float
    build: float | None = None
    tokens: tuple[int, ...] = ()
    reason: str = ""
    loop_stopped: bool = False

    @property
    def contexts(self) -> int:
        """How many were published."""
        return len(self.tokens)
