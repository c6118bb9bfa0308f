"""Sentences, lines of prose, and the traits of a text that searches compare.

In doubt nothing is split: half a sentence says something else.
"""

import re
import unicodedata
from enum import IntFlag
from hashlib import blake2b

from builder.language.words import UNSPACED, Terms, any_of, any_unspaced, derived, either, is_filler, word_set, words

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


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) in order, without white space around them; every word is in one.

    A line end always ends a sentence; a full stop after an abbreviation, an ordinal ("14. Mai") or inside a word does not.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _END.finditer(text):
        if "\n" in end.group() or not end["mark"] or _ends(text, start, end):
            _add(spans, text, start, end.end())
            start = end.end()
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
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


@derived
def _folded(name: str) -> frozenset[str]:
    return frozenset(map(str.casefold, words(name)))


@derived
def _just_before(name: str) -> re.Pattern[str]:
    return re.compile(rf"{any_of(name, behind='')}\s+$", re.IGNORECASE)


_FENCED = re.compile(r"(?P<fence>```|~~~).*?(?:(?P=fence)|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]+`")
_ADDRESS = re.compile(r"\b(?:https?|ftp|file)://\S+|\bwww\.\S+")
_IDENTIFIER = re.compile(r"(?:[\w.-]*/)+[\w.-]+(?::\d+)*|\b\w+(?:(?:_|::|\.|->)\w+)+(?:\(\))?|\b\w+\(\)|\B--?[a-z][\w-]*")
"""A path, an identifier, a call or an option, as prose mentions it."""
_LOGGED = re.compile(
    r"\W*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d[.,\s]|"
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b\s*[:\]|\-])"
)
_TRACED = re.compile(r"\s*(?:Traceback \(|File \"|at [\w.$<>/]+[ (:]\S*\d+\)?$|Caused by:|\w*(?:Error|Exception)\b:\s|\^+$)")
_REPORTED = re.compile(r"\W*\d+ (?:passed|failed|skipped|errors?)\b.*\bin \d|[=*~_#-]{4,}|\d+%\|")
_CODED = re.compile(
    r"\s*(?:from [\w.]+ import\b|import [\w.{*]+;?$|(?:async )?def \w+|class \w+\s*[:({]|(?:const|let|var)\s+\w+\s*=|#include\b|"
    r"(?:public|private|protected|static)\s+\w+|return\b.*(?:[-+*/%=<>]\s|\w[(\[.]\w|;$)|SELECT\b.*\bFROM\b|\$ \S|>>> |"
    r"diff --git|@@ |[-+]{3} \S)"
    r"|.*[;{}]\s*$|.*\w\([^)]*\)\s*[:;{]\s*$|\s*[\"'][\w -]+[\"']\s*:|\s*[\w.-]+\s*(?:[:=]\s*[\[{\"']|=\s*\d)\S*,?$|\s*[\]}),]+$"
)
_TABLE = re.compile(r"\|.*\||\t.*\t|\S {2,}\S+.* {2,}\S")
_COMMA_SEPARATED = re.compile(r"[^,\s]+(?:,[^,\s]*){3,}$")
_LETTERS_ONLY = re.compile(r"[^\W\d_]{2,}")
MIN_WORDS = 4
"""Words beside an address that make a sentence of its line."""
CHARS_PER_ODD, CHARS_PER_DIGIT = 25, 2
"""Fewest characters of a sentence for each odd one, and for each digit, in it."""
_PLAIN = frozenset(".,;:!?'’\"“”„«»‚‘¿¡%$€£+&/-–—…·°º。，！、；：（）()？「」《》×@#*~")
_CODE_SIGNS = re.compile(r"\w\([^)\s]*[=\"'\[{]|[{}<>=\\|_]")


def without_blocks(text: str) -> str:
    """The text with line ends in place of every line that is no prose; offsets stay the same."""
    lines, in_code = [], False
    for line in _FENCED.sub(lambda block: "\n" * len(block.group()), text).splitlines(keepends=True):
        in_code = _is_block(line) or (in_code and line[:2] in {"  ", "\t"})
        lines.append("\n" * len(line) if in_code else line)
    return "".join(lines)


def is_prose(sentence: str) -> bool:
    """Whether few of its characters are rare in prose; names in it do not count."""
    plain = _IDENTIFIER.sub("name", _ADDRESS.sub("name", _INLINE.sub("name", sentence.strip("[]"))))
    odd = sum(not (sign.isalnum() or sign.isspace() or sign in _PLAIN) for sign in plain)
    digits = sum(sign.isdigit() for sign in plain)
    return CHARS_PER_ODD * odd <= len(plain) and CHARS_PER_DIGIT * digits <= len(plain) and not _CODE_SIGNS.search(plain)


def _is_block(line: str) -> bool:
    content = line.rstrip("\r\n")
    if any(kind.match(content) for kind in (_LOGGED, _TRACED, _REPORTED, _CODED)) or _TABLE.search(content.strip()):
        return True
    if _COMMA_SEPARATED.match(content.strip()):
        return True
    return bool(_ADDRESS.search(content)) and len(_LETTERS_ONLY.findall(_ADDRESS.sub(" ", content))) < MIN_WORDS


MAX_LEAD_CHARS = 100
"""Of a heading or a first sentence; a longer one is none."""
_HEADING = re.compile(r"^(?:#{1,6} .*|\*\*[^*\n]+\*\*:?|[^\n:]{3,60}:)[ \t]*$", re.MULTILINE)

Spans = tuple[tuple[int, int], ...]


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


_WORD = re.compile(r"[^\W\d_]+")
_QUESTION_MARKS = ("?", "？", "؟")


