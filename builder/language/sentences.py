"""Sentences of a text.

In doubt nothing is split: half a sentence says something else.
"""

import re
from functools import cache

from builder.language.word_lists import Pattern, any_of, word_set, words

Span = tuple[int, int]
"""A piece of a text: its first character, and the one after its last."""
Spans = tuple[Span, ...]
CONTEXT_CHARS = 40
"""Characters before and after a mark that decide whether it ends a sentence."""

_END = re.compile(
    r"(?P<mark>(?<![.!?…])[.!?…]++(?:\s\.(?=\s|$))*+)(?P<closing>[\"'”’»)\]*_]*+)(?:\s+|$)"
    r"|[。！？؟।]+[\"'”’」』）)]*+"
    r"|\n"
)
_OPENING = "\"'“„«»‹(¿¡[*_"
_LETTERS = re.compile(r"(?<![\w./])(?:[^\W\d_]\.)*[^\W\d_]+$")
_NUMBER = re.compile(r"(?<![\d.,:])\d{1,3}$")
_WORDS = re.compile(r"[^\W\d_]+")
_LIST_MARK = re.compile(r"[\s\-*+•>#(\"'“„«]*$")


def sentences(text: str) -> list[Span]:
    """Spans (start, end) in order, without white space around them; every word is in one.

    A line end always ends a sentence; a full stop after an abbreviation, an ordinal ("14. Mai") or inside a word does not.
    """
    spans: list[Span] = []
    start = 0
    for end in _END.finditer(text):
        if "\n" in end.group() or not end["mark"] or _ends(text, start, end):
            _add(spans, text, start, end.end())
            start = end.end()
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if stripped := piece.strip():
        begin = start + piece.index(stripped[0])
        spans.append((begin, begin + len(stripped)))


def _ends(text: str, start: int, end: re.Match[str]) -> bool:
    behind = text[end.end() : end.end() + CONTEXT_CHARS].lstrip(_OPENING)
    mark, goes_on = end["mark"], behind[:1].islower()
    if end["closing"].strip(")]*_") and goes_on:  # what was quoted is a part of the sentence
        return False
    if mark in {"…", "..", "..."} or ". ." in mark:
        return not goes_on
    if mark != ".":
        return True
    before = text[max(start, end.start() - CONTEXT_CHARS) : end.start()]
    if number := _NUMBER.search(before):
        return not _is_ordinal(before[: number.start()], behind, at_start=end.start() - start <= CONTEXT_CHARS)
    letters = _LETTERS.search(before)
    return letters is None or not _is_abbreviation(letters.group(), behind)


def _is_ordinal(before: str, behind: str, *, at_start: bool) -> bool:
    following = _WORDS.match(behind)
    if behind[:1].islower() or behind[:1].isdigit() or (following and following.group().casefold() in _folded("ordinal_nouns")):
        return True
    if at_start and _LIST_MARK.match(before):
        return True
    return bool(_just_before("ordinal_cues").search(before)) and not _just_before("cardinal_cues").search(before)


def _is_abbreviation(word: str, behind: str) -> bool:
    if not behind:
        return False
    if word == "I":  # "Bob and I."
        return False
    spelled = {word, word[:1].lower() + word[1:]}
    if not spelled.isdisjoint(word_set("abbreviations")) or len(word) == 1:
        return True
    if not spelled.isdisjoint(word_set("closing_abbreviations")):
        return not behind[:1].isupper()
    if word.casefold() in _folded("numbered_abbreviations"):
        return behind[:1].isdigit()
    return "." in word or (behind[:1].islower() and word.casefold() in _folded("abbreviations"))


@cache
def _folded(name: str) -> frozenset[str]:
    return frozenset(map(str.casefold, words(name)))


@cache
def _just_before(name: str) -> Pattern:
    return re.compile(rf"{any_of(name, behind='')}\s+$", re.IGNORECASE)


MAX_LEAD_CHARS = 100
"""A longer heading or first sentence leads no passage."""
_HEADING = re.compile(r"^(?:#{1,6} .*|\*\*[^*\n]+\*\*:?|[^\n:]{3,60}:)[ \t]*$", re.MULTILINE)


def with_lead(text: str, spans: Spans) -> Spans:
    """The spans of passages with the nearest heading before them, or the first sentence. () is the whole text."""
    if not spans or not text[: spans[0][0]].strip():
        return spans
    first = spans[0][0]
    headings = [match.span() for match in _HEADING.finditer(text, 0, first)]
    start, end = headings[-1] if headings else next(iter(sentences(text[:first])))
    if end - start > MAX_LEAD_CHARS:
        return spans
    return ((start, end), *spans) if text[end:first].strip() else ((start, spans[0][1]), *spans[1:])
