"""`bench search`: whether a question that is outcome by itself finds its answer, and whether its probabilities are true."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from builder.bench.data.datasets import Conversation, Dataset, remember
from builder.bench.data.unanswerable import foreign, ordinary
from builder.bench.quality.recall import NO_RANKERS
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.recall.index.breadcrumb_table import Floats, Rows
from builder.recall.index.view import View
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker
from builder.recall.search.scoring import scored
from builder.recall.search.signals import K1, B, similarity
from builder.service import ContextBuilder

HITS = (1, 3, 10)
"""Messages among which the first right one is counted."""
BINS = 10
"""Of first results, of equal count."""
DECADES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Bounds of the probability of a passage."""
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One message, put to a conversation."""

    ranks: Mapping[str, int]
    """Ranking → rank of the first message that is evidence, from 1; 0 = none is."""
    probability: Floats
    """Of each passage that may be searches, shape (candidates,)."""
    is_evidence: Rows
    """Shape (candidates,)."""
    answered: float


@dataclass(slots=True)
class Results:
    """Of one data set."""

    questions: list[Outcome] = field(default_factory=list)
    foreign: list[Outcome] = field(default_factory=list)
    """As many questions of other conversations."""
    ordinary: list[Outcome] = field(default_factory=list)
    """Messages that ask for nothing old, which no fit has seen."""


async def run(
    builder: ContextBuilder,
    datasets: Sequence[Dataset],
    profile: Profile,
    step: Callable[[], None],
    rankers: Mapping[str, Ranker] = NO_RANKERS,
) -> dict[str, Any]:
    """The report. rankers: session → weights to use for it instead of the bundled ones."""
    results: dict[str, Results] = {}
    for dataset in datasets:
        of_dataset = results[dataset.name] = Results()
        for conversation in dataset.conversations:
            await remember(builder, conversation, step)
        for conversation in dataset.conversations:
            ranker = rankers.get(conversation.session, builder.ranker)
            for question in conversation.questions:
                step()
                if question.evidence:
                    outcome = await _ask(builder, question.trigger, question.evidence, profile, ranker)
                    of_dataset.questions.append(outcome)
            others = foreign(conversation, datasets, len(conversation.questions)) if conversation.questions else ()
            of_dataset.foreign += await _idle(builder, conversation, others, profile, ranker)
            idle = ordinary(conversation, held_out=True) if conversation.questions else ()
            of_dataset.ordinary += await _idle(builder, conversation, idle, profile, ranker)
    every = [each for result in results.values() for each in (*result.questions, *result.foreign)]
    return {
        "rankings": {name: ranking for each, result in results.items() for name, ranking in _rankings(each, result).items()},
        "answered": _answered(results),
        "first_results": _first_results(every),
        "passages": _passages(every),
    }


async def _idle(
    builder: ContextBuilder, conversation: Conversation, triggers: Iterable[Breadcrumb], profile: Profile, ranker: Ranker
) -> list[Outcome]:
    own = conversation.questions[0].trigger if conversation.questions else None
    return [
        await _ask(builder, replace(trigger, workspace=own.workspace, session=own.session), (), profile, ranker)
        for trigger in triggers
        if own
    ]


async def _ask(
    builder: ContextBuilder, question: Breadcrumb, evidence: tuple[str, ...], profile: Profile, ranker: Ranker
) -> Outcome:
    query, view = await builder.question_for(question, profile)
    candidates = scored(query, view, profile.retrieval, ranker)
    if candidates is None:
        return Outcome({}, np.zeros(0, np.float32), np.zeros(0, np.bool_), 0.0)
    rows = {row for row in range(view.size) if view.breadcrumb(row).id in evidence}
    is_evidence = np.isin(view.crumb, list(rows))
    scores = {
        "ours": candidates.scores,
        "cosine": np.nan_to_num(similarity(query, view), nan=-1),
        "bm25": _bm25(query, view),
    }
    return Outcome(
        ranks={name: _rank(view, each, candidates.unseen, rows) for name, each in scores.items()},
        probability=candidates.probability[candidates.unseen],
        is_evidence=is_evidence[candidates.unseen],
        answered=candidates.answered,
    )


def _rank(view: View, scores: Floats, findable: Rows, evidence: set[int]) -> int:
    """Of the first message that is evidence; a message counts by its best passage, ties go to the later one."""
    best = np.full(view.size, -np.inf)
    np.maximum.at(best, view.crumb[findable], scores[findable])
    rows = np.unique(view.crumb[findable])
    ordered = rows[np.lexsort((-rows, -best[rows]))].tolist()
    return next((rank for rank, row in enumerate(ordered, 1) if row in evidence), 0)


def _bm25(query: Query, view: View) -> Floats:
    """Robertson and Zaragoza 2009, of each passage alone, shape (passages,)."""
    length = view.prefix.length
    score, mean = np.zeros(view.passages, np.float32), max(float(length.mean()), 1e-9)
    for term in query.terms:
        there = view.prefix.occurrences(term)
        holding = len(there.passages)
        idf = np.log(1 + (view.passages - holding + 0.5) / (holding + 0.5))
        norm = K1 * (1 - B + B * length[there.passages] / mean)
        score[there.passages] += idf * there.counts * (K1 + 1) / (there.counts + norm)
    return score


def _rankings(dataset: str, result: Results) -> dict[str, dict[str, Any]]:
    rows = {}
    for ranking in ("ours", "cosine", "bm25"):
        ranks = np.array([outcome.ranks.get(ranking, 0) for outcome in result.questions])
        hits = {f"hit@{number}": round(float(((ranks > 0) & (ranks <= number)).mean()), 4) for number in HITS}
        mrr = float(np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0).mean())
        rows[f"{dataset}: {ranking}"] = {"questions": len(ranks), **hits, "mrr": round(mrr, 4)}
    return rows


def _answered(results: Mapping[str, Results]) -> dict[str, dict[str, Any]]:
    """Areas under the curve, by data set and of all."""
    pooled = Results()
    for result in results.values():
        pooled.questions += result.questions
        pooled.foreign += result.foreign
        pooled.ordinary += result.ordinary
    return {name: _areas(each) for name, each in (*results.items(), ("all", pooled))}


def _areas(result: Results) -> dict[str, Any]:
    kinds = {"questions": result.questions, "foreign": result.foreign, "ordinary": result.ordinary}
    values = {kind: np.array([outcome.answered for outcome in each]) for kind, each in kinds.items()}
    means = {f"mean_{kind}": round(float(each.mean()), 4) if len(each) else None for kind, each in values.items()}
    return {
        "auc_foreign": _area(values["questions"], values["foreign"]),
        "auc_ordinary": _area(values["questions"], values["ordinary"]),
        **means,
    }


def _area(above: Numbers, below: Numbers) -> float | None:
    """Probability that one of `above` is larger than one of `below`; ties count half."""
    if not (len(above) and len(below)):
        return None
    ordered = np.sort(below)
    smaller, not_larger = (np.searchsorted(ordered, above, side) for side in ("left", "right"))
    return round(float((smaller + not_larger).mean() / 2 / len(below)), 4)


def _first_results(outcome: Sequence[Outcome]) -> dict[str, Any]:
    """What the best passage of each search says, and how often it is right: the expected calibration error, and by bin."""
    best = [int(each.probability.argmax()) for each in outcome if len(each.probability)]
    searches = [each for each in outcome if len(each.probability)]
    says = np.array([float(each.probability[first]) for each, first in zip(searches, best, strict=True)])
    right = np.array([float(each.is_evidence[first]) for each, first in zip(searches, best, strict=True)])
    bins = [part for part in np.array_split(np.argsort(says, kind="stable"), BINS) if len(part)]
    error = sum(abs(float(says[part].mean() - right[part].mean())) * len(part) for part in bins) / max(len(says), 1)
    return {
        "searches": len(says),
        "calibration_error": round(error, 4),
        "brier": round(float(((says - right) ** 2).mean()), 4),
        "bins": {
            str(number): {"says": round(float(says[part].mean()), 4), "right": round(float(right[part].mean()), 4)}
            for number, part in enumerate(bins, 1)
        },
    }


def _passages(outcome: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    """By decade of the probability: mean of it, share that is evidence, and the quotient."""
    says = np.concatenate([each.probability for each in outcome])
    right = np.concatenate([each.is_evidence for each in outcome])
    decades = {}
    for low, high in pairwise(DECADES):
        there = (says >= low) & (says < high if high < 1 else says <= high)
        if there.any():
            mean, share = float(says[there].mean()), float(right[there].mean())
            row = {"passages": int(there.sum()), "says": round(mean, 5), "right": round(share, 5)}
            decades[f"{low:g} to {high:g}"] = row | {"right ÷ says": round(share / mean, 3)}
    return decades
