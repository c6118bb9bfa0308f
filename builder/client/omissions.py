"""Breadcrumbs that the page of a context leaves out or cuts, as its event says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """A breadcrumb that the page leaves out or cuts; `fetch_omitted` reads it."""

    id: str
    reason: str
    tokens: int
    """Tokens of all of it."""
    tokens_shown: int = 0
    """Tokens of it on the page."""
    probability: float | None = None
    """That it answers the trigger, 0 to 1; None = no search asked, or the page has it in part."""


def read_omissions(event: Mapping[str, Any]) -> tuple[Omission, ...]:
    """Omissions of an `agent.context.v1`: the most relevant left-out ones first, at most 50, then the cut ones."""
    omissions = event.get("omissions") or {}
    cut = [each for each in omissions.get("partial") or () if each["shown"] < each["tokens"]]
    return tuple(
        Omission(
            id=each["id"],
            reason=each["reason"],
            tokens=each["tokens"],
            tokens_shown=each.get("shown", 0),
            probability=each.get("probability"),
        )
        for each in (*(omissions.get("most_relevant") or ()), *cut)
    )


def omission_note(event: Mapping[str, Any]) -> str:
    """How many breadcrumbs the page leaves out, their tokens, the one that most probably answers; "" = it leaves out none."""
    omissions = event.get("omissions") or {}
    count, tokens = omissions.get("count", 0), omissions.get("tokens", 0)
    if not count:
        return ""
    first = likeliest(event)
    probability = f"; likeliest {first.id}, {percent(first.probability or 0.0)}" if first else ""
    return f"{count:,} {'breadcrumb is' if count == 1 else 'breadcrumbs are'} not on the page ({tokens:,} tokens{probability})"


def likeliest(event: Mapping[str, Any]) -> Omission | None:
    """The omission that most probably answers; None = no search was made."""
    rated = [each for each in read_omissions(event) if each.probability is not None]
    return max(rated, key=lambda each: each.probability or 0.0, default=None)


def percent(probability: float) -> str:
    """As people read it."""
    return "under 1 %" if probability < 0.01 else f"{100 * probability:.0f} %"  # noqa: PLR2004 - one hundredth
