"""The cues of instructions in each language, read once from `data/instructions/*.toml`, and the sentences that a person wrote."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from builder.language.sentences import Span, sentences
from builder.language.word_lists import NOTHING, SPACED_SCRIPTS, Pattern, either, tables, words

ANYWHERE = ""
"""Key of the cues that are searched for; the only ones of scripts that write no spaces between words."""
ANY_WORD = "*"
"""Key of the cues that are tried wherever a clause begins."""
ANCHOR_WORDS = 6
"""Words of a language that tell a stemmer the language."""
_NAME = re.compile(r"\{([a-z_]+)\}")
_HEAD = re.compile(r"(?:[\w'-](?<!_)\??|\(\?:[^\W_]+(?:\|[^\W_]*)*\)\??)*")
_PIECE = re.compile(r"(?:\(\?:([\w|]+)\)|([\w'-]))(\?)?")
_FLAGS = re.IGNORECASE
_KINDS: Mapping[str, Mapping[str, bool]] = {
    "withdraws": {"withdraws": True},
    "begins": {"begins": True},
    "holds": {},
    "lasting": {"begins": True, "once": True},
    "wishes": {"once": True},
    "habits": {"begins": True, "asks": True},
    "requests": {"begins": True, "once": True, "asks": True},
}


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern by which an instruction is recognised."""

    source: str
    """Matched from its first word on."""
    begins: bool = False
    """It counts only where a clause begins."""
    once: bool = False
    """It counts only where nothing says that it is meant once."""
    asks: bool = False
    """It counts in a question too ("could you always …?")."""
    withdraws: bool = False

    @property
    def pattern(self) -> Pattern:
        """Compiled at its first use."""
        return _compiled(self.source)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """A language and how people instruct in it."""

    code: str
    """ISO 639-1."""
    script: str
    """Its letters: a key of `builder.language.word_lists.LETTERS`, or "latin"."""
    signs: frozenset[str]
    """Words by which it is recognised."""
    anchor: str
    """The first of them, which tell a stemmer the language."""
    cues: Mapping[str, tuple[Cue, ...]]
    """First word → cues."""
    openers: frozenset[str]
    """Words after which a clause may begin."""
    joints: frozenset[str]
    """Openers that continue a clause with a subject."""
    subjects: frozenset[str]
    selves: frozenset[str]
    """Subjects in the first person."""
    self_objects: frozenset[str]
    """Objects in the first person. "I am vegan and never cook me meat" has another subject in its second clause: the reader."""
    leads: frozenset[str]
    """The last words of `leadins`."""
    leadins: Pattern
    """Phrases after which a clause begins ("make sure to")."""
    reasons: Pattern
    """The beginning of the reason of a wish."""
    single: Pattern
    """"Just this once", whatever the cue."""
    once: Pattern
    """Words of something definite, where a cue does not say "always" itself."""
    reported: Pattern
    """Another person's words follow, or a promise."""
    proverbs: Pattern
    pasted: Pattern
    """Announces another person's text on the lines after it."""
    presents: Pattern
    """Announces another person's text before a colon."""
    rules: Pattern
    """Announces one's own wishes."""
    titles: Pattern
    """Headings of lists of rules, from their first to their last word."""
    tasks: Pattern
    """Asks for work on a text: to sum it up, to translate it, to write it."""
    stop: Pattern
    """Words that say nothing of what an instruction is about."""
    generic: Pattern
    """Verbs of which one stands for any other, and what forbids without a verb."""
    both: Pattern
    """Words that join two matters."""
    directions: Pattern
    others: Pattern
    """Pronouns of third persons."""


@cache
def languages() -> tuple[Language, ...]:
    """All languages in the order of their codes."""
    return tuple(_language(code, data) for code, data in tables("instructions").items())


def _language(code: str, data: Mapping[str, Any]) -> Language:
    lists = {name: _either(words) for name, words in data.get("words", {}).items()}
    script = data.get("script", "latin")

    def words(name: str) -> frozenset[str]:
        return frozenset(data[name].split())

    def pattern(name: str) -> Pattern:
        return re.compile(_expanded(data[name], lists) if data[name] else NOTHING, _FLAGS)

    def any_of(name: str) -> Pattern:
        words = data[name]
        if not words:
            return re.compile(NOTHING)
        either = "|".join(words.replace("_", r"\s+").split())
        return re.compile(rf"(?<![\w'])(?:{either})(?![\w'])" if script in SPACED_SCRIPTS else either, _FLAGS)

    return Language(
        code=code,
        script=script,
        signs=words("signs"),
        cues=_cues(data, lists),
        openers=words("openers"),
        joints=words("joints"),
        subjects=words("subjects"),
        selves=words("selves"),
        self_objects=words("self_objects"),
        leads=words("leads"),
        single=pattern("single"),
        reasons=pattern("reasons"),
        leadins=pattern("leadins"),
        once=pattern("once"),
        reported=pattern("reported"),
        proverbs=pattern("proverbs"),
        pasted=pattern("pasted"),
        presents=pattern("presents"),
        rules=pattern("rules"),
        titles=pattern("titles"),
        tasks=pattern("tasks"),
        stop=any_of("stop"),
        generic=any_of("generic"),
        both=any_of("both"),
        directions=any_of("directions"),
        others=any_of("others"),
        anchor=" ".join(data["signs"].split()[:ANCHOR_WORDS]) if script in SPACED_SCRIPTS else "",
    )


