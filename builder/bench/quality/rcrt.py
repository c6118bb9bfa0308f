"""`bench rcrt`: pages beside what RCRT's two builders write for the same sessions, modelled from `rcrt-contracts.md` part 7."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from builder.app.components import Components, counter
from builder.bench.data.datasets import Conversation, Dataset, Question, pieces, remember
from builder.bench.quality.recall import Outcome, ask, folded, outcome_of, summary, tokens
from builder.domain.breadcrumb import USER_MESSAGE, Breadcrumb
from builder.domain.profile import Profile
from builder.wire.words import text_of

RECENT, HYBRID, BUDGET_TOKENS, BYTES_PER_TOKEN = 20, 10, 50_000, 3
"""Newest records of the session, records of the global search, and the newest line's budget by its own estimate."""
OURS, OLDER, NEWER = "context-builder", "RCRT, main line", "RCRT, newest line"


@dataclass(frozen=True, slots=True)
class _Row:
    """A record with its vector, as both builders keep it in one table for all owners."""

    crumb: Breadcrumb
    vector: np.ndarray[Any, np.dtype[np.float32]]


async def run(
    core: Components, dataset: Dataset, profile: Profile, sessions: int, size: int, step: Callable[[], None]
) -> dict[str, Any]:
    """Means over all questions. sessions: pieces of the data set. size: messages of each. step: called after each message."""
    parts = list(islice((part for each in dataset.conversations for part in pieces(each, size) if part.questions), sessions))
    table: list[_Row] = []
    for part in parts:
        await remember(core.builder, part, step)
        table += [_Row(crumb, await _vector(core, crumb)) for crumb in part.breadcrumbs]
    outcomes: dict[str, list[Outcome]] = {OURS: [], OLDER: [], NEWER: []}
    for part in parts:
        for question in part.questions:
            outcomes[OURS].append(await ask(core.builder, part, question, profile))
            neighbours = _nearest(table, await core.embedder.embed(question.trigger.text))
            for name, page in ((OLDER, _older(part, question, neighbours)), (NEWER, _newer(part, question, neighbours))):
                text = folded(text_of(page) if isinstance(page, dict) else page)
                sent = json.dumps(page, ensure_ascii=False) if isinstance(page, dict) else page
                outcomes[name].append(outcome_of(part, question, text, counter()(sent)))
    return {
        "dataset": dataset.name,
        "profile": profile.consumer,
        "sessions": len(parts),
        "questions": len(outcomes[OURS]),
        "builders": {name: {**tokens(each), **summary(each)} for name, each in outcomes.items()},
    }


async def _vector(core: Components, crumb: Breadcrumb) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Of title and raw body, as its server embeds a record."""
    return np.frombuffer(await core.embedder.embed(f"{crumb.schema} {crumb.body}"), "<f2").astype(np.float32)


def _nearest(table: list[_Row], query: bytes) -> list[Breadcrumb]:
    query_vector = np.frombuffer(query, "<f2").astype(np.float32)
    order = sorted(table, key=lambda row: -float(row.vector @ query_vector))
    return [row.crumb for row in order[:HYBRID]]


def _selected(part: Conversation, question: Question, neighbours: Iterable[Breadcrumb]) -> list[Breadcrumb]:
    """The trigger, the newest of the session and what is neighbours, each once, newest first."""
    chosen = {crumb.id: crumb for crumb in (*neighbours, *part.breadcrumbs[-RECENT:], question.trigger)}
    return sorted(chosen.values(), key=lambda crumb: crumb.created_at, reverse=True)


def _older(part: Conversation, question: Question, neighbours: list[Breadcrumb]) -> dict[str, Any]:
    """Its agents are sent the whole record as JSON."""
    rows = [
        {"id": crumb.id, "schema_name": crumb.schema, "created_at": crumb.created_at.isoformat(), "content": _hinted(crumb)}
        for crumb in _selected(part, question, neighbours)
    ]
    head = {"consumer_id": "default-chat-assistant", "trigger_event_id": question.trigger.id, "sources_assembled": 3}
    return head | {"token_estimate": len(json.dumps(rows)) // BYTES_PER_TOKEN, "breadcrumbs": rows}


def _newer(part: Conversation, question: Question, neighbours: list[Breadcrumb]) -> str:
    """The trigger in full, then the conversation, newest first, until the budget is spent."""
    trigger = json.dumps(json.loads(question.trigger.body), ensure_ascii=False, indent=2)
    pieces_of_text, spent = [f"=== TRIGGER ===\n{trigger}\n\n=== CONVERSATION HISTORY ==="], 0
    for crumb in _selected(part, question, neighbours):
        spent += len(crumb.body.encode()) // BYTES_PER_TOKEN
        if spent > BUDGET_TOKENS:
            break
        if crumb.id != question.trigger.id:
            pieces_of_text.append(json.dumps(_hinted(crumb), ensure_ascii=False, indent=2))
    return "\n".join(pieces_of_text)


def _hinted(crumb: Breadcrumb) -> dict[str, str]:
    """What the bundled hints of both lines make of a message."""
    if crumb.schema == USER_MESSAGE:
        return {"formatted": f"[{crumb.created_at.isoformat()}] User:\n{crumb.text}"}
    return {"formatted": f"Assistant:\n{crumb.text}"}
