"""`bench answers`: whether the page answers what a person asks late in a long session, says too little, or misleads."""

import re
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from builder.bench.data.answer_sessions import Question, Session
from builder.bench.data.datasets import remember
from builder.bench.data.unanswerable import SMALL_TALK, small_talk
from builder.bench.quality.recall import without_question
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.service import ContextBuilder

Verdict = Literal["right", "insufficient", "misleading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One page."""

    session: str
    language: str
    kind: str
    """Of its question."""
    held_out: bool
    budget: int
    verdict: Verdict
    tokens: int
    found: int
    """Tokens of finds."""


async def run(
    builder: ContextBuilder,
    sessions: tuple[Session, ...],
    profile: Profile,
    budgets: tuple[int, ...],
    step: Callable[[], None],
    summarise: Callable[[Breadcrumb], Awaitable[None]],
    folder: Path | None = None,
    *,
    set_aside: bool = False,
) -> dict[str, Any]:
    """The report, without its model. Of sessions that are set aside it has totals alone, unless `set_aside`.

    step: called after each message and question. summarise: called with the last breadcrumb of each session. folder: gets a
    file a page, small talk excepted.
    """
    outcomes: list[Outcome] = []
    chat = tuple(Question(kind="small_talk", text=text) for text in SMALL_TALK)
    for session in sessions:
        await remember(builder, session.conversation, step)
        await summarise(session.conversation.breadcrumbs[-1])
        triggers = (*(question.trigger for question in session.conversation.questions), *small_talk(session.conversation))
        for question, trigger in zip(session.questions + chat, triggers, strict=True):
            remembered = await builder.ingest.facts(trigger)
            for budget in budgets:
                (page,) = (await builder.build_contexts(remembered, (replace(profile, budget=budget),))).contexts
                outcome = Outcome(
                    session=session.name,
                    language=session.language,
                    kind=question.kind,
                    held_out=session.held_out,
                    budget=budget,
                    verdict=verdict(question, page.markdown),
                    tokens=page.tokens,
                    found=sum(section.tokens for section in page.sections if section.probabilities),
                )
                outcomes.append(outcome)
                if folder and question not in chat and (set_aside or not session.held_out):
                    file = folder / f"{session.name}-{trigger.id.removeprefix('question-').zfill(2)}-{budget}.md"
                    file.write_text(f"{_head(question, outcome)}\n\n---\n\n{page.markdown}", "utf-8")
            step()
    aside = _report([each for each in outcomes if each.held_out], budgets)
    totals = {name: aside[name] for name in ("questions", "budgets")}
    return _report([each for each in outcomes if not each.held_out], budgets) | {"held_out": aside if set_aside else totals}


def verdict(question: Question, markdown: str) -> Verdict:
    """Whether the page, without the question itself, holds all that the question needs, and else something that misleads.

    A question that needs nothing is one that nothing answers: any page is right that does not mislead.
    """
    page = without_question(markdown, question.text)
    needs, misleads = (
        [re.search(pattern.pattern, page, re.IGNORECASE) for pattern in patterns]
        for patterns in (question.needs, question.misleads)
    )
    if needs and all(needs):
        return "right"
    if any(misleads):
        return "misleading"
    return "insufficient" if needs else "right"


def _head(question: Question, outcome: Outcome) -> str:
    """Lines for people above a page."""
    needs, misleads = (" ; ".join(pattern.pattern for pattern in patterns) for patterns in (question.needs, question.misleads))
    spent = f"{outcome.tokens} of {outcome.budget} tokens, {outcome.found} of finds"
    return f"{outcome.verdict}, {spent}\n{question.kind}: {question.text}\nneeds: {needs}\nmisleads: {misleads}"


def _report(outcomes: list[Outcome], budgets: tuple[int, ...]) -> dict[str, Any]:
    """Figures by budget; right / misleading by kind, language and session."""
    answers = [each for each in outcomes if each.kind != "small_talk"]
    report: dict[str, Any] = {"questions": len(answers) // len(budgets)}
    report["budgets"] = {
        str(budget): _figures([each for each in outcomes if each.budget == budget]) for budget in budgets if answers
    }
    for name in ("kind", "language", "session"):
        report[f"by_{name}"] = {
            group: _row([each for each in answers if getattr(each, name) == group], budgets)
            for group in sorted({getattr(each, name) for each in answers})
        }
    return report


def _figures(outcomes: list[Outcome]) -> dict[str, float]:
    answers = [each for each in outcomes if each.kind != "small_talk"]
    found = {kind: [each.found for each in outcomes if each.kind == kind] for kind in ("never", "small_talk")}
    return {
        **_counts(answers),
        "tokens_mean": round(statistics.fmean(each.tokens for each in answers), 1),
        **{f"found_{kind}": round(statistics.fmean(tokens), 1) if tokens else 0.0 for kind, tokens in found.items()},
    }


def _row(outcomes: list[Outcome], budgets: tuple[int, ...]) -> dict[str, Any]:
    counts = {str(budget): _counts([each for each in outcomes if each.budget == budget]) for budget in budgets}
    shares = {budget: f"{count['right']} / {count['misleading']}" for budget, count in counts.items()}
    return {"questions": len(outcomes) // len(budgets), **shares}


def _counts(outcomes: list[Outcome]) -> dict[str, int]:
    return {name: sum(each.verdict == name for each in outcomes) for name in get_args(Verdict)}
