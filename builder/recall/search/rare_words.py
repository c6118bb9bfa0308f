"""Words of the query that one place of the history alone has, and keywords of records: evidence that needs no learned weight.

A passage with such a word is found before everything that shares no word with the query, in every language. The weights are
learned in English, from questions whose words most often occur many times.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np

from builder.language.instructions.patterns import languages
from builder.language.lists import word_set
from builder.language.scripts import UNSPACED
from builder.language.words import words_of
from builder.recall.index.prefix import Floats, Ints, Rows
from builder.recall.index.view import View
from builder.recall.search.query import Query

MAX_WORDS = 64
"""Words of a query that are looked at; a longer one is a pasted text."""
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
    content, passed = list[frozenset[str]](), set(plain)
    for word in words:
        forms = [terms(f"{anchor} {word}").split() for anchor in anchors]
        stems = frozenset(stem for form in forms for stem in form)
        if word not in plain and all(forms):
            content += [frozenset({pair}) for pair in sorted(stems - plain)] if UNSPACED.search(word) else [stems]
        passed |= stems
    return (*content, *(frozenset({stem}) for stem in dict.fromkeys(terms(" ".join(words)).split()) if stem not in passed))


def literal_passages(query: Query, view: View, unseen: Rows) -> Floats:
    """How much each passage says that it answers by its words alone, shape (passages,); 0 where nothing does.

    It is the idf of the query's words that nothing else unseen has, and of the keywords of its record. unseen: what may be found,
    shape (passages,).
    """
    weight = np.zeros(view.passages, np.float32)
    for stems in query.content:
        holders = _holders(stems, view, unseen)
        if len(holders) and len({_source(int(passage), view) for passage in holders}) == 1:
            weight[holders] += _idf(1, view)
    for keyword in _phrases(words_of(query.text)):
        rows = view.history.breadcrumbs.keywords.get(keyword, ())
        first = [number for row in rows if row < view.size and (number := view.first_passage(row)) is not None and unseen[number]]
        weight[first] += _idf(len(first), view)
    return weight


def lifted(query: Query, view: View, scores: Floats, literal: Floats, unseen: Rows) -> Floats:
    """The scores, with passages that have a rare word or keyword above all unseen ones that share no word with the query."""
    shares = np.zeros(view.passages, np.bool_)
    for term in {*query.terms, *(stem for stems in query.content for stem in stems)}:
        shares[view.prefix.occurrences(term)[0].passages] = True
    others, found = unseen & ~shares & (literal == 0), literal > 0
    if not found.any() or not others.any():
        return scores
    floor = scores[others].max() + MARGIN * literal
    return np.where(found, np.maximum(scores, floor), scores)


def _holders(stems: Iterable[str], view: View, unseen: Rows) -> Ints:
    """Unseen passages that have one of the stems."""
    there = np.concatenate([view.prefix.occurrences(stem)[0].passages for stem in stems])
    return np.unique(there[unseen[there]])


def _source(passage: int, view: View) -> tuple[int, int]:
    """What is the same of passages that repeat each other: the first row that says so, and the number of the passage in it."""
    row = int(view.crumb[passage])
    return view.repeats(row)[0], passage - view.history.passages.first(row)


def _phrases(words: list[str]) -> Iterator[str]:
    """Each run of up to MAX_KEYWORD_WORDS words, once."""
    runs = (
        " ".join(words[start : start + length])
        for length in range(1, MAX_KEYWORD_WORDS + 1)
        for start in range(min(len(words), MAX_WORDS) - length + 1)
    )
    return iter(dict.fromkeys(runs))


def _idf(holding: int, view: View) -> np.float32:
    return np.float32(np.log(1 + view.passages / max(holding, 1)))