class Trait(IntFlag):
    """Facts of the text alone, stored with each passage."""

    ASKS = 1
    TIME = 2
    PLACE = 4
    INSTRUCTS = 32
    """Holds a sentence of a person that is a standing instruction, or takes one back."""


def counts(text: str) -> bool:
    """Whether it holds a number, in digits or words."""
    return bool(_number().search(text))


def traits(text: str, *, instructs: bool = False) -> Trait:
    """instructs: a standing instruction of a person begins in it."""
    signs = {
        Trait.ASKS: text.rstrip().endswith(_QUESTION_MARKS),
        Trait.TIME: _time().search(text) or not word_set("times").isdisjoint(_WORD.findall(text.lower())),
        Trait.PLACE: _place().search(text),
        Trait.INSTRUCTS: instructs,
    }
    return Trait(sum(trait for trait, sign in signs.items() if sign))


@derived
def _time() -> re.Pattern[str]:
    return re.compile(rf"\b(?:(?:19|20)\d\d|\d{{1,2}}:\d\d)\b|月\d|{any_unspaced('times')}")


@derived
def _place() -> re.Pattern[str]:
    prepositions, articles = (either(words(name)) for name in ("place_prepositions", "articles"))
    return re.compile(rf"\b{prepositions}\s+(?:{articles}\s+)?[A-ZÄÖÜÉА-Я]\w+")


@derived
def _number() -> re.Pattern[str]:
    return re.compile(rf"\d|{any_of('numbers')}", re.IGNORECASE)


MAX_WORDS = 12
"""A longer question says what it is about."""
UNSPACED_CHARS_PER_WORD = 3
"""Characters of a script without spaces that say as much as a word and its grammar."""


def is_follow_up(text: str, terms: Terms) -> bool:
    """Whether it is understood only with an earlier text."""
    if len(text.split()) > MAX_WORDS or is_filler(text):
        return False
    continuation, why, pointer = _follow_ups()
    unspaced = len(UNSPACED.findall(text))
    content = unspaced // UNSPACED_CHARS_PER_WORD if unspaced else len(set(terms(pointer.sub(" ", text)).split()))
    return content <= (2 if continuation.search(text) else 1 if why.search(text) or pointer.search(text) else -1)


@derived
def _follow_ups() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    interjections = rf"(?:(?:hm+|{either(words('interjections'))})\W+)*"
    patterns = (
        r"^\W*" + any_of("continuations", before=interjections),
        r"^\W*" + any_of("follow_up_questions", before=""),
        any_of("pronouns"),
    )
    continuation, why, pointer = (re.compile(pattern, re.IGNORECASE) for pattern in patterns)
    return continuation, why, pointer


MAX_WORDING_CHARS = 4_000
"""A longer text is compared as it is."""
_QUOTATION_MARKS = str.maketrans("‘’‚“”„«»", '\'\'\'"""""')
_BEHIND_WORD = r"(?:(?<=[^\W\d_][^\W\d_])|(?<=[^\W\d_][^\W\d_][\"')]))"
_STATEMENT_END = re.compile(rf"{_BEHIND_WORD}[.!…]+(?=\s|$)|[。！]+")
"""After a word; a full stop by itself may be a folder, and after one letter a factorial."""
_LAST = re.compile(rf"(?:{_BEHIND_WORD}|(?P<number>(?:^|[^\W\d_]:?\s)[-−#€$£]?\d(?:[\w,.:/-]*\w)?))\.$")
"""After a word, or after a number that a word is before; in `x = 5.` it belongs to the number."""
_BEGINNING = re.compile(r"(?:^|(?<=[^\W\d_A-Z]{3}[.?]\s))(?:[^\W\d_]{2,}|[AI])(?=$|[,']|\s+[\w\"'(])")
"""The first word of a sentence. After an abbreviation none begins, and in code none does."""


def fingerprint(text: str) -> bytes:
    """16 bytes, equal for two texts that say the same."""
    return blake2b(wording(text).encode("utf-8", "backslashreplace"), digest_size=16).digest()


def wording(text: str) -> str:
    """What is compared of a text. Of several lines, or of a long one, only white space at line ends is left out."""
    plain = "\n".join(line.rstrip() for line in unicodedata.normalize("NFC", text).strip().splitlines())
    if "\n" in plain or len(plain) > MAX_WORDING_CHARS:
        return plain
    core = _STATEMENT_END.sub(".", _without_asides(" ".join(plain.translate(_QUOTATION_MARKS).split())))
    core = _LAST.sub(lambda end: end["number"] or "", core).rstrip()
    capitonyms = word_set("capitonyms")
    return (
        _BEGINNING.sub(lambda word: word[0] if word[0].casefold() in capitonyms else word[0][0].lower() + word[0][1:], core)
        or plain
    )


def _without_asides(text: str) -> str:
    first, behind, anywhere = _asides()
    rest = text
    while (shorter := first.sub("", rest, count=1)) != rest:
        rest = shorter
    rest = " ".join(anywhere.sub(" ", behind.sub(lambda aside: aside["mark"] or "", rest)).split())
    return rest if re.search(r"\w", rest) else text


@derived
def _asides() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    asides, trailing, polite = ("|".join(map(re.escape, words(name))) for name in ("asides", "behind_comma", "politeness"))
    return (
        re.compile(rf"^(?:(?:{asides})\s*[,:!.…，：！。]+\s*|(?:{polite})(?!\w)\s+)", re.IGNORECASE),
        re.compile(rf"[,，]\s*(?:{trailing})\s*(?:[,，]|(?P<mark>[.!?…。！？]+\s*$)|$)"),
        re.compile(rf"(?<!\bto)\s(?:{polite})(?=\s|[.!?…]*$)"),
    )
