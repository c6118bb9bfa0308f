"""`bench pages`: whether a page answers, how much of it a reader would skip, and whether the newest result stands on it whole."""

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from builder.bench.data.answer_sessions import ASSISTANT, TOOL, Message, Question, Session
from builder.bench.data.datasets import Conversation, remember
from builder.bench.data.unanswerable import ordinary
from builder.bench.quality.answers import Verdict, verdict
from builder.bench.quality.reading import Reading, twice
from builder.bench.quality.recall import folded
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.service import ContextBuilder

LATELY = 6
"""Messages with words behind which a result is no longer new."""
RUNNING_TURNS = 12
"""Results of a session, the newest ones, whose pages are built as an agent in the middle of its work gets them."""
LONG_TOKENS = 20_000
"""Sessions of at least so many tokens are told what asks for nothing old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One page of a question."""

    session: Session
    question: Question
    verdict: Verdict
    page: Context
    reading: Reading
    fits: bool
    """The whole session has room within the budget."""
    result_is_whole: bool | None
    """Whether the newest result is whole, if it is at most half of the budget and was made lately; None = it need not be."""
    twice: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """One page of an agent whose tool has just answered."""

    keeps_question: bool
    result_is_whole: bool | None
    skipped: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Builds and counts the pages of a run."""

    builder: ContextBuilder
    profile: Profile
    count: Callable[[str], int]

    async def pages(self, trigger: Breadcrumb, budget: int) -> tuple[Context, ...]:
        """The page of a message; none of a result that another agent asked for."""
        remembered = await self.builder.ingest.facts(trigger)
        return (await self.builder.build_contexts(remembered, (replace(self.profile, budget=budget),))).contexts

    async def outcome(self, session: Session, question: Question, trigger: Breadcrumb, budget: int) -> Outcome:
        """The page of a question, and how it reads."""
        (page,) = await self.pages(trigger, budget)
        until = _until(session, question.after) if question.after else session
        reading = Reading(until, page, self.profile, self.count, needed(until, question))
        sizes = {message.id: self.count(message.text) for message in until.messages}
        newest = _newest_result(until.messages)
        promised = newest and sizes[newest] <= budget / 2
        return Outcome(
            session=session,
            question=question,
            verdict=verdict(question, page.markdown),
            page=page,
            reading=reading,
            fits=sum(sizes.values()) <= budget,
            result_is_whole=reading.is_whole(newest) if promised else None,
            twice=twice(until, page, self.profile),
        )

    async def running(self, session: Session, budget: int) -> list[Running]:
        """The pages of its newest results, as its agent got them in the middle of its work."""
        of_session = {crumb.id: crumb for crumb in session.conversation.breadcrumbs}
        results = [message.id for message in session.messages if message.speaker == TOOL][-RUNNING_TURNS:]
        pages: list[Running] = []
        for result in results:
            pages += [
                self._running(_until(session, result), of_session[result], page)
                for page in await self.pages(of_session[result], budget)
            ]
        return pages

    def _running(self, until: Session, result: Breadcrumb, page: Context) -> Running:
        people = [message for message in until.messages if message.speaker not in {TOOL, ASSISTANT, *until.agents}]
        question = people[-1] if people else None
        turn = frozenset({result.id} | ({question.id} if question else set()))
        reading = Reading(until, page, self.profile, self.count, turn)
        fits = self.count(result.text) <= page.budget / 2
        return Running(
            keeps_question=question is None or folded(question.text) in folded(page.markdown),
            result_is_whole=reading.is_whole(result.id) if fits else None,
            skipped=reading.skipped,
        )


def _until(session: Session, last: str) -> Session:
    """The session as it was when this message was its last one."""
    number = next(number for number, message in enumerate(session.messages) if message.id == last)
    return session.model_copy(update={"messages": session.messages[: number + 1]})


def needed(session: Session, question: Question) -> frozenset[str]:
    """Ids of all messages and results that have something of what the question needs."""
    texts = {message.id: folded(message.text) for message in session.messages}
    return frozenset(
        id_ for id_, text in texts.items() if any(re.search(each.pattern, text, re.IGNORECASE) for each in question.needs)
    )


def _newest_result(messages: Sequence[Message]) -> str:
    """Id of the newest result, where it was made within the last six messages with words; "" = of none."""
    words = 0
    for message in reversed(messages):
        if message.speaker == TOOL:
            return message.id
        words += bool(message.text)
        if words > LATELY:
            return ""
    return ""


async def run(
    bench: Bench,
    sessions: Sequence[Session],
    idle: Sequence[Conversation],
    budgets: tuple[int, ...],
    step: Callable[[], None],
) -> dict[str, Any]:
    """The report. idle: long conversations that are told what asks for nothing old."""
    outcomes: dict[int, list[Outcome]] = {budget: [] for budget in budgets}
    running: dict[int, list[Running]] = {budget: [] for budget in budgets}
    for session in sessions:
        await remember(bench.builder, session.conversation, step)
        triggers = [question.trigger for question in session.conversation.questions]
        for question, trigger in zip(session.questions, triggers, strict=True):
            for budget in budgets:
                outcomes[budget].append(await bench.outcome(session, question, trigger, budget))
            step()
        for budget in budgets:
            running[budget] += await bench.running(session, budget)
    tokens = await _ordinary_tokens(bench, sessions, idle, budgets, step)
    return {
        "questions": sum(len(session.questions) for session in sessions),
        "budgets": {str(budget): _figures(outcomes[budget]) | {"tokens_ordinary": _mean(tokens[budget])} for budget in budgets},
        "running": {str(budget): _of_running(running[budget]) for budget in budgets if running[budget]},
        "by_kind": _groups(outcomes, lambda outcome: outcome.question.kind),
        "by_session": _groups(outcomes, lambda outcome: outcome.session.name),
    }


async def _ordinary_tokens(
    bench: Bench,
    sessions: Sequence[Session],
    idle: Sequence[Conversation],
    budgets: tuple[int, ...],
    step: Callable[[], None],
) -> dict[int, list[int]]:
    """Budget → tokens of each page of what asks for nothing old."""
    tokens: dict[int, list[int]] = {budget: [] for budget in budgets}
    for conversation in (*idle, *_long(bench, sessions)):
        if conversation in idle:
            await remember(bench.builder, conversation, step)
        for trigger in ordinary(conversation, held_out=True):
            for budget in budgets:
                tokens[budget] += [page.tokens for page in await bench.pages(trigger, budget)]
            step()
    return tokens


def _long(bench: Bench, sessions: Sequence[Session]) -> Iterator[Conversation]:
    for session in sessions:
        if sum(bench.count(message.text) for message in session.messages) >= LONG_TOKENS:
            yield session.conversation


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    answered = [each for each in outcomes if each.question.needs]
    pressed = [each for each in outcomes if not each.fits]
    results = [each.result_is_whole for each in pressed if each.result_is_whole is not None]
    return {
        "right": f"{sum(each.verdict == 'right' for each in answered)} of {len(answered)}",
        "misleading": sum(each.verdict == "misleading" for each in outcomes),
        "exceeded": sum(each.page.tokens > each.page.budget for each in outcomes),
        "tokens": _mean(each.page.tokens for each in pressed),
        "skipped": _mean(each.reading.skipped for each in pressed),
        "signs": _mean(each.reading.signs / each.page.tokens for each in pressed),
        "newest_piece": _mean(each.reading.newest_piece for each in pressed),
        "newest_result_whole": f"{sum(results)} of {len(results)}",
        "twice": sum(each.twice for each in outcomes),
    }


def _of_running(pages: Sequence[Running]) -> dict[str, Any]:
    results = [each.result_is_whole for each in pages if each.result_is_whole is not None]
    return {
        "pages": len(pages),
        "question": sum(each.keeps_question for each in pages),
        "result_whole": f"{sum(results)} of {len(results)}",
        "skipped": _mean(each.skipped for each in pages),
    }


def _groups(outcomes: Mapping[int, list[Outcome]], key: Callable[[Outcome], str]) -> dict[str, dict[str, Any]]:
    """Group → questions, and by budget "right / misleading, tokens"."""
    rows: dict[str, dict[str, Any]] = {}
    for budget, every in outcomes.items():
        for group in sorted(set(map(key, every))):
            pages = [each for each in every if key(each) == group]
            right, misleading = (sum(each.verdict == name for each in pages) for name in ("right", "misleading"))
            tokens = round(statistics.fmean(each.page.tokens for each in pages))
            rows.setdefault(group, {"questions": len(pages)})[str(budget)] = f"{right} / {misleading}, {tokens}"
    return rows


def _mean(values: Iterable[float]) -> float:
    """0 of none."""
    numbers = list(values)
    mean = statistics.fmean(numbers) if numbers else 0.0
    return round(mean, 3) if mean < 1 else round(mean)
