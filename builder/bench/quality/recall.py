"""`bench recall`: how much of the evidence stands on the page that is sent, within a token budget."""

import statistics
from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from time import perf_counter
from types import MappingProxyType
from typing import Any

from builder.bench.data.datasets import Conversation, Dataset, Question, remember
from builder.bench.data.unanswerable import foreign, small_talk
from builder.bench.speed.quantiles import at, milliseconds
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.recall.search.ranking import Ranker
from builder.service import ContextBuilder

WHOLE_CHARS = 300
"""Characters up to which an evidence message counts only as a whole."""
NO_RANKERS: Mapping[str, Ranker] = MappingProxyType({})
FOREIGN_QUESTIONS = 50
"""Questions of other conversations that each conversation is asked."""
STRETCH_CHARS = 200
"""Contiguous characters of a longer one that must stand on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question at one budget."""

    category: str
    share: float
    """Share of its evidence that is on the page."""
    session_share: float | None = None
    """Share of the sessions that answer it with a message on the page. None = the data set names none."""
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Tokens found for triggers without an answer, by kind of trigger."""

    foreign: tuple[int, ...]
    small_talk: tuple[int, ...]


async def run(
    builder: ContextBuilder,
    dataset: Dataset,
    profile: Profile,
    budgets: tuple[int, ...],
    step: Callable[[], None],
    rankers: Mapping[str, Ranker] = NO_RANKERS,
    summarise: Callable[[Breadcrumb], Awaitable[None]] | None = None,
) -> dict[str, Any]:
    """The report, without its model: evidence on the page, and tokens found for triggers without an answer.

    step: called after each message and question, for a progress bar.

    rankers: session → weights to use for it instead of the bundled ones. summarise: called with the last breadcrumb of
    each session.
    """
    outcomes: dict[int, list[Outcome]] = {budget: [] for budget in budgets}
    idle: dict[int, list[Idle]] = {budget: [] for budget in budgets}
    seconds: list[float] = []
    for conversation in dataset.conversations:
        await remember(builder, conversation, step)
        if summarise:
            for end in conversation.ends:
                await summarise(end)
    for conversation in dataset.conversations:
        weighted = copy(builder)
        weighted.ranker = rankers.get(conversation.session, builder.ranker)
        for question in conversation.questions:
            for budget in budgets:
                start = perf_counter()
                outcome = await ask(weighted, conversation, question, replace(profile, budget=budget))
                seconds.append(perf_counter() - start)
                outcomes[budget].append(outcome)
            step()
        for budget in budgets:
            idle[budget].append(await _idle(weighted, dataset, conversation, replace(profile, budget=budget)))
    return {
        "dataset": dataset.name,
        "questions": dataset.question_count,
        "budgets": {
            str(budget): summary(results) | tokens(results) | _found_for_nothing(idle[budget])
            for budget, results in outcomes.items()
        },
        "by_category": _by_category(outcomes),
        "latency_ms": _latency(seconds),
    }


async def ask(builder: ContextBuilder, conversation: Conversation, question: Question, profile: Profile) -> Outcome:
    """One context, and how much of the question's evidence stands on it; none of it when it is refused."""
    trigger = await builder.ingest.facts(question.trigger)
    built = await builder.build_contexts(trigger, (profile,))
    if built.rejected:
        return outcome_of(conversation, question, "", 0)
    (context,) = built.contexts
    page = without_question(context.markdown, question.trigger.text)
    return outcome_of(conversation, question, page, context.tokens)


def outcome_of(conversation: Conversation, question: Question, page: str, tokens: int) -> Outcome:
    """How much of the evidence stands on a page. page: folded."""
    evidence = [crumb for crumb in conversation.breadcrumbs if crumb.id in question.evidence]
    share = statistics.fmean(recalled(crumb, page) for crumb in evidence) if evidence else 0.0
    sessions = [_is_found(conversation, session, page) for session in map(frozenset, question.evidence_sessions)]
    return Outcome(
        category=question.category,
        share=share,
        session_share=statistics.fmean(sessions) if sessions else None,
        tokens=tokens,
    )


