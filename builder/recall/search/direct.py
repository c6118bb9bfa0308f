"""A question that is asked by itself: its ranking has none of the gates that keep a page clean."""

import numpy as np

from builder.domain.retrieval import Retrieval
from builder.recall.index.view import View
from builder.recall.search.candidates import Find, find_of
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker
from builder.recall.search.scoring import best_of, scored


def search(query: Query, view: View, rules: Retrieval, ranker: Ranker, limit: int) -> tuple[Find, ...]:
    """The passages that answer best, the best first, ties to the later one; small talk is none.

    What one person said twice in the same words, in whichever sessions, is listed once. rules: schemas, people and scope count;
    what a page asks of a find does not.
    """
    candidates = scored(query, view, rules, ranker)
    if candidates is None:
        return ()
    unseen = np.flatnonzero(candidates.unseen)
    finds: dict[tuple[object, ...], Find] = {}
    for passage in best_of(candidates.scores, unseen, len(unseen)).tolist():
        if len(finds) == limit:
            break
        find = find_of(view, passage, candidates)
        crumb, stored = view.breadcrumb(find.row), view.history.rows[find.row]
        same = (stored.fingerprint, passage - view.history.passages.first(find.row), crumb.role, crumb.speaker, crumb.user_id)
        finds.setdefault(same, find)
    return tuple(finds.values())
