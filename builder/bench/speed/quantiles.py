"""Quantiles and units of measured times."""

from collections.abc import Sequence


def at(values: Sequence[float], share: float) -> float:
    """The measurement below which this share of them lies."""
    return sorted(values)[int(share * (len(values) - 1))]


def milliseconds(seconds: float) -> float:
    """Rounded to hundredths."""
    return round(1e3 * seconds, 2)


def event_to_context(seconds: Sequence[float]) -> dict[str, float]:
    """Columns about the time from an event to its context, the longest included: a median hides the waits of a few users."""
    return {
        "event_to_context_p50_ms": milliseconds(at(seconds, 0.5)),
        "event_to_context_p99_ms": milliseconds(at(seconds, 0.99)),
        "event_to_context_longest_ms": milliseconds(max(seconds)),
    }
