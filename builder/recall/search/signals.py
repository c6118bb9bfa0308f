"""Signals of retrieval: query and view → one number a passage, shape (passages,), float32; NaN = unknown.

A new signal has a line in `ranking.SIGNALS` and a weight in `ranker.toml`, which `bench fit` learns.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from builder.language.dates import mentioned, nearness
from builder.language.traits import Trait
from builder.language.word_lists import has_word
from builder.recall.index.breadcrumb_table import Floats, Ints, idf
from builder.recall.index.view import View
from builder.recall.search.query import Query

K1, B = 0.9, 0.4
"""BM25 of single and joined messages."""
EPISODE_K1, EPISODE_B = 1.2, 0.75
"""BM25 of whole episodes, which are long."""
MAX_CELLS = 1_000_000
"""Frequencies that are counted at once: of as many terms as there is room for, at least one."""


def context_words(query: Query, view: View) -> Floats:
    """BM25 with a passage's own words twice and its neighbours' once: a question finds its answer."""
    return _joined_words(query, view, own=2, after=1)


def pair_words(query: Query, view: View) -> Floats:
    """BM25 of a passage together with the one before it."""
    return _joined_words(query, view, own=1, after=0)


def _joined_words(query: Query, view: View, own: int, after: int) -> Floats:
    """BM25 of passages joined with their neighbours."""
    neighbours = view.prefix.context
    alone = view.prefix.length
    length = own * alone + _next(alone, neighbours.before) + after * _next(alone, neighbours.after)

    def frequency(terms: Sequence[str]) -> Floats:
        numbers, there, counts = view.prefix.postings(terms)
        counted = np.zeros((len(terms), view.passages + 1), np.float32)  # the last column takes what has no neighbour
        for share, side in ((own, there), (1, neighbours.after[there]), (after, neighbours.before[there])):
            if share:
                counted[numbers, side] += share * counts
        return counted[:, :-1]

    return _bm25(query.terms, frequency, length, K1, B)


def _next(values: Floats, there: Ints) -> Floats:
    """The values of the passages `there`, 0 where there is none."""
    return np.append(values, np.float32(0))[there]


def episode_words(query: Query, view: View) -> Floats:
    """BM25 of the whole episode that a passage belongs to: a prior for the right day."""
    episode = view.history.breadcrumbs.episode[view.crumb]
    length = np.bincount(episode, view.prefix.length).astype(np.float32)

    def frequency(terms: Sequence[str]) -> Floats:
        numbers, there, counts = view.prefix.postings(terms)
        cells = len(terms) * len(length)
        return np.bincount(numbers * len(length) + episode[there], counts, cells).astype(np.float32).reshape(len(terms), -1)

    return _bm25(query.terms, frequency, length, EPISODE_K1, EPISODE_B)[episode]


def similarity(query: Query, view: View) -> Floats:
    """Cosine of the query's vector and each passage's; see `Prefix.cosines`."""
    return view.prefix.cosines(query.vector)


def speaker(query: Query, view: View) -> Floats:
    """1 for the one person named, 0 for others; 0.5 for all when none or several are named."""
    codes = [view.prefix.speakers.index(name) for name in query.names if name in view.prefix.speakers]
    if len(codes) != 1:
        return np.full(view.passages, 0.5, np.float32)
    return np.asarray(view.history.breadcrumbs.speaker[view.crumb] == codes[0], np.float32)


def window_similarity(query: Query, view: View) -> Floats:
    """Cosine of the query and a passage's window: its vector and half of each neighbour's; NaN without any."""
    size, has_vector, neighbours = view.passages, view.prefix.has_vector.astype(np.float32), view.prefix.context
    own, previous, following = np.nan_to_num(similarity(query, view)), neighbours.before, neighbours.after
    one_back, two_back = view.history.passages.cosines_back(size)
    beyond = _next(has_vector, previous) + _next(has_vector, following)
    window = own + 0.5 * (_next(own, previous) + _next(own, following))
    length = has_vector + 0.25 * beyond + np.where(previous >= 0, one_back, 0) + _next(one_back, following)
    length += 0.5 * np.where(previous >= 0, _next(two_back, following), 0)
    cosine = window / np.sqrt(np.maximum(length, 0.25))
    return np.where(has_vector + beyond > 0, cosine, np.nan).astype(np.float32)


def date(query: Query, view: View) -> Floats:
    """How near its day is to the dates of the query."""
    dates = mentioned(query.text)
    if not dates:
        return np.zeros(view.passages, np.float32)
    year, month, day = view.history.breadcrumbs.day[: view.size].T
    return nearness(dates, year, month, day)[view.crumb]


def tells_time(_query: Query, view: View) -> Floats:
    """1 where the passage tells a time."""
    return _trait(view, Trait.TIME)


def answers_when(query: Query, view: View) -> Floats:
    """1 where the passage tells a time and the query asks for one."""
    return _trait(view, Trait.TIME) * has_word("when_questions", query.text)


def answers_where(query: Query, view: View) -> Floats:
    """1 where the passage names a place and the query asks for one."""
    return _trait(view, Trait.PLACE) * has_word("where_questions", query.text)


def user_said(_query: Query, view: View) -> Floats:
    """1 for what a person said: assistants restate, people state."""
    return view.history.breadcrumbs.by_person[view.crumb].astype(np.float32)


def own_words(query: Query, view: View) -> Floats:
    """1 for what agents said, where the query asks for it."""
    return (1 - user_said(query, view)) * has_word("own_words_questions", query.text)


def own_parts(query: Query, view: View) -> Floats:
    """`log_parts`, where the query asks an agent for what it said."""
    return log_parts(query, view) * has_word("own_words_questions", query.text)


def instructs(_query: Query, view: View) -> Floats:
    """1 where a person gives a standing instruction."""
    return _trait(view, Trait.INSTRUCTS)


def log_tokens(_query: Query, view: View) -> Floats:
    """Logarithm of the passage's tokens: longer messages say more."""
    return np.log(np.maximum(view.history.passages.tokens[: view.passages], 1))


