"""`bench vectors`: plain vector search over single messages, as vector stores do it: what a page is compared with."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from builder.app.components import Components, counter
from builder.bench.data.datasets import Dataset
from builder.bench.quality.recall import Outcome, folded, outcome_of, summary, tokens

Vectors = NDArray[np.float32]


async def run(core: Components, dataset: Dataset, budgets: tuple[int, ...], step: Callable[[], None]) -> dict[str, Any]:
    """Evidence in the lines `Speaker: text` of the nearest messages, up to the first line that would pass the budget.

    One vector a message, by the service's own model; exact search by cosine. step: called after each message and question.
    """
    outcomes: dict[int, list[Outcome]] = {budget: [] for budget in budgets}
    for conversation in dataset.conversations:
        lines = [f"{crumb.speaker}: {' '.join(crumb.text.split())}" for crumb in conversation.breadcrumbs]
        vectors = np.stack([await _vector(core, line, step) for line in lines])
        for question in conversation.questions:
            query = await _vector(core, question.trigger.text, step)
            order = np.argsort(-(vectors @ query), kind="stable")
            for budget, text in _texts([lines[place] for place in order], budgets).items():
                outcomes[budget].append(outcome_of(conversation, question, folded(text), counter()(text)))
    return {
        "dataset": dataset.name,
        "questions": dataset.question_count,
        "model": core.embedder.model,
        "budgets": {str(budget): summary(results) | tokens(results) for budget, results in outcomes.items()},
    }


async def _vector(core: Components, text: str, step: Callable[[], None]) -> Vectors:
    vector = np.frombuffer(await core.embedder.embed(text), np.float16).astype(np.float32)
    step()
    return vector / np.linalg.norm(vector)


def _texts(lines: list[str], budgets: tuple[int, ...]) -> dict[int, str]:
    """Budget → the first lines that have room in it."""
    count, text, texts = counter(), "", dict[int, str]()
    for line in lines:
        longer = f"{text}{line}\n"
        size = count(longer)
        texts |= {budget: text for budget in budgets if budget < size and budget not in texts}
        if len(texts) == len(budgets):
            return texts
        text = longer
    return {budget: texts.get(budget, text) for budget in budgets}
