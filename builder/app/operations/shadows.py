"""What shadow profiles would have changed: the kept differences, summed up."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from statistics import fmean, median
from typing import Any

from builder.adapters.nats.archive import NatsShadows
from builder.app.broker import connected, topology
from builder.app.settings import Settings
from builder.domain.shadow_difference import ShadowDifference
from builder.wire.shadows import difference_json

ANY = "*"


async def read_differences(
    settings: Settings, servers: str, workspace: str, *, consumer: str = "", shadow: str = "", trigger: str = "", since: datetime
) -> list[ShadowDifference]:
    """Those of these names, "" = all, whose triggers came since then, in the order of the triggers. Raises `Unavailable`."""
    async with connected(settings, servers) as connection:
        shadows = NatsShadows(connection.jetstream(), topology(settings))
        differences = shadows.read(workspace, consumer or ANY, shadow or ANY, trigger or ANY)
        return sorted([each async for each in differences if each.at >= since], key=lambda each: each.trigger_seq)


def shadow_report(differences: Iterable[ShadowDifference], limit: int) -> dict[str, Any]:
    """A summary of each pair of consumer and shadow, and the contexts that differ most. limit: of these."""
    pairs: defaultdict[tuple[str, str], list[ShadowDifference]] = defaultdict(list)
    for each in differences:
        pairs[each.consumer, each.shadow].append(each)
    most = sorted(
        (each for members in pairs.values() for each in members if not each.is_identical),
        key=lambda each: (each.equal_lines, each.trigger_seq),
    )
    return {
        "shadows": [_summary(*pair, members) for pair, members in sorted(pairs.items())],
        "most_different": [difference_json(each) for each in most[:limit]],
    }


def _summary(consumer: str, shadow: str, members: list[ShadowDifference]) -> dict[str, Any]:
    pages = [(each.page, each.shadow_page) for each in members if each.shadow_page]
    tokens, shadow_tokens = sum(one.tokens for one, _ in pages), sum(other.tokens for _, other in pages)
    return {
        "consumer": consumer,
        "shadow": shadow,
        "contexts": len(members),
        "without_page": len(members) - len(pages),
        "identical": sum(each.is_identical for each in members),
        "tokens": tokens,
        "shadow_tokens": shadow_tokens,
        "tokens_mean": round(tokens / len(pages)) if pages else 0,
        "shadow_tokens_mean": round(shadow_tokens / len(pages)) if pages else 0,
        "saved_tokens": tokens - shadow_tokens,
        "equal_lines": round(fmean(each.equal_lines for each in members), 3),
        "lost": sum(len(each.only_consumer) for each in members if each.shadow_page),
        "gained": sum(len(each.only_shadow) for each in members),
        "out_of_order": sum(len(each.out_of_order) for each in members),
        "build_ms": round(median(one.build_ms for one, _ in pages), 1) if pages else 0.0,
        "shadow_build_ms": round(median(other.build_ms for _, other in pages), 1) if pages else 0.0,
        "flags": sorted({flag for one, other in pages for flag in {*other.flags} - {*one.flags}}),
    }
