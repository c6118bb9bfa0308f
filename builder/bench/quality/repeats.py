"""`bench repeats`: recall lost to near copies and small talk.

Each question has a conversation of its own with planted messages: ten copies of the message that ranks highest without being
evidence, each with a phrase of politeness or another end mark; near copies of the evidence with another meaning (`opposites`),
which must not be merged; and 200 lines of small talk, spread over the session. Comparable systems are measured the same way
(dup10 and spam200), but with the same copies for all questions.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from builder.app.components import Components
from builder.bench.data.datasets import Conversation, Dataset, Question
from builder.bench.data.planted import copy_of, opposites_of
from builder.bench.quality.recall import run as recall
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.profile import Profile
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.language.words import is_filler
from builder.recall.index.view import View
from builder.recall.search.ranking import rank

COPIES, SMALL_TALK = 10, 200
EVIDENCE = ("evidence_any", "evidence_all", "evidence_mean")
PLANTED = "planted"
_TALK = (
    "okay",
    "Okay!",
    "ok, thanks",
    "Thanks!",
    "sure",
    "Sounds good",
    "haha yeah",
    "Got it",
    "great",
    "Cool, thank you",
    "yep",
    "alright",
)


async def run(core: Components, dataset: Dataset, profile: Profile, budget: int, step: Callable[[], None]) -> dict[str, Any]:
    """Evidence found before and after the planting, and what of it reached the pages. `step`: once a message and question."""
    clean = await recall(core.builder, dataset, profile, (budget,), step)
    facts_by_text: dict[str, StoredBreadcrumb] = {}
    after = [
        await _planted(core, conversation, question, profile, budget, facts_by_text)
        for conversation in dataset.conversations
        for question in _stepping(conversation.questions, step)
    ]
    means = {name: round(float(np.mean([outcome[name] for outcome in after])), 4) for name in (*EVIDENCE, "copies_merged")}
    before = {name: clean["budgets"][str(budget)][name] for name in EVIDENCE}
    return {
        "dataset": dataset.name,
        "questions": len(after),
        "budget": budget,
        "copies": COPIES,
        "small_talk": SMALL_TALK,
        "opposites": sum(int(outcome["opposites"]) for outcome in after),
        "opposites_merged": sum(int(outcome["opposites_merged"]) for outcome in after),
        "clean": before,
        "planted": means,
        "difference": {name: round(means[name] - before[name], 4) for name in EVIDENCE},
    }


def _stepping(questions: tuple[Question, ...], step: Callable[[], None]) -> Any:
    for question in questions:
        yield question
        step()


async def _planted(
    core: Components,
    conversation: Conversation,
    question: Question,
    profile: Profile,
    budget: int,
    facts_by_text: dict[str, StoredBreadcrumb],
) -> dict[str, float]:
    """The question asked in a workspace of its own. Facts are those of the clean conversation, by text."""
    wrong = await _wrong(core, conversation, question, profile)
    chance = random.Random(question.id)
    copies, opposites = _copies(wrong), _opposites(conversation, question)
    planted = [*copies, *opposites, *_talk(conversation, chance)]
    workspace = f"{conversation.breadcrumbs[0].workspace}-{question.id}"
    crumbs = _spread(conversation.breadcrumbs, planted, workspace, chance)
    for crumb in crumbs:
        await core.store.remember(await _facts(core, crumb, facts_by_text))
    end = crumbs[-1].place
    trigger = replace(question.trigger, workspace=workspace, place=end.next)
    alone = replace(conversation, breadcrumbs=crumbs, questions=(replace(question, trigger=trigger),))
    report = await recall(core.builder, Dataset(name=question.id, conversations=(alone,)), profile, (budget,), lambda: None)
    row: dict[str, float] = report["budgets"][str(budget)]
    _, view = await core.builder.recall_for(trigger, profile)
    return {name: row[name] for name in EVIDENCE} | {
        "copies_merged": _merges(view, frozenset(crumb.id for crumb in copies)) / COPIES,
        "opposites": len(opposites),
        "opposites_merged": _merges(view, frozenset(crumb.id for crumb in opposites)),
    }


async def _facts(core: Components, crumb: Breadcrumb, facts_by_text: dict[str, StoredBreadcrumb]) -> StoredBreadcrumb:
    """Facts follow from the text alone."""
    if crumb.text not in facts_by_text:
        facts_by_text[crumb.text] = await core.builder.ingest.facts(crumb)
    return replace(facts_by_text[crumb.text], breadcrumb=crumb)


async def _wrong(core: Components, conversation: Conversation, question: Question, profile: Profile) -> Breadcrumb:
    """The message that ranks highest for the question without being evidence."""
    query, view = await core.builder.recall_for(question.trigger, profile)
    scores = rank(query, view, core.helpers.ranker.weights(query, view).passages)
    for passage in np.argsort(-scores, kind="stable"):
        crumb = view.breadcrumb(int(view.crumb[passage]))
        if crumb.id not in question.evidence and not is_filler(crumb.text):
            return crumb
    return conversation.breadcrumbs[0]


def _copies(wrong: Breadcrumb) -> list[Breadcrumb]:
    """The same said again by the same speaker: other openings, endings and capitals."""
    texts = (copy_of(wrong.text, number) for number in range(COPIES))
    return [replace(wrong, id=f"{PLANTED}-copy-{number}", text=text) for number, text in enumerate(texts)]


def _opposites(conversation: Conversation, question: Question) -> list[Breadcrumb]:
    """Near copies of the evidence, by the same speakers, with another meaning."""
    evidence = (crumb for crumb in conversation.breadcrumbs if crumb.id in question.evidence)
    return [
        replace(crumb, id=f"{PLANTED}-opposite-{crumb.id}-{number}", text=text)
        for crumb in evidence
        for number, text in enumerate(opposites_of(crumb.text))
    ]


def _merges(view: View, ids: frozenset[str]) -> int:
    """How many of these breadcrumbs would be shown as one with something else."""
    rows = (view.row_of(name) for name in ids)
    return sum(len(view.repeats(row)) > 1 for row in rows)


def _talk(conversation: Conversation, chance: random.Random) -> list[Breadcrumb]:
    """Small talk of all speakers."""
    speakers = {crumb.speaker: crumb for crumb in conversation.breadcrumbs}
    crumbs = list(speakers.values())
    return [
        replace(chance.choice(crumbs), id=f"{PLANTED}-talk-{number}", text=chance.choice(_TALK), calls=())
        for number in range(SMALL_TALK)
    ]


def _spread(
    original: tuple[Breadcrumb, ...], planted: list[Breadcrumb], workspace: str, chance: random.Random
) -> tuple[Breadcrumb, ...]:
    """All in one order, each planted one at the time of the message it follows."""
    behind: dict[int, list[Breadcrumb]] = {}
    for crumb in planted:
        behind.setdefault(chance.randrange(len(original)), []).append(crumb)
    order: list[Breadcrumb] = []
    for position, crumb in enumerate(original):
        order.append(crumb)
        order += [replace(each, created_at=crumb.created_at, received_at=crumb.received_at) for each in behind.get(position, ())]
    incarnation = original[0].place.incarnation
    return tuple(replace(crumb, workspace=workspace, place=Place(incarnation, number)) for number, crumb in enumerate(order, 1))
