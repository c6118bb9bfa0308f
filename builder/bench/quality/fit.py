"""`bench fit`: learn the weights of the fusion, and of its null candidate, from labelled conversations.

Passages: listwise softmax with a uniform target over the messages that hold evidence, L2, L-BFGS. Null candidate: the logistic
regression of "this question was asked in a conversation that cannot answer it", on whole conversations and on pieces of them,
so that it holds for short ones too. Some twenty numbers are all that enters the project of the data.

`bench recall --ablate`: what each signal of the fusion is worth, with the others' weights learned again without it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from builder.bench.data.datasets import Conversation, Dataset, pieces, remember
from builder.bench.data.unanswerable import foreign
from builder.bench.quality.recall import run as recall
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Misconfigured
from builder.domain.profile import Profile
from builder.recall.search.candidates import eligible_breadcrumbs, eligible_passages
from builder.recall.search.ranking import MEANING, NULL, SIGNALS, Ranker, Weights
from builder.service import ContextBuilder

Floats = NDArray[np.float64]

PENALTY = 1.5e-3
NAMES, NULL_NAMES = tuple(SIGNALS), tuple(NULL)
WORDS_NULL = tuple(name for name in NULL if name not in MEANING)
"""What the null candidate knows without vectors."""
FOREIGN_QUESTIONS = 100
"""Questions of other conversations that each conversation is asked."""
PIECE_SIZES = (30, 120)
"""Messages of the pieces of a conversation that are asked too, as conversations of their own."""
FOREIGN_QUESTIONS_OF_PIECE = 8
NULL_WEIGHT = 8.0
"""How many times the questions that a conversation cannot answer count as much as those that it can: most of what is said to
an agent asks for nothing old."""
NULL_SCALE = 10.0
"""Scale of a share or a cosine, so that the penalty is as mild to its weight as to the others."""


@dataclass(frozen=True, slots=True)
class Example:
    """One question, of the conversation that is asked or of another one.

    gold: passages that hold evidence → share of it, the same for each message; empty for a question of another conversation.
    features: shape (passages, NAMES). evidence: shape (NULL_NAMES,). piece: messages of the piece of its conversation; 0 = all.
    """

    dataset: str
    session: str
    piece: int
    features: NDArray[np.float32]
    gold: Mapping[int, float]
    evidence: NDArray[np.float32]


async def examples(
    builder: ContextBuilder, datasets: Sequence[Dataset], profile: Profile, step: Callable[[], None]
) -> tuple[Example, ...]:
    """Every question that has evidence, and questions of other conversations, asked here. Remembers the conversations."""
    collected: list[Example] = []
    for dataset in datasets:
        for conversation in dataset.conversations:
            others = tuple(foreign(conversation, datasets, FOREIGN_QUESTIONS))
            collected += await _of(builder, dataset, conversation, profile, 0, others, step)
            for size in PIECE_SIZES:
                for number, piece in enumerate(pieces(conversation, size)):
                    few = others[number % FOREIGN_QUESTIONS_OF_PIECE :: max(len(others) // FOREIGN_QUESTIONS_OF_PIECE, 1)]
                    collected += await _of(builder, dataset, piece, profile, size, few, step)
    return tuple(collected)


async def _of(
    builder: ContextBuilder,
    dataset: Dataset,
    conversation: Conversation,
    profile: Profile,
    piece: int,
    others: Sequence[Breadcrumb],
    step: Callable[[], None],
) -> list[Example]:
    """The examples of one conversation, or of a piece of it. others: questions that it cannot answer."""
    await remember(builder, conversation, step)
    workspace = conversation.breadcrumbs[0].workspace
    questions = [(question.trigger, question.evidence) for question in conversation.questions]
    questions += [(replace(trigger, workspace=workspace), ()) for trigger in others]
    results = [await _example(builder, dataset.name, profile, trigger, gold, piece) for trigger, gold in questions]
    return [example for example, (_, gold) in zip(results, questions, strict=True) if example.gold or not gold]


async def _example(
    builder: ContextBuilder, dataset: str, profile: Profile, trigger: Breadcrumb, gold: tuple[str, ...], piece: int
) -> Example:
    query, view = await builder.recall_for(trigger, profile)
    rules = profile.retrieval
    findable = eligible_passages(query, view, rules, eligible_breadcrumbs(query, view, rules))
    ids = [view.breadcrumb(int(row)).id for row in view.crumb]
    numbers = Counter(id_ for id_ in ids if id_ in gold)
    return Example(
        dataset=dataset,
        session=trigger.session,
        piece=piece,
        features=np.stack([scale(signal(query, view)) for signal, scale in SIGNALS.values()], axis=1),
        gold={passage: 1 / numbers[id_] / len(numbers) for passage, id_ in enumerate(ids) if id_ in gold},
        evidence=np.array([value(query, view, findable) for value in NULL.values()], np.float32),
    )


def fit(data: Sequence[Example], without: str = "") -> Ranker:
    """Both sets of weights. Every data set counts the same, however many questions it has. without: a signal left out."""
    names = tuple(name for name in SIGNALS if name != without)
    return Ranker(
        hybrid=_weights(data, names, NULL_NAMES),
        words=_weights(data, tuple(name for name in names if name not in MEANING), WORDS_NULL),
    )


def _weights(data: Sequence[Example], names: tuple[str, ...], null: tuple[str, ...]) -> Weights:
    questions = [example for example in data if example.gold and not example.piece]
    return Weights(passages=_fit(questions, names), null=_fit_null(data, null))


def leave_one_out(data: Sequence[Example], without: str = "") -> dict[str, Ranker]:
    """Weights by session, learned from all the others: what a fair report uses."""
    sessions = dict.fromkeys(example.session for example in data)
    return {session: fit([example for example in data if example.session != session], without) for session in sessions}


def to_toml(ranker: Ranker, date: str, data: str) -> str:
    """The text of `ranker.toml`."""
    tables = {
        "hybrid.passages": ranker.hybrid.passages,
        "hybrid.null": ranker.hybrid.null,
        "words.passages": ranker.words.passages,
        "words.null": ranker.words.null,
    }
    lines = [
        "# Weights of the linear fusion and of the null candidate in `ranking.py`, one for each signal: hybrid",
        "# with vectors, words without a model (degraded contexts). Written by `context-builder bench fit`.",
        f'\n[fit]\ndate = "{date}"\ndata = "{data}"',
    ]
    for table, weights in tables.items():
        lines += [f"\n[{table}]", *(f"{name} = {weight:.4f}" for name, weight in weights.items())]
    return "\n".join(lines) + "\n"


def _fit(data: Sequence[Example], names: tuple[str, ...]) -> dict[str, float]:
    columns = [NAMES.index(name) for name in names]
    sizes = Counter(example.dataset for example in data)
    prepared = [
        (
            example.features[:, columns].astype(np.float64),
            np.array(list(example.gold)),
            np.array(list(example.gold.values())),
            1 / (sizes[example.dataset] * len(sizes)),
        )
        for example in data
    ]

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = PENALTY * float(weights @ weights), 2 * PENALTY * weights
        for matrix, gold, target, share in prepared:
            score = matrix @ weights
            exponent = np.exp(score - score.max())
            odds = exponent / exponent.sum()
            total += share * (float(score.max() + np.log(exponent.sum())) - float(target @ score[gold]))
            slope = slope + share * (odds @ matrix - target @ matrix[gold])
        return total, slope

    return _minimum(loss, names)


def _fit_null(data: Sequence[Example], names: tuple[str, ...]) -> dict[str, float]:
    """Weights of the evidence for "nothing answers this". Raises `Misconfigured` without questions of other conversations."""
    signs = np.array([-1.0 if example.gold else 1.0 for example in data])
    if signs.max() < 0:
        raise Misconfigured("all questions are of one conversation, so none is known that it cannot answer; add a data set")
    scale = np.array([1.0 if name == "constant" else NULL_SCALE for name in names])
    matrix = np.array([example.evidence[[NULL_NAMES.index(name) for name in names]] for example in data]) * scale
    kinds = [(example.dataset, example.piece, bool(example.gold)) for example in data]
    sizes, groups = Counter(kinds), len({kind[:2] for kind in kinds})
    shares = np.array([(1.0 if kind[2] else NULL_WEIGHT) / (sizes[kind] * groups) for kind in kinds])
    mild = np.where(scale == 1.0, 0.0, PENALTY)

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = signs * (matrix @ weights)
        total = float(shares @ np.logaddexp(0, -margin)) + float(mild @ weights**2)
        slope = matrix.T @ (-signs * shares / (1 + np.exp(margin))) + 2 * mild * weights
        return total, np.asarray(slope)

    weights = _minimum(loss, names)
    return {name: round(weights[name] * factor, 4) for name, factor in zip(names, scale.tolist(), strict=True)}


def _minimum(loss: Callable[[Floats], tuple[float, Floats]], names: tuple[str, ...]) -> dict[str, float]:
    solution: Any = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return {name: round(float(weight), 4) for name, weight in zip(names, solution.x, strict=True)}


MEASURES = ("evidence_any", "evidence_all", "evidence_mean")
RUNS = 1 + len(SIGNALS)
"""All signals, and all but one."""


async def ablation(
    builder: ContextBuilder,
    dataset: Dataset,
    profile: Profile,
    budgets: tuple[int, ...],
    data: Sequence[Example],
    step: Callable[[], None],
) -> dict[str, Any]:
    """Recall with all signals, and for each signal how much of it that signal adds, by budget.

    data: what the weights are learned from; the conversation under test is left out each time. step: called as by `recall`,
    `RUNS` times over. Raises `Misconfigured` when nothing is left to learn from.
    """
    if len({example.session for example in data}) < 2:  # noqa: PLR2004 - one to ask and one to learn from
        raise Misconfigured(f"{dataset.name} is one conversation, which leaves none to learn from; name others with --fit-on")

    async def measured(without: str = "") -> dict[str, dict[str, float]]:
        report = await recall(builder, dataset, profile, budgets, step, leave_one_out(data, without))
        return {budget: {name: row[name] for name in MEASURES} for budget, row in report["budgets"].items()}

    everything = await measured()
    gains = {name: _gain(everything, await measured(name)) for name in SIGNALS}
    return {
        "dataset": dataset.name,
        "questions": dataset.question_count,
        "everything": everything,
        "gains": gains,
    }


def _gain(everything: dict[str, dict[str, float]], without: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {
        budget: {name: round(value - without[budget][name], 4) for name, value in row.items()}
        for budget, row in everything.items()
    }
