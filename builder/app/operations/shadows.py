"""What shadow profiles would change: published contexts, replayed with them, and the differences summed up."""

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
from builder.publish.reports import Event, difference

REASONS = 3
"""Why a shadow makes no page: so many of the commonest reasons are told."""
Difference = dict[str, Any]
"""As `difference` makes it."""


async def read_contexts(
    settings: Settings, servers: str, workspace: str, consumers: Iterable[str], trigger: str, most: int
) -> list[Event]:
    """The newest published contexts of these consumers that the stream keeps, the newest first. Raises `Unavailable`.

    trigger: only those of this breadcrumb; "" = any.
    """
    newest: deque[Event] = deque(maxlen=most)
    names = frozenset(consumers)
    async with connected(settings, servers) as connection:
        stream = NatsStream(connection.jetstream(), lambda: 0, CONTEXTS, settings.installation)
        async for arrival in stream.follow(f"contexts.{workspace}.>", 1, (await stream.last()).next):
            event = json.loads(arrival.data)  # that of a forgotten context is empty
            if event.get("consumer_id") in names and trigger in ("", event["trigger_event_id"]):
                newest.append(event)
    return list(reversed(newest))


async def replayed_differences(
    client: Client, contexts: Iterable[Event], shadows: Mapping[str, str], advance: Callable[[int, int], object]
) -> list[Difference]:
    """The difference of each context by each shadow of its consumer. Raises `Unavailable`.

    shadows: name → consumer. advance: called with how many replays are done, of how many.
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


def summarise_differences(differences: Iterable[Difference], limit: int) -> dict[str, Any]:
    """A summary of each pair of consumer and shadow, and the contexts that differ most. limit: of these."""
    pairs: defaultdict[tuple[str, str], list[Difference]] = defaultdict(list)
    for each in differences:
        pairs[each["consumer"], each["shadow"]].append(each)
    most = sorted(
        (each for members in pairs.values() for each in members if not each["is_identical"]),
        key=lambda each: (each["equal_lines"], each["trigger_seq"]),
    )
    return {
        "shadows": [_summary(*pair, members) for pair, members in sorted(pairs.items())],
        "most_different": most[:limit],
    }


def _summary(consumer: str, shadow: str, members: list[Difference]) -> dict[str, Any]:
    built = [each for each in members if each["shadow_page"]]
    pages = [(each["page"], each["shadow_page"]) for each in built]
    tokens, shadow_tokens = sum(one["tokens"] for one, _ in pages), sum(other["tokens"] for _, other in pages)
    return {
        "consumer": consumer,
        "shadow": shadow,
        "contexts": len(members),
        "without_page": len(members) - len(pages),
        "identical": sum(each["is_identical"] for each in members),
        "tokens": tokens,
        "shadow_tokens": shadow_tokens,
        "tokens_mean": round(tokens / len(pages)) if pages else 0,
        "shadow_tokens_mean": round(shadow_tokens / len(pages)) if pages else 0,
        "saved_tokens": tokens - shadow_tokens,
        "equal_lines": round(fmean(each["equal_lines"] for each in members), 3),
        "lost": sum(len(each["only_consumer"]) for each in built),
        "gained": sum(len(each["only_shadow"]) for each in members),
        "out_of_order": sum(len(each["out_of_order"]) for each in members),
        "rejections": dict(Counter(each["rejection"] for each in members if each["rejection"]).most_common(REASONS)),
        "flags": sorted({flag for one, other in pages for flag in {*other["flags"]} - {*one["flags"]}}),
    }
