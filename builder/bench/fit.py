"""`bench fit`: learn the weights of the fusion from labelled conversations.

Listwise softmax with a uniform target over the passages that hold evidence, L2, L-BFGS (`reference/retrieval.md` §3). Some
fifteen numbers are all that enters the project of the data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from builder.bench.datasets import Conversation, Dataset
from builder.domain.profile import Profile
from builder.pipeline.rank import MEANING, SIGNALS, Ranker, features
from builder.service import ContextBuilder

Floats = NDArray[np.float64]

PENALTY = 1.5e-3
NAMES = tuple(SIGNALS)


@dataclass(frozen=True, slots=True)
class Example:
    """One question. features: shape (passages, NAMES); gold: passages that hold evidence."""

    dataset: str
    session: str
    features: NDArray[np.float32]
    gold: tuple[int, ...]


async def examples(builder: ContextBuilder, dataset: Dataset, profile: Profile, step: Callable[[], None]) -> tuple[Example, ...]:
    """Every question of a data set that has evidence. Remembers the conversations."""
    found: list[Example] = []
    for conversation in dataset.conversations:
        for breadcrumb in conversation.breadcrumbs:
            await builder.remember(breadcrumb)
            step()
        found += await _of_conversation(builder, dataset.name, conversation, profile)
    return tuple(found)


async def _of_conversation(builder: ContextBuilder, dataset: str, conversation: Conversation, profile: Profile) -> list[Example]:
    found = []
    for question in conversation.questions:
        query, view = await builder.recall_for(question.trigger, profile)
        ids = [view.history.rows[int(row)].breadcrumb.id for row in view.crumb]
        gold = tuple(passage for passage, id_ in enumerate(ids) if id_ in question.evidence)
        if gold:
            found.append(Example(dataset, conversation.session, features(query, view), gold))
    return found


def fit(data: Sequence[Example], without: str = "") -> Ranker:
    """Both sets of weights. Every data set counts the same, however many questions it has. without: a signal left out."""
    names = tuple(name for name in SIGNALS if name != without)
    return Ranker(
        hybrid=_fit(data, names),
        words=_fit(data, tuple(name for name in names if name not in MEANING)),
    )


def leave_one_out(data: Sequence[Example], without: str = "") -> dict[str, Ranker]:
    """Weights by session, learned from all the others: what a fair report uses."""
    sessions = dict.fromkeys(example.session for example in data)
    return {session: fit([example for example in data if example.session != session], without) for session in sessions}


def to_toml(ranker: Ranker, date: str, data: str) -> str:
    """The text of `ranker.toml`."""
    lines = [
        "# Weights of the linear fusion in `rank.py`, one a signal. Written by `context-builder bench fit`.",
        f'\n[fit]\ndate = "{date}"\ndata = "{data}"',
        "\n# With vectors.\n[hybrid]",
        *(f"{name} = {weight:.4f}" for name, weight in ranker.hybrid.items()),
        "\n# Without a model (degraded contexts).\n[words]",
        *(f"{name} = {weight:.4f}" for name, weight in ranker.words.items()),
    ]
    return "\n".join(lines) + "\n"


def _fit(data: Sequence[Example], names: tuple[str, ...]) -> dict[str, float]:
    columns = [NAMES.index(name) for name in names]
    sizes: dict[str, int] = {}
    for example in data:
        sizes[example.dataset] = sizes.get(example.dataset, 0) + 1
    prepared = [
        (example.features[:, columns].astype(np.float64), np.array(example.gold), 1 / (sizes[example.dataset] * len(sizes)))
        for example in data
    ]

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = PENALTY * float(weights @ weights), 2 * PENALTY * weights
        for matrix, gold, share in prepared:
            score = matrix @ weights
            exponent = np.exp(score - score.max())
            odds = exponent / exponent.sum()
            total += share * (float(score.max() + np.log(exponent.sum())) - float(score[gold].mean()))
            slope = slope + share * (odds @ matrix - matrix[gold].mean(0))
        return total, slope

    found: Any = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return {name: round(float(weight), 4) for name, weight in zip(names, found.x, strict=True)}
