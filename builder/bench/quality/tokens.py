"""`bench tokens`: true tokens of the context beside what agents send without it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from builder.app.components import Components, counter
from builder.bench.data.datasets import Conversation, Dataset, remember
from builder.bench.quality.recall import Outcome, ask, folded, outcome_of, summary, tokens
from builder.bench.summaries import summarise
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.extras.demo.baselines import ALL_JSON, LAST_TEXT, baselines_of


async def run(
    core: Components, dataset: Dataset, profile: Profile, budgets: tuple[int, ...], step: Callable[[], None]
) -> dict[str, Any]:
    """Means over the questions: what the baselines cost and hold, and the context at each budget.

    equal: the smallest budget at which the contexts hold all of the evidence for at least as many questions as the last messages
    as text.
    step: called after each message and question, for a progress bar.
    """
    for conversation in dataset.conversations:
        await remember(core.builder, conversation, step)
        await summarise(core, (profile,), conversation.breadcrumbs[-1])
    sent = _sent(dataset)
    rows = {str(budget): await _at(core, dataset, replace(profile, budget=budget), sent, step) for budget in sorted(budgets)}
    enough = (budget for budget, row in rows.items() if row["evidence_all"] >= sent[LAST_TEXT]["evidence_all"])
    equal = next(enough, None)
    return {
        "dataset": dataset.name,
        "profile": profile.consumer,
        "questions": dataset.question_count,
        "baselines": sent,
        "budgets": rows,
        "equal": {"budget": int(equal), **rows[equal]} if equal else None,
    }


async def _at(
    core: Components, dataset: Dataset, profile: Profile, sent: dict[str, dict[str, float]], step: Callable[[], None]
) -> dict[str, float]:
    outcomes = []
    for conversation in dataset.conversations:
        for question in conversation.questions:
            outcomes.append(await ask(core.builder, conversation, question, profile))
            step()
    row = tokens(outcomes)
    saved = {f"saved against {name}": round(1 - row["tokens_mean"] / sent[name]["tokens_mean"], 4) for name in sent}
    return {**row, **summary(outcomes), **saved}


def _sent(dataset: Dataset) -> dict[str, dict[str, float]]:
    """What each baseline costs and holds: the same for all questions of a conversation."""
    by_name: dict[str, list[Outcome]] = {}
    for conversation in dataset.conversations:
        for name, (count, text) in _of_conversation(conversation).items():
            page = folded(text)
            for question in conversation.questions:
                by_name.setdefault(name, []).append(outcome_of(conversation, question, page, count))
    return {name: {**tokens(outcomes), **summary(outcomes)} for name, outcomes in by_name.items()}


def _of_conversation(conversation: Conversation) -> dict[str, tuple[int, str]]:
    """Tokens of each baseline, and its text without JSON."""
    count = counter()
    bodies = [(crumb.schema, json.loads(crumb.body)) for crumb in conversation.breadcrumbs]
    texts = baselines_of(bodies, list(map(_record, conversation.breadcrumbs)))
    conversation_rows = {ALL_JSON: "\n".join(crumb.text for crumb in conversation.breadcrumbs)}
    return {name: (count(text), conversation_rows.get(name, texts[LAST_TEXT])) for name, text in texts.items()}


def _record(crumb: Breadcrumb) -> str:
    """A breadcrumb as a record again."""
    record = {
        "id": crumb.id,
        "schema_name": crumb.schema,
        "version": crumb.version,
        "tags": crumb.tags,
        "context": json.loads(crumb.body),
        "created_at": crumb.created_at.isoformat(),
    }
    return json.dumps(record, ensure_ascii=False)
