"""Two events of `agent.context.v1` for one trigger → how their pages differ: ids and numbers, no text."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Event = Mapping[str, Any]


def difference(event: Event, shadow: str, other: Event | None, why: str = "") -> dict[str, Any]:
    """How the page by a shadow profile differs from the consumer's, as JSON.

    event: what the consumer got. other: what the shadow makes; None = no page, and `why` says why. `equal_lines` is a share
    from 0 to 1; `out_of_order` has the fewest ids on both pages that are in another order.
    """
    one, two = _ids(event), _ids(other) if other else ()
    own, others = frozenset(one), frozenset(two)
    return {
        **{name: event[name] for name in ("workspace", "trigger_seq")},
        "consumer": event["consumer_id"],
        "shadow": shadow,
        "session": event["session_id"],
        "trigger": event["trigger_event_id"],
        "at": event["assembled_at"],
        "page": _figures(event),
        "shadow_page": _figures(other) if other else None,
        "rejection": why,
        "both": len(own & others),
        "only_consumer": [each for each in one if each not in others],
        "only_shadow": [each for each in two if each not in own],
        "out_of_order": out_of_order([each for each in one if each in others], [each for each in two if each in own]),
        "equal_lines": round(equal_lines(event["content"], other["content"]), 4) if other else 0,
        "is_identical": other is not None and event["content"] == other["content"],
    }


def equal_lines(one: str, other: str) -> float:
    """Lines that both texts have, as often as both have them, as a share of all lines of both: 1 for equal texts."""
    counts, others = Counter(one.splitlines()), Counter(other.splitlines())
    total = counts.total() + others.total()
    return 2 * (counts & others).total() / total if total else 1.0


def out_of_order(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """The fewest ids without which the rest has the same order in both. Both have the same ids, each once."""
    places = {each: number for number, each in enumerate(other)}
    ends: list[int] = []  # of ascending runs of length 1, 2, …: the lowest place at which one ends
    runs: list[tuple[str, ...]] = []
    for each in one:
        length = bisect_left(ends, places[each])
        run = ((*runs[length - 1], each) if length else (each,),)
        ends[length : length + 1], runs[length : length + 1] = [places[each]], run
    stays = frozenset(runs[-1]) if runs else frozenset[str]()
    return tuple(each for each in one if each not in stays)


def _ids(event: Event) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for section in event["sections"] for each in section["ids"]))


def _figures(event: Event) -> dict[str, Any]:
    """Of one page: sections by name in page order, in tokens; what is not on it, or in part, by reason."""
    return {
        **{name: event["assembly"][name] for name in ("profile", "templates", "budget", "flags")},
        "tokens": event["token_count"],
        "sections": {section["name"]: section["tokens"] for section in event["sections"]},
        "omissions": event["omissions"]["by_reason"],
    }
