"""`bench workspaces`: what is found in one workspace of millions of messages, and what reading it in two stages loses."""

import random
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from builder.app.components import Components
from builder.bench.data.datasets import Conversation, Dataset, Question, remember
from builder.bench.quality.recall import Outcome, ask, summary
from builder.bench.speed.quantiles import at, milliseconds
from builder.domain.breadcrumb import Place
from builder.domain.profile import Profile
from builder.domain.stored import Passage, StoredBreadcrumb

SESSION_MESSAGES = 1_000
"""Messages of a session of others."""
BATCH_MESSAGES = 2_000
WHOLE_MESSAGES = 100_000
"""Up to which the workspace is read whole, too."""
SMALL = 2**62
"""Rows up to which a workspace is read whole, when it always is."""


async def run(
    core: Components,
    dataset: Dataset,
    others: Dataset,
    profile: Profile,
    sizes: tuple[int, ...],
    number: int,
    step: Callable[[], None],
) -> dict[str, Any]:
    """The report. dataset: pooled. others: made into messages of other people. sizes: rising. number: of questions."""
    for conversation in dataset.conversations:
        await remember(core.builder, conversation, step)
    rows, stored = await _messages(core, others, dataset), dataset.messages
    questions = [(conversation, question) for conversation in dataset.conversations for question in conversation.questions]
    questions = questions[:: max(len(questions) // number, 1)]
    figures: dict[str, dict[str, Any]] = {}
    for size in sizes:
        while stored < size:
            batch = tuple(next(rows) for _ in range(min(BATCH_MESSAGES, size - stored)))
            await core.store.remember_all(batch)
            stored += len(batch)
            for _ in batch:
                step()
        limits = {"two stages": 0} | ({"whole": SMALL} if size <= WHOLE_MESSAGES else {})
        for name, limit in limits.items():
            core.builder.recaller.workspaces.max_rows = limit
            figures[f"{size:,}, {name}"] = await _ask_all(core, questions, profile, Place(1, size + 1))
    return {"dataset": dataset.name, "questions": len(questions), "model": core.embedder.model, "sizes": figures}


async def _ask_all(
    core: Components, questions: list[tuple[Conversation, Question]], profile: Profile, end: Place
) -> dict[str, float]:
    outcomes: list[Outcome] = []
    seconds: list[float] = []
    for conversation, question in questions:
        start = perf_counter()
        last = replace(question, trigger=replace(question.trigger, place=end))
        outcomes.append(await ask(core.builder, conversation, last, profile))
        seconds.append(perf_counter() - start)
    return summary(outcomes) | {
        "first_s": round(seconds[0], 1),
        "p50_ms": milliseconds(statistics.median(seconds[1:])),
        "p95_ms": milliseconds(at(seconds[1:], 0.95)),
    }


async def _messages(core: Components, others: Dataset, dataset: Dataset) -> Iterator[StoredBreadcrumb]:
    """Messages of two real ones each, with a vector between theirs, without end."""
    real = [await core.builder.ingest.facts(crumb) for each in others.conversations for crumb in each.breadcrumbs]
    parts = [
        (row.breadcrumb.text[passage.start : passage.end], passage, np.frombuffer(passage.vector, "<f2").astype(np.float32))
        for row in real
        for passage in row.passages
        if passage.vector
    ]
    (pattern,) = (each.breadcrumbs[0] for each in dataset.conversations[:1])
    choosing = random.Random(7)

    def pairs() -> Iterator[StoredBreadcrumb]:
        number = dataset.messages
        while True:
            number += 1
            (text, first, one), (other_text, second, two) = choosing.choices(parts, k=2)
            crumb = replace(
                pattern,
                session=f"others-{number // SESSION_MESSAGES}",
                place=Place(1, number),
                id=f"other-{number}",
                text=f"{text} {other_text}",
                body="{}",
            )
            vector = (one + two) / np.linalg.norm(one + two)
            passage = Passage(
                0,
                len(crumb.text),
                f"{first.terms} {second.terms}",
                vector.astype("<f2").tobytes(),
                first.tokens + second.tokens,
                first.traits | second.traits,
            )
            yield StoredBreadcrumb(
                breadcrumb=crumb, passages=(passage,), model=real[0].model, fingerprint=number.to_bytes(16, "big")
            )

    return pairs()
