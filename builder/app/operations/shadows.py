"""Effect of shadow profiles: published contexts replayed with them, differences summed up."""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean
from typing import Any

from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import CONTEXTS
from builder.app.broker import connected
from builder.app.settings import Settings
from builder.client import Client
from builder.domain.errors import Rejected

Event = Mapping[str, Any]
REASONS = 3


async def read_contexts(settings: Settings, servers: str, workspace: str, consumers: Iterable[str], most: int) -> list[Event]:
    """The newest kept ones, newest first. Raises `Unavailable`."""
    newest: deque[Event] = deque(maxlen=most)
    names = frozenset(consumers)
    async with connected(settings, servers) as connection:
        stream = NatsStream(connection.jetstream(), lambda: 0, CONTEXTS, settings.installation)
        async for arrival in stream.follow(f"contexts.{workspace}.>", 1, (await stream.last()).next):
            event = json.loads(arrival.data)  # the event of a forgotten context is empty
            if event.get("consumer_id") in names:
                newest.append(event)
    return list(reversed(newest))


async def replayed_differences(
    client: Client, contexts: Iterable[Event], shadows: Mapping[str, str], advance: Callable[[int, int], object]
) -> list[dict[str, Any]]:
    """Replay each context with its consumer's shadows.

    shadows: name → consumer. advance: (done, total). Raises `Unavailable`.
    """
    trials = [(event, name) for event in contexts for name, consumer in shadows.items() if consumer == event["consumer_id"]]
    differences = []
    for done, (event, shadow) in enumerate(trials, 1):
        address = {"trigger": event["trigger_event_id"], "session": event["session_id"], "consumer": event["consumer_id"]}
        try:
            answer = await client.request("replay", address | {"profile": shadow})
            differences.append(difference(event, shadow, answer["after"]))
        except Rejected as error:
            differences.append(difference(event, shadow, None, str(error)))
        advance(done, len(trials))
    return differences


def difference(event: Event, shadow: str, other: Event | None, why: str = "") -> dict[str, Any]:
    """`equal_lines` is 0 to 1. other: None = no page, because of `why`."""
    ids = [dict.fromkeys(each for section in page["sections"] for each in section["ids"]) for page in (event, other or event)]
    return {
        "consumer": event["consumer_id"],
        "shadow": shadow,
        "session": event["session_id"],
        "trigger": event["trigger_event_id"],
        "tokens": event["token_count"],
        "shadow_tokens": other["token_count"] if other else None,
        "rejection": why,
        "lost": [each for each in ids[0] if other and each not in ids[1]],
        "gained": [each for each in ids[1] if each not in ids[0]],
        "equal_lines": round(equal_lines(event["content"], other["content"]), 4) if other else 0,
        "is_identical": other is not None and event["content"] == other["content"],
    }


def equal_lines(one: str, other: str) -> float:
    """Share of all lines; 1 for equal texts."""
    counts, others = Counter(one.splitlines()), Counter(other.splitlines())
    total = counts.total() + others.total()
    return 2 * (counts & others).total() / total if total else 1.0


def summarise_differences(differences: Iterable[Mapping[str, Any]], limit: int) -> dict[str, Any]:
    """A summary per consumer and shadow, and the `limit` most different contexts."""
    pairs: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for each in differences:
        pairs[each["consumer"], each["shadow"]].append(each)
    differing = [each for members in pairs.values() for each in members if not each["is_identical"]]
    return {
        "shadows": [_summary(*pair, members) for pair, members in sorted(pairs.items())],
        "most_different": sorted(differing, key=lambda each: float(each["equal_lines"]))[:limit],
    }


def _summary(consumer: str, shadow: str, members: list[Mapping[str, Any]]) -> dict[str, Any]:
    pages = [each for each in members if each["shadow_tokens"] is not None]
    return {
        "consumer": consumer,
        "shadow": shadow,
        "contexts": len(members),
        "without_page": len(members) - len(pages),
        "identical": sum(each["is_identical"] for each in members),
        "tokens_mean": round(fmean([each["tokens"] for each in pages] or [0])),
        "shadow_tokens_mean": round(fmean([each["shadow_tokens"] for each in pages] or [0])),
        "equal_lines": round(fmean(each["equal_lines"] for each in members), 3),
        "lost": sum(len(each["lost"]) for each in pages),
        "gained": sum(len(each["gained"]) for each in pages),
        "rejections": dict(Counter(each["rejection"] for each in members if each["rejection"]).most_common(REASONS)),
    }
