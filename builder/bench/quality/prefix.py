"""`bench prefix`: how much of a page the next one begins with, replayed turn by turn."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from builder.app.components import Components
from builder.bench.data.datasets import Conversation, Dataset, spaced
from builder.bench.quality.recall import Outcome, ask, summary
from builder.bench.scratch import encoder
from builder.bench.summaries import summarise
from builder.domain.context import Context
from builder.domain.profile import Profile

SMALLER_BUDGETS = (500, 1000, 2000)
"""Budgets below the profile's own at which cost and evidence are measured too."""
EVIDENCE_SHARE = 0.8
"""Share of questions with all of their evidence on the page at which pages are compared by cost."""
CACHED_TOKEN_PRICE = 0.1
"""Price of a token that the provider has from its cache, as a share of a new one's."""
MIN_CACHED_TOKENS, CACHE_BLOCK_TOKENS = 1024, 128
"""What providers cache of a prompt: nothing below the first number of tokens, then whole blocks of the second."""
Sized = tuple[str, int]
"""An order at a budget."""
FRONT = ("system", "retrieval", "window", "tools", "instructions", "summary", "pinned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Two successive contexts of one session."""

    before: int
    """Tokens of the first."""
    reused: int
    """Tokens of their common beginning."""
    tokens: int
    """Tokens of the second."""
    front: tuple[int, int] = (0, 0)
    """Tokens in front of the finds, of both."""

    @property
    def front_share(self) -> float:
        """Of the first context's front, what the second begins with."""
        return min(self.reused, self.front[0]) / self.front[0] if self.front[0] else 0.0

    @property
    def share(self) -> float:
        """Of the previous context's tokens."""
        return self.reused / self.before

    @property
    def cached(self) -> int:
        """Tokens that a provider would have cached."""
        return self.reused // CACHE_BLOCK_TOKENS * CACHE_BLOCK_TOKENS if self.reused >= MIN_CACHED_TOKENS else 0


def naive(profile: Profile) -> Profile:
    """The naive order: finds in front, everything else behind them, dates everywhere."""
    sections = sorted(profile.sections, key=lambda rule: FRONT.index(rule.source) if rule.source in FRONT else len(FRONT))
    dated = tuple(replace(rule, dates="none" if rule.source in {"pinned", "trigger"} else "day") for rule in sections)
    return replace(profile, sections=dated)


def orders(core: Components, profile: str) -> dict[str, Profile]:
    """What is compared: a profile, the same in the naive order, and the preset of three tiers. Raises `Misconfigured`."""
    own = core.profile(profile)
    return {profile: own, "naive": naive(own), "three_tier": core.preset("three_tier")}


async def run(
    core: Components, dataset: Dataset, orders: Mapping[str, Profile], turns: int, step: Callable[[], None]
) -> dict[str, Any]:
    """A row an order: reuse, what a provider would have cached, and the evidence that stands on the page.

    Summaries are made as a service would make them, after each message. turns: the last so many of each conversation.
    step: called after each message and question. Each order is measured at smaller budgets too, for what its evidence costs.
    """
    dataset = spaced(dataset)
    sized = {(name, budget): replace(profile, budget=budget) for name, profile in orders.items() for budget in _budgets(profile)}
    steps: dict[Sized, list[Step]] = {key: [] for key in sized}
    outcomes: dict[Sized, list[Outcome]] = {key: [] for key in sized}
    for conversation in dataset.conversations:
        replayed = await _replay(core, conversation, sized, turns, step)
        for key, contexts in replayed.items():
            steps[key] += _steps(contexts)
        for question in conversation.questions:
            for key, profile in sized.items():
                outcomes[key].append(await ask(core.builder, conversation, question, profile))
            step()
    return {"dataset": dataset.name, "turns": turns, "orders": {name: _order(name, steps, outcomes) for name in orders}}


def _budgets(profile: Profile) -> tuple[int, ...]:
    """Ascending, the profile's own last."""
    return (*(budget for budget in SMALLER_BUDGETS if budget < profile.budget), profile.budget)


def _order(name: str, steps: Mapping[Sized, list[Step]], outcomes: Mapping[Sized, list[Outcome]]) -> dict[str, Any]:
    """The row of an order at its own budget, and its cost at a given evidence."""
    sizes = sorted(budget for other, budget in steps if other == name)
    points = [(summary(outcomes[name, budget])["evidence_all"], cost(steps[name, budget])) for budget in sizes]
    own = name, sizes[-1]
    return {
        **_row(steps[own]),
        **summary(outcomes[own]),
        "cost": round(points[-1][1], 1),
        "cost_at_80": cost_at(EVIDENCE_SHARE, points),
    }


def cost(steps: list[Step]) -> float:
    """Mean price of a page in new tokens: what the provider has from its cache costs a tenth."""
    return statistics.fmean(each.tokens - each.reused + CACHED_TOKEN_PRICE * each.reused for each in steps)


def cost_at(evidence: float, points: list[tuple[float, float]]) -> float | None:
    """Between the two budgets around it, in a straight line; None where it is not reached. points: (evidence, cost) by budget."""
    if points[0][0] >= evidence:
        return round(points[0][1], 1)
    for (less, cheap), (more, dear) in pairwise(points):
        if less < evidence <= more:
            return round(cheap + (dear - cheap) * (evidence - less) / (more - less), 1)
    return None


async def _replay(
    core: Components, conversation: Conversation, orders: Mapping[Sized, Profile], turns: int, step: Callable[[], None]
) -> dict[Sized, list[Context]]:
    """The contexts of the last user messages, as each would have been sent when it was said."""
    trigger_ids = {crumb.id for crumb in [crumb for crumb in conversation.breadcrumbs if crumb.role == "user"][-turns:]}
    contexts: dict[Sized, list[Context]] = {key: [] for key in orders}
    for crumb in conversation.breadcrumbs:
        remembered = await core.builder.remember(crumb)
        for key, profile in orders.items() if crumb.id in trigger_ids else ():
            contexts[key] += (await core.builder.build_contexts(remembered, (profile,))).contexts
        await summarise(core, tuple(orders.values()), crumb)
        step()
    return contexts


def _steps(contexts: list[Context]) -> list[Step]:
    """Of one page to the next."""
    pages = [
        (encoder(context.encoding)(context.markdown), context.breakpoints[-1].tokens if context.breakpoints else 0)
        for context in contexts
    ]
    return [
        Step(before=len(old), reused=_common(old, new), tokens=len(new), front=(front, next_front))
        for (old, front), (new, next_front) in pairwise(pages)
    ]


def _row(steps: list[Step]) -> dict[str, Any]:
    return {
        "steps": len(steps),
        "tokens_mean": round(statistics.fmean(each.tokens for each in steps), 1),
        "front_tokens": round(statistics.fmean(each.front[1] for each in steps), 1),
        "front_reused_median": round(statistics.median(each.front_share for each in steps), 4),
        "new_tokens": round(statistics.fmean(each.tokens - each.reused for each in steps), 1),
        "reused_tokens": round(statistics.fmean(each.reused for each in steps), 1),
        "reused_median": round(statistics.median(each.share for each in steps), 4),
        "reused_mean": round(statistics.fmean(each.share for each in steps), 4),
        "cached_share": round(sum(each.cached for each in steps) / sum(each.tokens for each in steps), 4),
    }


def _common(old: list[int], new: list[int]) -> int:
    """Tokens in which both begin."""
    return next(
        (place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )
