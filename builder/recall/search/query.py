"""The query: the trigger's words without the names of people, who are matched as a field.

A question that names a person is nearest to the other person's greetings; without the names the same vectors find twice as much.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from builder.language.dates import NO_DATES, Mention, mentioned
from builder.language.words import asks_broadly, asks_failure, asks_own_words, asks_when, asks_where

GENERIC_NAMES = frozenset({"user", "assistant", "agent", "system", "tool"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What the passages are ranked by."""

    text: str
    """Without names."""
    terms: tuple[str, ...]
    """Unique, in order."""
    names: frozenset[str]
    """Speakers that the trigger names."""
    vector: bytes
    """Of `text`, float16; empty when the engine is away."""
    dates: Mention = NO_DATES
    asks_when: bool = False
    """It asks for a time."""
    asks_where: bool = False
    """It asks for a place."""
    asks_own_words: bool = False
    """It asks an agent for what it said."""
    asks_broadly: bool = False
    """Its answer is in many messages."""
    asks_failure: bool = False
    """It asks what failed."""
    is_small_talk: bool = False
    """It asks for nothing, so nothing is found."""
    identifiers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Its numbers, ids, dates and file names as written → their terms."""
    content: tuple[frozenset[str], ...] = ()
    """Its words that say something, each as its stems in any language (`rare_words.content_words`)."""


def make_query(
    text: str,
    names: frozenset[str],
    terms: str,
    vector: bytes,
    *,
    is_small_talk: bool = False,
    content: tuple[frozenset[str], ...] = (),
    identifiers: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> Query:
    """text: without names; terms: joined by spaces, as they are stored."""
    return Query(
        text=text,
        terms=tuple(dict.fromkeys(terms.split())),
        names=names,
        vector=vector,
        dates=mentioned(text),
        asks_when=asks_when(text),
        asks_where=asks_where(text),
        asks_own_words=asks_own_words(text),
        asks_broadly=asks_broadly(text),
        asks_failure=asks_failure(text),
        is_small_talk=is_small_talk,
        content=content,
        identifiers=identifiers,
    )


def strip_names(text: str, speakers: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """The text without the given speakers' names, and the names found. Generic speakers ("User") are no names.

    Matches whole words, case as written, a possessive ending included: "What did Ana's friend say?" asks about Ana.
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
