"""The query of a consumer: its words, without the names of people, and its vector."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

from builder.domain.errors import Unavailable
from builder.domain.profile import Profile
from builder.domain.recall import Scope
from builder.domain.retrieval import Retrieval
from builder.language.follow_ups import is_follow_up
from builder.language.instruction_patterns import languages
from builder.language.word_lists import UNSPACED, word_set
from builder.language.words import Terms, identifiers, is_filler, words_of
from builder.recall.index.view import View

MAX_WORDS = 64
"""Words of a query that are looked at; a longer one is a pasted text."""
MAX_FORMS = 10_000

GENERIC_NAMES = frozenset({"user", "assistant", "agent", "system", "tool"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The question that passages are ranked by."""

    text: str
    """Without names."""
    terms: tuple[str, ...]
    """Unique, in order."""
    names: frozenset[str]
    vector: bytes
    """Vector of `text`, float16; empty when the engine is away."""
    is_small_talk: bool = False
    """It asks for nothing, so nothing is found."""
    identifiers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Its numbers, ids, dates and file names as written → their terms."""
    content: tuple[frozenset[str], ...] = ()
    """Its words that say something, each as its stems in any language."""

    @property
    def words(self) -> frozenset[str]:
        """Its terms, and the stems of its words in any language."""
        return frozenset(self.terms).union(*self.content)


def strip_names(text: str, speakers: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """The text without the speakers' names, and the names found; "User" is no name.

    Matches whole words, case as written, with a possessive ending.
    """
    names = [name for name in speakers if name.strip() and name.lower() not in GENERIC_NAMES]
    if not names:
        return text, frozenset()
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, longest_first)) + r")(?:['’]s)?(?!\w)")
    matches = frozenset(match.group(1) for match in pattern.finditer(text))
    if not matches:
        return text, matches
    remainder = " ".join(pattern.sub(" ", text).split())
    return (remainder if re.search(r"\w", remainder) else text), matches


MAX_QUERY_CHARS = 2_000
"""Longer texts are searched for by beginning and end; engines read no more than 256 word pieces anyway."""
CONTEXT_CHARS = 300
"""Characters of an earlier message before the trigger, which it must not cut off."""
LOOK_BACK_ROWS = 40
"""Rows of the session in which the last messages are looked for; only tools are between two messages."""
_VOCATIVE = re.compile(r",\s*(?P<name>[^\W\d_a-zа-яё][^\W\d_]+)[\s!.…]*$")
"""A name after a comma, at the end of a greeting or thanks."""
TRIGGER = "{trigger}"
"""Stands for the trigger's text in a profile's own query."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """The question of a consumer."""

    text: str
    """It is embedded, and searched for by its words."""
    context: str = ""
    """It is searched for by its words only."""
    is_small_talk: bool = False
    """The trigger asks for nothing."""


def query_text(trigger: str, view: View, rules: Retrieval, terms: Terms) -> QueryText:
    """The text for this profile.

    `last_user`: the trigger, a follow-up with the message before it. `last_n`: the last messages. `custom`: the profile's text.
    """
    trigger = _ends(trigger)
    match rules.query:
        case "custom":
            return QueryText(_ends(rules.query_text.replace(TRIGGER, trigger)))
        case "last_n":
            before = [text for text, _ in islice(_last(view), rules.query_messages - 1)]
            return QueryText("\n".join((*reversed(before), trigger)), is_small_talk=_is_small_talk(trigger, view, terms))
        case _:
            question, names = strip_names(trigger, view.prefix.speakers)
            if names or not is_follow_up(question, terms):
                return QueryText(trigger, is_small_talk=_is_small_talk(trigger, view, terms))
            last = list(islice(_last(view), 4))
            previous = next((text for text, by_person in last if by_person), "")
            answer = next((text for text, by_person in last if not by_person), "")
            return QueryText(f"{previous}\n{trigger}" if previous else trigger, answer)


def _is_small_talk(trigger: str, view: View, terms: Terms) -> bool:
    unnamed = strip_names(trigger, view.prefix.speakers)[0]
    if is_filler(trigger) or is_filler(unnamed):
        return True
    if (name := _VOCATIVE.search(trigger)) is None:
        return False
    is_known = any(view.prefix.occurrences(stem).passages.size for stem in terms(name["name"]).split())
    return is_filler(trigger[: name.start()]) and not is_known


def _last(view: View) -> Iterator[tuple[str, bool]]:
    for row in view.rows[: -LOOK_BACK_ROWS - 1 : -1].tolist():
        crumb = view.breadcrumb(row)
        if crumb.role in {"user", "assistant"} and view.current[row] and not view.history.breadcrumbs.filler[row]:
            yield crumb.text[:CONTEXT_CHARS].strip(), crumb.role == "user"


def _ends(text: str) -> str:
    return text if len(text) <= MAX_QUERY_CHARS else f"{text[: MAX_QUERY_CHARS // 2]}\n{text[-MAX_QUERY_CHARS // 2 :]}"


MAX_NAME_LOOKS = 50
"""Passages with a speaker's name in which it may be in small letters."""
Queries = dict[tuple[Scope, QueryText], Query]
"""The queries of one trigger: consumers that ask the same in the same scope share one embedding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """Makes queries."""

    embed: Callable[[str], Awaitable[bytes]]
    """Text → vector. Raises `Unavailable`."""
    terms: Terms

    async def query(self, text: str, view: View, profile: Profile, scope: Scope, queries: Queries) -> Query:
        """Without a vector when the engine is away. A new one is added to `queries`."""
        question = query_text(text, view, profile.retrieval, self.terms)
        if (scope, question) in queries:
            return queries[scope, question]
        speakers = tuple(name for name in view.prefix.speakers if not self._is_word(name, question.text, view))
        words, names = strip_names(question.text, speakers)
        context_terms, _ = strip_names(question.context, speakers)
        try:
            vector = await self.embed(words)
        except Unavailable:
            vector = b""
        queries[scope, question] = query = Query(
            text=words,
            terms=tuple(dict.fromkeys(f"{self.terms(words)} {self.terms(context_terms)}".split())),
            names=names,
            vector=vector,
            is_small_talk=question.is_small_talk,
            content=content_words(words, self.terms),
            identifiers=identifier_terms(words, self.terms),
        )
        return query

    def _is_word(self, name: str, text: str, view: View) -> bool:
        if name not in text or name == name.lower():
            return False
        stems = self.terms(name).split()
        passages = view.prefix.occurrences(stems[0]).passages[-MAX_NAME_LOOKS:].tolist() if len(stems) == 1 else ()
        texts = [view.breadcrumb(int(view.crumb[passage])).text for passage in passages]
        small, capital = rf"(?<!\w){re.escape(name.lower())}(?!\w)", rf"(?<=[\w,] ){re.escape(name)}(?!\w)"
        number, others = (sum(len(re.findall(pattern, each)) for each in texts) for pattern in (small, capital))
        return number > max(others, 1)


def content_words(text: str, terms: Terms) -> tuple[frozenset[str], ...]:
    """The stems, in any language, of each word that is a function word or small talk in none."""
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
def _forms(word: str, anchors: tuple[str, ...], terms: Terms) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(terms(f"{anchor} {word}").split()) for anchor in anchors)


def identifier_terms(text: str, terms: Terms) -> dict[str, frozenset[str]]:
    """The identifiers of a query, each with its stemmed terms."""
    return {name: frozenset(terms(name).split()) for name in identifiers(text)}
