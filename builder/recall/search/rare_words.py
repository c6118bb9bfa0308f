"""Words of the query that one place of the history alone has, and keywords of records: evidence that needs no learned weight.

A passage with such a word is found before everything that shares no word with the query, in every language. The weights are
learned in English, from questions whose words most often occur many times.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import chain, islice

import numpy as np

from builder.language.instructions.patterns import languages
from builder.language.lists import UNSPACED, word_set
from builder.language.words import words_of
from builder.recall.index.prefix import Floats, Rows
from builder.recall.index.view import View
from builder.recall.search.query import Query

MAX_WORDS = 64
"""Words of a query that are looked at; a longer one is a pasted text."""
MAX_FORMS = 10_000
"""Words whose stems are kept."""
MAX_KEYWORD_WORDS = 4
"""Words of a keyword that a query may hold."""
MARGIN = np.float32(1e-3)
"""Points of the score between a passage with a rare word and the best one without any word of the query."""


def content_words(text: str, terms: Callable[[str], str]) -> tuple[frozenset[str], ...]:
    """The stems of each word that is a function word or small talk in no language, in any language.

    A short question seldom tells its language, and may have another one than what answers it. Each pair of characters is a word
    where no spaces are written. terms: text → stemmed terms.
    """
    anchors = tuple(dict.fromkeys(language.anchor for language in languages()))
    plain = word_set("filler").union(word_set("asking"), *(language.signs for language in languages()))
    words = list(islice(dict.fromkeys(words_of(text)), MAX_WORDS))
    forms = {word: _forms(word, anchors, terms) for word in words}
    passed = plain.union(*(stems for of_word in forms.values() for stems in of_word))
    content = [frozenset[str]().union(*of_word) for word, of_word in forms.items() if word not in plain and all(of_word)]
    pairs = (({pair} for pair in sorted(stems)) if UNSPACED.search("".join(stems)) else (stems,) for stems in content)
    own = ({stem} for stem in dict.fromkeys(terms(" ".join(words)).split()) if stem not in passed)
    return tuple(frozenset(stems) - plain for stems in chain(*pairs, own) if not plain.issuperset(stems))


@lru_cache(MAX_FORMS)
def _forms(word: str, anchors: tuple[str, ...], terms: Callable[[str], str]) -> tuple[frozenset[str], ...]:
    """The stems of a word in each language. anchors: a word of each, which tells it."""
    return tuple(frozenset(terms(f"{anchor} {word}").split()) for anchor in anchors)


def literal_passages(query: Query, view: View, unseen: Rows) -> Floats:
    """How much each passage says that it answers by its words alone, shape (passages,); 0 where nothing does.

    It is the idf of the query's words that nothing else unseen has, and of the keywords of its record. unseen: what may be found,
    shape (passages,). What was said twice in the same words is one place.
    """
    weight, words = np.zeros(view.passages, np.float32), words_of(query.text)[:MAX_WORDS]
    for stems in query.content:
        there = np.unique(np.concatenate([view.prefix.occurrences(stem)[0].passages for stem in stems]))
        there = there[unseen[there]]
        same = view.repeats(int(view.crumb[there[0]])) if len(there) else ()
        if len(there) <= len(same) and set(view.crumb[there].tolist()).issubset(same):
            weight[there] += np.log1p(view.passages)
    starts = range(len(words))
    phrases = (" ".join(words[start : start + size]) for size in range(1, MAX_KEYWORD_WORDS + 1) for start in starts)
    for phrase in dict.fromkeys(phrases):
        rows = view.history.breadcrumbs.keywords.get(phrase, ())
        first = [number for row in rows if row < view.size and (number := view.first_passage(row)) is not None and unseen[number]]
        weight[first] += np.log1p(view.passages / max(len(first), 1))
    return weight


def lifted(query: Query, view: View, scores: Floats, literal: Floats, unseen: Rows) -> Floats:
    """The scores, with passages that have a rare word or keyword above all unseen ones that share no word with the query."""
    others = unseen & (literal == 0)
    for term in {*query.terms, *(stem for stems in query.content for stem in stems)}:
        others[view.prefix.occurrences(term)[0].passages] = False
    floor = scores.max(initial=-np.inf, where=others) + MARGIN * literal
    return np.where(literal > 0, np.maximum(scores, floor), scores)
