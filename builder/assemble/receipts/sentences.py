"""One breadcrumb's place on a page, or its absence, in a sentence."""

from collections.abc import Mapping, Sequence

from builder.domain.context import IRRELEVANT
from builder.domain.profile import Profile, SectionRule
from builder.domain.receipt import AbsentSource, Evidence, PagePart, Source

MAX_SIGNALS = 3
"""Signals that a sentence names, those with the most points."""
MIN_POINTS = 0.05
"""Below which a signal decides nothing."""


def present_sentence(parts: Sequence[PagePart], rules: Mapping[str, SectionRule]) -> str:
    """parts: all of one breadcrumb, at least one."""
    first = parts[0]
    places = ", ".join(dict.fromkeys(_place(part, rules) for part in parts))
    reason = "; ".join(dict.fromkeys(part.reason for part in parts))
    reduced = "; ".join(dict.fromkeys(part.reduced for part in parts if part.reduced))
    tokens = sum(part.tokens for part in parts)
    evidence = next((part.evidence for part in parts if part.evidence), None)
    return (
        f"{_name(first.source)} is on the page, {places}, with {tokens} tokens: {reason}"
        f"{f' ({evidence_words(evidence)})' if evidence else ''}{f'; not all of it is shown: {reduced}' if reduced else ''}."
    )


def absent_sentence(absent: AbsentSource, profile: Profile) -> str:
    """profile: of the consumer."""
    evidence = f" ({evidence_words(absent.evidence)})" if absent.evidence else ""
    limit, floor = profile.retrieval.min_probability, " or for room in the floor" if profile.retrieval.floor else ""
    is_bound = absent.reason == IRRELEVANT and limit is not None
    bound = f", which asks for a probability of at least {limit:g}{floor}" if is_bound else ""
    return f"{_name(absent.source)} is not on the page: {absent.reason}{bound}{evidence}."


def evidence_words(evidence: Evidence) -> str:
    """Probability, rank and the strongest signals."""
    strongest = ", ".join(
        f"{signal.name} {signal.points:+.2f}" + ("" if signal.value is None else f" from {signal.value:.3g}")
        for signal in evidence.signals[:MAX_SIGNALS]
        if abs(signal.points) >= MIN_POINTS
    )
    rank = f"rank {evidence.rank:,} of {evidence.candidates:,}"
    return f"probability {evidence.probability:.2g}, {rank}" + (f", most points: {strongest}" if strongest else "")


def _place(part: PagePart, rules: Mapping[str, SectionRule]) -> str:
    title = rules[part.section].title if part.section in rules else part.section
    if not part.first:
        return f"in {title!r}"
    lines = f"line {part.first}" if part.first == part.last else f"lines {part.first} to {part.last}"
    return f"{lines} in {title!r}"


def _name(source: Source | None) -> str:
    return f"{source.id} v{source.version} ({source.schema}, {source.speaker})" if source else "it"