def log_parts(_query: Query, view: View) -> Floats:
    """Logarithm of the message's passages: of a long answer each part says less."""
    return np.log(np.maximum(view.history.breadcrumbs.parts[view.crumb], 1))


def asks(_query: Query, view: View) -> Floats:
    """1 where the passage ends with a question mark: questions hold few answers."""
    return _trait(view, Trait.ASKS)


def _trait(view: View, trait: Trait) -> Floats:
    return np.asarray(view.history.passages.traits[: view.passages] & int(trait) != 0, np.float32)


def _bm25(terms: Sequence[str], frequency: Callable[[Sequence[str]], Floats], length: Floats, k1: float, b: float) -> Floats:
    """Robertson and Zaragoza 2009, with the idf that never turns negative. frequency: of some terms, shape (terms, texts)."""
    score, step = np.zeros(len(length), np.float32), 1 + MAX_CELLS // max(len(length), 1)
    mean = float(length.mean()) if len(length) else 0.0
    for start in range(0, len(terms), step):
        counted = frequency(terms[start : start + step])
        cells = counted.ravel()
        there = np.flatnonzero(cells)
        numbers, texts = np.divmod(there, len(length))
        holding = np.bincount(numbers, minlength=len(counted))
        counts = cells[there]
        scaled = counts * (k1 + 1) / (counts + k1 * (1 - b + b * length[texts] / max(mean, 1e-9)))
        np.add.at(score, texts, (idf(holding, len(length))[numbers] * scaled).astype(np.float32))
    return score


Signal = Callable[[Query, View], Floats]


def _standardised(values: Floats) -> Floats:
    """In standard deviations from the mean of what is known. NaN, which is unknown, becomes 0."""
    unknown = np.isnan(values)
    present = values[~unknown]
    spread = float(present.std()) if len(present) else 0.0
    if spread == 0:
        return np.zeros_like(values)
    return np.where(unknown, np.float32(0), (values - present.mean()) / spread)


def _of_best(values: Floats) -> Floats:
    best = float(values.max()) if len(values) else 0.0
    return values / best if best > 0 else np.zeros_like(values)


def _plain(values: Floats) -> Floats:
    return values


SIGNALS: Mapping[str, tuple[Signal, Callable[[Floats], Floats]]] = {
    "context_words": (context_words, _standardised),
    "context_words_of_best": (context_words, _of_best),
    "pair_words": (pair_words, _standardised),
    "episode_words": (episode_words, _standardised),
    "similarity": (similarity, _standardised),
    "window_similarity": (window_similarity, _standardised),
    "speaker": (speaker, _plain),
    "date": (date, _plain),
    "answers_when": (answers_when, _plain),
    "answers_where": (answers_where, _plain),
    "tells_time": (tells_time, _plain),
    "asks": (asks, _plain),
    "log_tokens": (log_tokens, _plain),
    "log_parts": (log_parts, _plain),
    "user_said": (user_said, _plain),
    "instructs": (instructs, _plain),
    "own_words": (own_words, _plain),
    "own_parts": (own_parts, _plain),
}
