"""The causal chain of a message, and its limit."""

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import ChainTooLong
from builder.domain.profile import Profile
from builder.ports.store import Reader

MAX_LINKS_SHOWN = 5
"""Links of a long chain that the reason shows."""


async def chain_refusals(reader: Reader, trigger: Breadcrumb, consumers: tuple[Profile, ...]) -> dict[str, ChainTooLong]:
    """Consumer → the error, where the chain exceeds its recursion limit. Raises `Unavailable`."""
    if not trigger.answers or not consumers:
        return {}
    limit = max(profile.recursion_limit for profile in consumers)
    links = await reader.chain(trigger.workspace, trigger.answers, trigger.place, limit + 1)
    return {
        profile.consumer: chain_too_long((trigger.id, *links), profile.recursion_limit)
        for profile in consumers
        if len(links) > profile.recursion_limit
    }


def chain_too_long(links: tuple[str, ...], limit: int) -> ChainTooLong:
    """links: from the trigger back, as far as they were read."""
    return ChainTooLong(
        f"the causal chain has more than {limit} steps (recursion_limit): {' answers '.join(links[:MAX_LINKS_SHOWN])} answers …; "
        "let one of these agents stop answering the others, or raise the profile's recursion_limit"
    )
