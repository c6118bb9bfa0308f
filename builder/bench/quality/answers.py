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
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.service import ContextBuilder

Verdict = Literal["right", "insufficient", "misleading"]
GROUPS: dict[str, Callable[["Outcome"], str]] = {
    "by_kind": lambda outcome: outcome.question.kind,
    "by_language": lambda outcome: outcome.session.language,
    "by_session": lambda outcome: outcome.session.name,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One page."""

    session: Session
    question: Question
    budget: int
    verdict: Verdict
    page: Context

    @property
    def find_tokens(self) -> int:
        """Tokens of finds."""
        return sum(section.tokens for section in self.page.sections if section.probability_by_id)


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
        for number, (question, trigger) in enumerate(zip(session.questions + chat, triggers, strict=True), 1):
            remembered = await builder.ingest.facts(trigger)
            for budget in budgets:
                (page,) = (await builder.build_contexts(remembered, (replace(profile, budget=budget),))).contexts
                outcomes.append(
                    Outcome(
                        session=session, question=question, budget=budget, verdict=verdict(question, page.markdown), page=page
                    )
                )
                if folder and question not in chat and (set_aside or not session.held_out):
                    (folder / f"{session.name}-{number:02}-{budget}.md").write_text(_for_people(outcomes[-1]), "utf-8")
            step()
    aside = _report([each for each in outcomes if each.session.held_out], budgets)
    totals = {name: aside[name] for name in ("questions", "budgets")}
    tuned = _report([each for each in outcomes if not each.session.held_out], budgets)
    return tuned | {"held_out": aside if set_aside else totals}


def verdict(question: Question, markdown: str) -> Verdict:
    """Whether the page, without the question itself, holds all that the question needs, and else something that misleads.

    A question that needs nothing is one that nothing answers: any page is right that does not mislead.
    """
    page = without_question(markdown, question.text)
    needs, misleads = (
        [re.search(pattern.pattern, page, re.IGNORECASE) for pattern in patterns]
        for patterns in (question.needs, question.misleads)
    )
    if all(needs) and (needs or not any(misleads)):
        return "right"
    return "misleading" if any(misleads) else "insufficient"


def _for_people(outcome: Outcome) -> str:
    """The page below its question and verdict."""
    question, page = outcome.question, outcome.page
    patterns = (" ; ".join(pattern.pattern for pattern in patterns) for patterns in (question.needs, question.misleads))
    head = f"{outcome.verdict}, {page.tokens} of {outcome.budget} tokens, {outcome.find_tokens} of finds\n{question.kind}: "
    return "{}{}\nneeds: {}\nmisleads: {}\n\n---\n\n{}".format(head, question.text, *patterns, page.markdown)


def _report(outcomes: list[Outcome], budgets: tuple[int, ...]) -> dict[str, Any]:
    """Figures by budget; right / misleading by kind, language and session."""
    answers = [each for each in outcomes if each.question.kind != "small_talk"]

    def row(group: str, key: Callable[[Outcome], str]) -> dict[str, Any]:
        counts = {
            str(budget): _counts([each for each in answers if each.budget == budget and key(each) == group]) for budget in budgets
        }
        questions = {"questions": sum(counts[str(budgets[0])].values())}
        return questions | {budget: f"{count['right']} / {count['misleading']}" for budget, count in counts.items()}

    by_budget = {str(budget): _figures([each for each in outcomes if each.budget == budget]) for budget in budgets if answers}
    groups = {name: {group: row(group, key) for group in sorted(set(map(key, answers)))} for name, key in GROUPS.items()}
    return {"questions": len(answers) // len(budgets), "budgets": by_budget, **groups}


def _figures(outcomes: list[Outcome]) -> dict[str, float]:
    """Of one budget."""
    answers = [each for each in outcomes if each.question.kind != "small_talk"]
    finds = {kind: [each.find_tokens for each in outcomes if each.question.kind == kind] for kind in ("never", "small_talk")}
    tokens = {"tokens_mean": round(statistics.fmean(each.page.tokens for each in answers), 1)}
    return _counts(answers) | tokens | {f"found_{kind}": round(statistics.fmean(finds[kind] or [0]), 1) for kind in finds}


def _counts(outcomes: list[Outcome]) -> dict[str, float]:
    return {name: sum(each.verdict == name for each in outcomes) for name in get_args(Verdict)}
