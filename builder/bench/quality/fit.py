"""`bench fit`: learn the weights of the fusion, whether anything answers, and the calibration, from labelled conversations.

Passages: listwise softmax with a uniform target over the messages that hold evidence, L2, L-BFGS. Whether anything answers:
logistic regression of the questions that a conversation answers against those of other conversations and against ordinary
messages that ask for nothing old, on whole conversations and on pieces of them, so that it holds for short ones too.
Calibration: logistic regression of the evidence among all passages. Some sixty numbers are all that enters the project.

`bench recall --ablate`: what each signal of the fusion is worth, with the others' weights learned again without it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from builder.bench.data.answer_sessions import OWN_SESSIONS
from builder.bench.data.datasets import Dataset
from builder.bench.quality.examples import NAMES, Example
from builder.bench.quality.recall import run as recall
from builder.domain.errors import Misconfigured
from builder.domain.profile import Profile
from builder.recall.search.chance import EVIDENCE, Calibration, answered, evidence
from builder.recall.search.ranking import MEANING, Ranker, Weights
from builder.recall.search.signals import SIGNALS
from builder.service import ContextBuilder

Floats = NDArray[np.float64]

PENALTY = 1.5e-3
KIND_WEIGHTS = {"answered": 2.0, "foreign": 1.0, "ordinary": 1.0}
"""How much the kinds of questions count: as much with an answer as without one."""
LEAST_JOINT = 1e-5
"""Least share times probability of an answer of a passage that the calibration is learned from."""
OWN_IMPORTANCE = 0.15
"""More costs recall between people; less finds less in sessions of real work."""


def _importance(dataset: str) -> float:
    return OWN_IMPORTANCE if dataset == OWN_SESSIONS else 1.0


def fit(data: Sequence[Example], without: str = "") -> Ranker:
    """Both sets of weights. without: a signal left out.

    Every data set counts the same, however many questions it has; for the weights of passages, the sessions of `bench answers`
    count `OWN_IMPORTANCE`.
    """
    names = tuple(name for name in SIGNALS if name != without)
    return Ranker(
        hybrid=_weights(data, names, EVIDENCE),
        words=_weights(data, *(tuple(name for name in each if name not in MEANING) for each in (names, EVIDENCE))),
    )


def _weights(data: Sequence[Example], names: tuple[str, ...], evidence: tuple[str, ...]) -> Weights:
    passages = _fit([example for example in data if example.gold and not example.piece], names)
    share = [example.share(passages) for example in data]
    answer = _fit_answer(data, share, evidence)
    return Weights(passages=passages, answer=answer, calibration=_fit_calibration(data, share, answer))


def leave_one_out(data: Sequence[Example], datasets: Sequence[Dataset], without: str = "") -> dict[str, Ranker]:
    """Weights for each session of these data sets, learned from all others: what a fair report uses."""
    names = {example.session for example in data}
    sessions = dict.fromkeys(each.session for dataset in datasets for each in dataset.conversations if each.session in names)
    return {session: fit([example for example in data if example.session != session], without) for session in sessions}


def to_toml(ranker: Ranker, date: str, data: str) -> str:
    """The text of `ranker.toml`."""
    tables = {
        "hybrid.passages": ranker.hybrid.passages,
        "hybrid.answer": ranker.hybrid.answer,
        "hybrid.calibration": asdict(ranker.hybrid.calibration),
        "words.passages": ranker.words.passages,
        "words.answer": ranker.words.answer,
        "words.calibration": asdict(ranker.words.calibration),
    }
    lines = [
        "# Weights of the fusion (`ranking.py`), of whether anything answers, and the calibration (`chance.py`): hybrid with",
        "# vectors, words without a model (degraded contexts). Written by `context-builder bench fit`.",
        f'\n[fit]\ndate = "{date}"\ndata = "{data}"',
    ]
    for table, weights in tables.items():
        lines += [f"\n[{table}]", *(f"{name} = {weight:.4f}" for name, weight in weights.items())]
    return "\n".join(lines) + "\n"


def _fit(data: Sequence[Example], names: tuple[str, ...]) -> dict[str, float]:
    columns = [NAMES.index(name) for name in names]
    sizes = Counter(example.dataset for example in data)
    total = sum(map(_importance, sizes))
    prepared = [
        (
            example.features[:, columns].astype(np.float64),
            np.array(list(example.gold)),
            np.array(list(example.gold.values())),
            _importance(example.dataset) / (sizes[example.dataset] * total),
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


def _fit_answer(data: Sequence[Example], share: Sequence[Floats], names: tuple[str, ...]) -> dict[str, float]:
    """Weights of the evidence that anything answers. Raises `Misconfigured` without questions that nothing answers."""
    if all(example.kind == "answered" for example in data):
        raise Misconfigured("all questions are of one conversation, so none is known that it cannot answer; add a data set")
    values = [evidence(example.query, example.view, each, example.findable) for example, each in zip(data, share, strict=True)]
    matrix = np.array([[each[name] for name in names] for each in values])
    middle, spread = matrix.mean(axis=0), matrix.std(axis=0)
    constant = names.index("constant")
    middle[constant], spread[spread == 0] = 0, 1
    kinds = [(example.dataset, example.piece, example.kind) for example in data]
    sizes, groups = Counter(kinds), len({kind[:2] for kind in kinds})
    portions = np.array([KIND_WEIGHTS[kind[2]] / sizes[kind] / groups for kind in kinds])
    signs = np.array([1.0 if example.kind == "answered" else -1.0 for example in data])
    mild = np.where(np.arange(len(names)) == constant, 0.0, PENALTY)
    solution = _logistic((matrix - middle) / spread, signs, portions, mild) / spread
    solution[constant] -= float(middle @ solution)
    return {name: round(float(weight), 4) for name, weight in zip(names, solution, strict=True)}


def _fit_calibration(data: Sequence[Example], share: Sequence[Floats], answer: Mapping[str, float]) -> Calibration:
    """Learned from whole conversations, with as many questions that nothing answers as others."""
    rows, signs = [], []
    answers = Counter((each.dataset, each.session) for each in data if not each.piece and each.kind == "answered")
    seen: Counter[tuple[str, str]] = Counter()
    for example, each in zip(data, share, strict=True):
        of = example.dataset, example.session
        seen[of] += example.kind == "foreign" and not example.piece
        if example.piece or example.kind == "ordinary" or (example.kind == "foreign" and seen[of] > answers[of]):
            continue
        joint = each * answered(example.query, example.view, each, example.findable, answer)
        passages = np.flatnonzero(joint > LEAST_JOINT)
        odds = np.log(joint[passages] / (1 - joint[passages]))
        rows.append(np.stack([odds, joint[passages] == joint.max(initial=0), np.ones(len(odds))], axis=1))
        signs += [1.0 if passage in example.gold else -1.0 for passage in passages.tolist()]
    matrix = np.concatenate(rows)
    slope, first, constant = _logistic(matrix, np.array(signs), np.full(len(signs), 1 / len(signs)), np.zeros(3)).tolist()
    return Calibration(slope=round(slope, 4), first=round(first, 4), constant=round(constant, 4))


def _logistic(matrix: Floats, signs: Floats, portions: Floats, mild: Floats) -> Floats:
    """Weights of the columns. signs: 1 or -1. portions: how much each row counts. mild: penalty of each weight."""

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = signs * (matrix @ weights)
        total = float(portions @ np.logaddexp(0, -margin)) + float(mild @ weights**2)
        slope = matrix.T @ (-signs * portions / (1 + np.exp(margin))) + 2 * mild * weights
        return total, np.asarray(slope)

    return _solution(loss, matrix.shape[1])


def _minimum(loss: Callable[[Floats], tuple[float, Floats]], names: tuple[str, ...]) -> dict[str, float]:
    return {name: round(weight, 4) for name, weight in zip(names, _solution(loss, len(names)).tolist(), strict=True)}


def _solution(loss: Callable[[Floats], tuple[float, Floats]], size: int) -> Floats:
    solution: Any = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(solution.x)


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
        report = await recall(builder, dataset, profile, budgets, step, leave_one_out(data, (dataset,), without))
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
