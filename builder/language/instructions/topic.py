"""What a standing instruction is about, and whether a later one ends it.

A wrong end hides a wish; a missed end shows both in their order. So one ends only by the same words again, or by a permission
that adds no word of its own to what it is about.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from builder.language.instructions.patterns import Language, languages
from builder.language.sameness import wording
from builder.language.scripts import SPACED_SCRIPTS

_CAPITAL = re.compile(r"(?<=[\w,;:)]\s)[A-ZÀ-ÖØ-ÞА-Я]\w+")
"""A word with a capital that does not begin the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What one instruction is about."""

    words: frozenset[str]
    """Stemmed terms."""
    order: tuple[str, ...]
    """The terms in their order."""
    capitals: tuple[str, ...]
    """Terms of the words with a capital."""
    wording: str
    """What is compared of it, for repeats."""
    generic: bool
    """Its verb stands for any other ("use", "write"), or it has none ("no emojis")."""
    several: bool
    """It names two matters."""
    directions: frozenset[tuple[str, str]]
    """(preposition, word behind it): "from Tom" is not "to Tom"."""
    others: frozenset[str]
    """Pronouns of third persons."""


def subject(sentence: str, code: str, terms: Callable[[str], str]) -> Subject:
    """What the sentence is about, without the words that make it an instruction.

    code: the language of its cue.
    terms: text → stemmed terms.
    """
    language = next(language for language in languages() if language.code == code)
    plain = sentence.replace("’", "'").lower()
    about = language.generic.sub(" ", language.stop.sub(" ", plain))
    order = tuple(terms(f"{about} {language.anchor}").split())
    return Subject(
        words=frozenset(order),
        order=order,
        capitals=tuple(terms(" ".join(_CAPITAL.findall(sentence))).split()),
        wording=wording(sentence),
        generic=bool(language.generic.search(plain)),
        several=bool(language.both.search(plain)),
        directions=_directions(plain, language),
        others=frozenset(language.others.findall(plain)),
    )


def repeats(newer: Subject, older: Subject) -> bool:
    """Whether both are the same words."""
    return newer.wording == older.wording


def ends(permission: Subject, rule: Subject) -> bool:
    """Whether "you can … again" means that rule, and all of it."""
    if not permission.words or not permission.words <= rule.words or not permission.others <= rule.others:
        return False
    if _directs_elsewhere(permission, rule) or not _same_roles(permission, rule):
        return False
    return permission.words == rule.words or not (rule.several or (permission.generic and not rule.generic))


def _same_roles(permission: Subject, rule: Subject) -> bool:
    """Whether the words stand in one order, apart from a verb at the end; names always must."""
    order = permission.order
    rotations = (order[number:] + order[:number] for number in range(max(len(order), 1)))
    names = tuple(word for word in permission.capitals if word in rule.capitals)
    return any(_in_order(words, rule.order) for words in rotations) and _in_order(names, rule.capitals)


def _in_order(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether words come in the order in which others do: Tom calls Eva is not Eva calls Tom."""
    rest = iter(others)
    return all(word in rest for word in some)


def touches(permission: Subject, rule: Subject) -> bool:
    """Whether both name the same somewhere: then they are read together."""
    return bool(permission.words & rule.words)


def _directs_elsewhere(permission: Subject, rule: Subject) -> bool:
    """Whether the same word stands behind another preposition: before and after nine, from and to Tom."""
    there = {word: {preposition for preposition, behind in rule.directions if behind == word} for _, word in rule.directions}
    return any(preposition not in there.get(word, {preposition}) for preposition, word in permission.directions)


def _directions(plain: str, language: Language) -> frozenset[tuple[str, str]]:
    """Each preposition with the next word that says something."""
    if language.script not in SPACED_SCRIPTS:
        return frozenset()
    directions: set[tuple[str, str]] = set()
    for preposition in language.directions.finditer(plain):
        rest = language.stop.sub(" ", plain[preposition.end() :]).split(maxsplit=1)
        if rest and not language.generic.match(rest[0]):
            directions.add((preposition[0], rest[0].strip(".,;:!?")))
    return frozenset(directions)
