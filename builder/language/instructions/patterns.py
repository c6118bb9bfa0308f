"""The cues of instructions in each language, read once from `data/instructions/*.toml`: a new language is a new file."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

ANYWHERE = ""
"""Key of the cues that are searched for; the only ones of scripts that write no spaces between words."""
ANY_WORD = "*"
"""Key of the cues that are tried wherever a clause begins."""
NEVER = r"(?!)"
"""Matches nothing."""
SPACED = frozenset({"latin", "cyrillic"})
"""Scripts that write spaces between words."""
ANCHOR = 6
"""Words of a language by which it is known."""
_NAME = re.compile(r"\{([a-z_]+)\}")
_HEAD = re.compile(r"(?:[\w'-](?<!_)\??|\(\?:[^\W_]+(?:\|[^\W_]*)*\)\??)*")
_PIECE = re.compile(r"(?:\(\?:([\w|]+)\)|([\w'-]))(\?)?")
_FLAGS = re.IGNORECASE


@dataclass(frozen=True, slots=True)
class Cue:
    """source: a pattern that is matched from its first word on. begins: only where a clause begins.

    once: counts only where nothing says that it is meant once. asks: counts in a question too ("could you always …?").
    withdraws: takes an instruction back.
    """

    source: str
    begins: bool = False
    once: bool = False
    asks: bool = False
    withdraws: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first needed: no conversation needs all of them."""
        return _compiled(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language and how people instruct in it.

    code: ISO 639-1. script: which letters it is written in. signs: words by which it is known. anchor: the first of them, which
    tell a stemmer the language. cues: first word → cues.
    openers: words behind which a clause may begin. joints: those that continue a clause with a subject. subjects: such subjects.
    leadins: phrases behind which a clause begins ("make sure to"). leads: their last words. reasons: where the reason of a wish
    begins. single: "just this once", whatever the cue. once: what is definite, where a cue does not say "always" itself.
    reported: somebody else's words follow. proverbs: what nobody means. pasted: announces somebody else's text. rules: announces
    one's own wishes.
    stop: words that say nothing of what an instruction is about. generic: verbs of which one stands for any other, and what
    forbids without a verb. both: words that join two matters. directions: prepositions. others: pronouns of third persons.
    """

    code: str
    script: str
    signs: frozenset[str]
    cues: Mapping[str, tuple[Cue, ...]]
    openers: frozenset[str]
    joints: frozenset[str]
    subjects: frozenset[str]
    leads: frozenset[str]
    single: re.Pattern[str]
    reasons: re.Pattern[str]
    leadins: re.Pattern[str]
    once: re.Pattern[str]
    reported: re.Pattern[str]
    proverbs: re.Pattern[str]
    pasted: re.Pattern[str]
    rules: re.Pattern[str]
    stop: re.Pattern[str]
    generic: re.Pattern[str]
    both: re.Pattern[str]
    directions: re.Pattern[str]
    others: re.Pattern[str]
    anchor: str


@cache
def languages() -> tuple[Language, ...]:
    """All languages in the order of their codes."""
    folder = files("builder.language") / "data" / "instructions"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(_language(file.name.removesuffix(".toml"), tomllib.loads(file.read_text("utf-8"))) for file in found)


def _language(code: str, data: Mapping[str, Any]) -> Language:
    lists = {name: _either(words) for name, words in data.get("words", {}).items()}
    script = data.get("script", "latin")

    def words(name: str) -> frozenset[str]:
        return frozenset(data[name].split())

    def pattern(name: str) -> re.Pattern[str]:
        return re.compile(_expanded(data[name], lists) if data[name] else NEVER, _FLAGS)

    def any_of(name: str) -> re.Pattern[str]:
        return _any_of(data[name], script)

    return Language(
        code=code,
        script=script,
        signs=words("signs"),
        cues=_cues(data, lists),
        openers=words("openers"),
        joints=words("joints"),
        subjects=words("subjects"),
        leads=words("leads"),
        single=pattern("single"),
        reasons=pattern("reasons"),
        leadins=pattern("leadins"),
        once=pattern("once"),
        reported=pattern("reported"),
        proverbs=pattern("proverbs"),
        pasted=pattern("pasted"),
        rules=pattern("rules"),
        stop=any_of("stop"),
        generic=any_of("generic"),
        both=any_of("both"),
        directions=any_of("directions"),
        others=any_of("others"),
        anchor=" ".join(data["signs"].split()[:ANCHOR]) if script in SPACED else "",
    )


def _cues(data: Mapping[str, Any], lists: Mapping[str, str]) -> Mapping[str, tuple[Cue, ...]]:
    """First word → cues, those that take back first."""
    firsts = {name: tuple(_firsts(words)) for name, words in data.get("words", {}).items()}
    cues: defaultdict[str, list[Cue]] = defaultdict(list)
    for name, kind in _KINDS.items():
        for first, source in data["instructs"].get(name, ()):
            cue = Cue(_expanded(source, lists), **kind)
            for word in dict.fromkeys(_indexed(first, firsts)):
                cues[word].append(cue)
    return {word: tuple(found) for word, found in cues.items()}


_KINDS: Mapping[str, Mapping[str, bool]] = {
    "withdraws": {"withdraws": True},
    "begins": {"begins": True},
    "holds": {},
    "lasting": {"begins": True, "once": True},
    "wishes": {"once": True},
    "habits": {"begins": True, "asks": True},
    "requests": {"begins": True, "once": True, "asks": True},
}


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, _FLAGS)


def _indexed(first: str, firsts: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    for word in first.split() or [ANYWHERE]:
        named = _NAME.fullmatch(word)
        yield from firsts[named[1]] if named else [word]


def _either(words: str) -> str:
    """A list of words as a pattern; a list that begins with "(" is one already. "_" stands between words."""
    entries = words.strip()
    pattern = entries.replace("\n", "") if entries.startswith("(") else f"(?:{'|'.join(entries.split())})"
    return pattern.replace("_", r"[\s_]+")


def _any_of(words: str, script: str) -> re.Pattern[str]:
    """Any of the words, or of the patterns where words are not told apart by spaces."""
    if not words:
        return re.compile(NEVER)
    either = "|".join(words.replace("_", r"\s+").split())
    return re.compile(rf"(?<![\w'])(?:{either})(?![\w'])" if script in SPACED else either, _FLAGS)


def _expanded(pattern: str, lists: Mapping[str, str]) -> str:
    """Lists may name lists."""
    plain = "".join(pattern.split("\n"))
    while (further := _NAME.sub(lambda name: lists[name[1]], plain)) != plain:
        plain = further
    return plain


def _firsts(words: str) -> Iterable[str]:
    """The words that a list's entries may begin with: "e?mails?" with "mail", "mails", "email" and "emails"."""
    for entry in words.split():
        ways = [""]
        for group, letter, optional in _PIECE.findall(_HEAD.match(entry)[0]):  # type: ignore[index]
            pieces = group.split("|") if group else [letter]
            ways = [*(way + piece for way in ways for piece in pieces), *(ways if optional else ())]
        yield from filter(None, ways)
