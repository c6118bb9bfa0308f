"""`bench prefix`: how much of a page the next one begins with, replayed turn by turn (features H4, J5)."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from builder.app import Core, encoder
from builder.bench.datasets import Conversation, Dataset
from builder.bench.recall import Outcome, ask, summary
from builder.domain.context import Context
from builder.domain.profile import Profile

TURNS = 60
LEAST, BLOCK = 1024, 128
"""What providers cache of a prompt: nothing below the first number of tokens, then whole blocks of the second."""
FRONT = ("system", "retrieval", "hot", "tools", "instructions", "summary", "standing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Two contexts of one session, one after the other. Tokens: of the first, of their common beginning, of the second."""

    before: int
    reused: int
    tokens: int

    @property
    def share(self) -> float:
        """Of the previous context's tokens."""
        return self.reused / self.before

    @property
    def cached(self) -> int:
        """Tokens that a provider would have had."""
        return self.reused // BLOCK * BLOCK if self.reused >= LEAST else 0


def naive(profile: Profile) -> Profile:
    """The order that everybody writes first: what was found in front, what stands behind it, dates everywhere."""
    sections = sorted(profile.sections, key=lambda rule: FRONT.index(rule.source) if rule.source in FRONT else len(FRONT))
    dated = tuple(replace(rule, dates="none" if rule.source in {"standing", "trigger"} else "day") for rule in sections)
    return replace(profile, sections=dated)


async def run(
    core: Core, dataset: Dataset, orders: Mapping[str, Profile], turns: int, step: Callable[[], None]
) -> dict[str, Any]:
    """A row an order: reuse, what a provider would have cached, and the evidence that stands on the page.

    turns: the last so many of each conversation. step: called after each message, turn and question.
    """
    for conversation in dataset.conversations:
        for breadcrumb in conversation.breadcrumbs:
            await core.builder.remember(breadcrumb)
            step()
    return {
        "dataset": dataset.name,
        "turns": turns,
        "orders": {name: await _order(core, dataset, profile, turns, step) for name, profile in orders.items()},
    }


async def _order(core: Core, dataset: Dataset, profile: Profile, turns: int, step: Callable[[], None]) -> dict[str, Any]:
    encode = encoder(profile.encoding)
    steps: list[Step] = []
    outcomes: list[Outcome] = []
    for conversation in dataset.conversations:
        pages = [encode(context.markdown) for context in await _replay(core, conversation, profile, turns, step)]
        steps += [Step(before=len(old), reused=_common(old, new), tokens=len(new)) for old, new in pairwise(pages)]
        for question in conversation.questions:
            outcomes.append(await ask(core.builder, conversation, question, profile, None))
            step()
    return {
        "steps": len(steps),
        "tokens_mean": round(statistics.fmean(each.tokens for each in steps), 1),
        "reused_median": round(statistics.median(each.share for each in steps), 4),
        "reused_mean": round(statistics.fmean(each.share for each in steps), 4),
        "cached_share": round(sum(each.cached for each in steps) / sum(each.tokens for each in steps), 4),
        **summary(outcomes),
    }


async def _replay(
    core: Core, conversation: Conversation, profile: Profile, turns: int, step: Callable[[], None]
) -> list[Context]:
    """The contexts of the last user messages, as each would have been sent when it was said."""
    asked = [crumb for crumb in conversation.breadcrumbs if crumb.role == "user"][-turns:]
    contexts: list[Context] = []
    for trigger in asked:
        contexts += (await core.builder.answer(await core.builder.remember(trigger), (profile,))).contexts
        step()
    return contexts


def _common(old: list[int], new: list[int]) -> int:
    """Tokens in which both begin."""
    return next(
        (place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )
