"""What is searched for: the query of a consumer, with its vector."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from builder.domain.errors import Unavailable
from builder.domain.profile import Profile
from builder.domain.recall import Scope
from builder.recall.index.view import Terms, View
from builder.recall.search.exact import identifier_terms
from builder.recall.search.query import Query, make_query, strip_names
from builder.recall.search.query_text import QueryText, query_text
from builder.recall.search.rare_words import content_words

MAX_LOOKS = 50
"""Passages with a speaker's name in which it may stand in small letters."""
Queries = dict[tuple[Scope, QueryText], Query]
"""The queries of one trigger: consumers that ask the same in the same scope share one embedding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """Makes queries."""

    embed: Callable[[str], Awaitable[bytes]]
    """Text → vector. Raises `Unavailable`."""
    terms: Terms

    async def query(self, text: str, view: View, profile: Profile, scope: Scope, queries: Queries) -> Query:
        """The consumer's query; without a vector when the engine is away. A new one is added to `queries`.

        text: of the message to answer.
        """
        key = scope, query_text(text, view, profile.retrieval, self.terms)
        if key not in queries:
            queries[key] = await self._make(key[1], view)
        return queries[key]

    async def _make(self, question: QueryText, view: View) -> Query:
        speakers = tuple(name for name in view.prefix.speakers if not self._is_word(name, question.text, view))
        text, names = strip_names(question.text, speakers)
        context_terms, _ = strip_names(question.context, speakers)
        try:
            vector = await self.embed(text)
        except Unavailable:
            vector = b""
        terms = f"{self.terms(text)} {self.terms(context_terms)}"
        content = content_words(text, self.terms)
        exact = identifier_terms(text, self.terms)
        return make_query(text, names, terms, vector, is_small_talk=question.is_small_talk, content=content, identifiers=exact)

    def _is_word(self, name: str, text: str, view: View) -> bool:
        """Whether a speaker's name is more often an ordinary word, such as "Marketing", than a name inside of a sentence."""
        if name not in text or name == name.lower():
            return False
        stems = self.terms(name).split()
        passages = view.prefix.occurrences(stems[0])[0].passages[-MAX_LOOKS:].tolist() if len(stems) == 1 else ()
        texts = [view.breadcrumb(int(view.crumb[passage])).text for passage in passages]
        small, capital = rf"(?<!\w){re.escape(name.lower())}(?!\w)", rf"(?<=[\w,] ){re.escape(name)}(?!\w)"
        number, others = (sum(len(re.findall(pattern, each)) for each in texts) for pattern in (small, capital))
        return number > max(others, 1)