def _is_found(conversation: Conversation, session: frozenset[str], page: str) -> bool:
    """Whether a message of the session stands on the page that says what no other session says. session: ids."""
    own = [crumb for crumb in conversation.breadcrumbs if crumb.id in session and recalled(crumb, page)]
    others = [folded(crumb.text) for crumb in conversation.breadcrumbs if crumb.id not in session] if own else []
    return any(not any(folded(crumb.text) in other for other in others) for crumb in own)


async def _idle(builder: ContextBuilder, dataset: Dataset, conversation: Conversation, profile: Profile) -> Idle:
    """Tokens found for questions of the other conversations and for small talk."""

    async def found_tokens(trigger: Breadcrumb) -> int:
        built = await builder.build_contexts(await builder.ingest.facts(trigger), (profile,))
        return sum(section.tokens for context in built.contexts for section in context.sections if section.probability_by_id)

    return Idle(
        foreign=tuple([await found_tokens(trigger) for trigger in foreign(conversation, (dataset,), FOREIGN_QUESTIONS)]),
        small_talk=tuple([await found_tokens(trigger) for trigger in small_talk(conversation)]),
    )


def _found_for_nothing(idle: list[Idle]) -> dict[str, float]:
    """Mean tokens found for triggers without an answer."""
    kinds = {
        "found_foreign": [tokens for each in idle for tokens in each.foreign],
        "found_small_talk": [tokens for each in idle for tokens in each.small_talk],
    }
    return {kind: round(statistics.fmean(counts), 1) for kind, counts in kinds.items() if counts}


def recalled(breadcrumb: Breadcrumb, page: str) -> bool:
    """Whether its text stands on the page (white space folded): the whole, or a long stretch of a long one."""
    text = folded(breadcrumb.text)
    if len(text) <= WHOLE_CHARS:
        return text in page
    return any(text[start : start + STRETCH_CHARS] in page for start in range(len(text) - STRETCH_CHARS + 1))


def without_question(markdown: str, question: str) -> str:
    """The page with its white space folded and without the question's own text."""
    page = folded(markdown)
    head, _, tail = page.rpartition(folded(question))
    return f"{head} {tail}"


def folded(text: str) -> str:
    """White space folded, as `recalled` expects its page."""
    return " ".join(text.split())


def summary(outcomes: list[Outcome]) -> dict[str, float]:
    """Shares of questions with any and with all of their evidence, and the mean share found.

    The same by sessions of the source, where the data set names them.
    """
    by_session = [outcome.session_share for outcome in outcomes if outcome.session_share is not None]
    units = {"evidence": [outcome.share for outcome in outcomes]} | ({"evidence_sessions": by_session} if by_session else {})
    return {name: round(value, 4) for unit, shares in units.items() for name, value in _shares(unit, shares).items()}


def _shares(unit: str, shares: list[float]) -> dict[str, float]:
    return {
        f"{unit}_any": statistics.fmean(share > 0 for share in shares),
        f"{unit}_all": statistics.fmean(share == 1 for share in shares),
        f"{unit}_mean": statistics.fmean(shares),
    }


def tokens(outcomes: list[Outcome]) -> dict[str, float]:
    """Mean and most tokens of the pages."""
    spent = [outcome.tokens for outcome in outcomes]
    return {"tokens_mean": round(statistics.fmean(spent), 1), "tokens_max": max(spent)}


def _by_category(outcomes: dict[int, list[Outcome]]) -> dict[str, Any]:
    names = sorted({outcome.category for results in outcomes.values() for outcome in results})
    return {
        name: {
            str(budget): {"questions": len(of_category), **summary(of_category)}
            for budget, results in outcomes.items()
            if (of_category := [outcome for outcome in results if outcome.category == name])
        }
        for name in names
    }


def _latency(seconds: list[float]) -> dict[str, float]:
    return {"p50": milliseconds(statistics.median(seconds)), "p95": milliseconds(at(seconds, 0.95))}
