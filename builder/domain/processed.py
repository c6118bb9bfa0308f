"""What the worker tells about one delivery, for the log line and the metrics."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Processed:
    """outcome: remembered, published, expired, rejected, unavailable or failed.

    seconds: from fetch to settle. age: seconds since the stream took it. tokens: of the contexts published.
    """

    subject: str
    sequence: int
    outcome: str
    seconds: float
    age: float
    contexts: int = 0
    tokens: tuple[int, ...] = ()
    reason: str = ""