def _cues(data: Mapping[str, Any], lists: Mapping[str, str]) -> Mapping[str, tuple[Cue, ...]]:
    firsts = {name: tuple(_firsts(words)) for name, words in data.get("words", {}).items()}
    cues: defaultdict[str, list[Cue]] = defaultdict(list)
    for name, kind in _KINDS.items():
        for first, source in data["instructs"].get(name, ()):
            cue = Cue(_expanded(source, lists), **kind)
            for word in dict.fromkeys(_indexed(first, firsts)):
                cues[word].append(cue)
    return {word: tuple(cues_of_word) for word, cues_of_word in cues.items()}


@cache
def _compiled(source: str) -> Pattern:
    return re.compile(source, _FLAGS)


def _indexed(first: str, firsts: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for word in first.split() or [ANYWHERE]:
        reference = _NAME.fullmatch(word)
        yield from firsts[reference[1]] if reference else [word]


def _either(words: str) -> str:
    entries = words.strip()
    pattern = entries.replace("\n", "") if entries.startswith("(") else f"(?:{'|'.join(entries.split())})"
    return pattern.replace("_", r"[\s_]+")


def _expanded(pattern: str, lists: Mapping[str, str]) -> str:
    plain = "".join(pattern.split("\n"))
    while (further := _NAME.sub(lambda name: lists[name[1]], plain)) != plain:
        plain = further
    return plain


def _firsts(words: str) -> Iterator[str]:
    for entry in words.split():
        ways = [""]
        for group, letter, optional in _PIECE.findall(_HEAD.match(entry)[0]):  # type: ignore[index]
            pieces = group.split("|") if group else [letter]
            ways = [*(way + piece for way in ways for piece in pieces), *(ways if optional else ())]
        yield from filter(None, ways)


MAX_QUOTED_CHARS = 160
"""More characters after a colon are pasted text."""
MAX_SENTENCE_CHARS = 400
"""Longer sentences are not written by hand."""
MAX_SALUTATION_WORDS = 2
"""Words of a line that is only a salutation."""

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_QUOTED_LINE = re.compile(
    r"^\s*(?:>|#|//|\||<|/?\*\*?/?\s*$|\$ |\{|\}|\[|@|--\s)|^\s{8,}\S|^\s*[\w.]+\(|[;{}]\s*$|^\d{1,4}[-/:.]\d\d[-/:.]\d\d"
)
ITEM = re.compile(r"^\s*(?:(?:[-*•–+]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+|(?:\d{1,2}、|[・‣◦])\s*)")
"""The mark of an item of a list."""
_COLON = re.compile(r"[:：]\s")
_CODE = re.compile(r"[:：]\s*(?=[\"“„«{\[<`]|```)|\s(?=```)")
_SPACE = re.compile(r"\s")


def own_sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Spans of the characters from start to end that the person wrote, in order, stripped. A line end ends a sentence."""
    position, fenced, pasted = start, False, False
    for line in text[start:end].splitlines(keepends=True):
        begin, position = position, position + len(line)
        if _FENCE.match(line):
            fenced = not fenced
        elif _mail_header().match(line):
            return
        elif not fenced and _is_own(line, after_paste=pasted):
            opening = _presentation().search(line)
            if opening and not _announces(opening[0], "rules"):
                yield from _of_line(text, begin, begin + opening.end())
                return
            yield from _of_line(text, begin, begin + len(line.rstrip()))
            if line.rstrip().endswith((":", "：")) and position < len(text):
                if _announces(line, "pasted") and not _announces(line, "rules"):
                    return
                pasted = not _announces(line, "rules") and len(line.split()) > MAX_SALUTATION_WORDS


def _is_own(line: str, *, after_paste: bool) -> bool:
    """Whether a line is no quote, and below a text that was pasted an item of the person's list."""
    return bool(line.strip()) and not _QUOTED_LINE.match(line) and (not after_paste or bool(ITEM.match(line)))


@cache
def _mail_header() -> Pattern:
    return re.compile(rf"^\s*(?:{either(words('mail_headers'))}\s*[:：]|-{{3,}}|_{{5,}}|on .{{5,80}} wrote:)", re.IGNORECASE)


@cache
def _presentation() -> Pattern:
    return re.compile(
        rf"(?:{'|'.join(language.presents.pattern for language in languages())})[^.:!?：。]{{0,60}}[:：]", re.IGNORECASE
    )


def _announces(line: str, what: str) -> bool:
    return any(getattr(language, what).search(line[-200:]) for language in languages())


def _of_line(text: str, start: int, end: int) -> Iterator[Span]:
    item = ITEM.match(text[start:end])
    start += item.end() if item else 0
    for begin, until in sentences(text[start:end]):
        stop, is_cut = _without_pasted(text, start + begin, start + until, end)
        yield start + begin, stop
        if is_cut:
            return


def _without_pasted(text: str, start: int, end: int, line_end: int) -> tuple[int, bool]:
    if code := _CODE.search(text, start, min(end, start + MAX_SENTENCE_CHARS)):
        return code.start() + (text[code.start()] in ":："), _is_long(line_end - code.end())
    colon = _COLON.search(text, start, min(end, start + MAX_SENTENCE_CHARS))
    if colon and _is_long(line_end - colon.end()):
        return colon.start() + 1, True
    if end - start <= MAX_SENTENCE_CHARS:
        return end, False
    spaces = [space.start() for space in _SPACE.finditer(text, start, start + MAX_SENTENCE_CHARS)]
    return (spaces[-1] if spaces else start + MAX_SENTENCE_CHARS), True


def _is_long(characters: int) -> bool:
    return characters > MAX_QUOTED_CHARS
