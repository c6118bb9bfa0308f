"""The scores of what a query may find, and the chance of each passage."""

import numpy as np
from numpy.typing import NDArray

from builder.domain.retrieval import Retrieval
from builder.recall.index.view import Floats, View
from builder.recall.search.candidates import Candidates, eligible_breadcrumbs, eligible_passages
from builder.recall.search.chance import answered, chances, shares
from builder.recall.search.points import exact, further
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker, rank
from builder.recall.search.rare_words import lifted, literal_passages


def scored(
    query: Query,
    view: View,
    rules: Retrieval,
    ranker: Ranker,
    page_rows: frozenset[int] = frozenset(),
    question: int = -1,
    summaries: frozenset[int] = frozenset(),
) -> Candidates | None:
    """None when nothing unseen may be found. What the page shows competes for probability too.

    page_rows: rows that the page shows. question: row whose words the query is, -1 = none. summaries: rows whose observations
    may be found.
    """
    breadcrumbs = eligible_breadcrumbs(query, view, rules, summaries)
    passages = eligible_passages(query, view, rules, breadcrumbs) & (view.crumb != question)
    on_page = np.zeros(view.size, np.bool_)
    on_page[[row for row in page_rows if row >= 0]] = True
    unseen = passages & ~on_page[view.crumb]
    if not unseen.any():
        return None
    weights = ranker.weights(query, view)
    # An observation has words of its message: these are still in one place.
    literal = literal_passages(query, view, unseen & ~np.isin(view.crumb, list(summaries)) if summaries else unseen)
    learned = rank(query, view, weights.passages)
    scores = lifted(query, view, learned + exact(query, view) - further(query, view, learned), literal, unseen)
    share = shares(scores, passages)
    answer = answered(query, view, share, passages, weights.answer)
    return Candidates(
        breadcrumbs=breadcrumbs,
        unseen=unseen,
        scores=scores,
        share=share,
        probability=chances(share, answer, weights.calibration),
        answered=answer,
        is_literal=literal > 0,
    )


def best_of(scores: Floats, passages: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """The best of these passages, best first, ties to the later one."""
    if len(passages) > number:
        threshold = np.partition(scores[passages], -number)[-number]
        passages = passages[scores[passages] >= threshold]
    return passages[np.lexsort((-passages, -scores[passages]))][:number]
