"""Which sentences are standing instructions, what they are about, and which ends another.

A missed instruction may still be found, one that was never given misleads. So one ends only by the same words again, or by a
permission that adds no word to what it is about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from builder.language.instruction_patterns import ANY_WORD, ANYWHERE, Cue, Language, languages, own_sentences
from builder.language.rule_lists import RuleItem, rule_items
from builder.language.word_lists import LETTERS, SPACED_SCRIPTS, Pattern, any_of, either, words
from builder.language.wording import wording
from builder.language.words import Terms

END_CHARS = 5_000
"""Characters at both ends of a long text that are read: pasted text is between them."""
MAX_SENTENCE_CHARS = 400
"""Characters of a sentence that are read; people who instruct are brief."""
QUESTION_MARK_CHARS = 50
"""Characters at the end of a sentence that are searched for a question mark."""
RUN_ON_CHARS = 160
"""A longer sentence is shown from its cue on."""
RUN_ON_CLAUSES = 2
"""The same where people first say so much of themselves ("I take size 10, up to $120, no leather please"): that may change."""
OBJECT_WORDS = 4
"""Words of a clause in which its object is looked for."""
LEADIN_CHARS = 60
"""Characters before a clause in which a phrase may lead to it."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_BREAK = re.compile(r"[,;:—–(¿¡!?.]|(?<=\s)-(?=\s)")
_QUESTION = re.compile(r"[?？؟]\W*$")
_QUOTATION = re.compile(r"[\"“„«‹「][^\"”“»›」]*[\"”“»›」]")
_Words = list[tuple[str, int, int]]
"""The words of a sentence in small letters, with start and end."""
_PLAIN = str.maketrans("’‘`", "'''")
_CAPITAL = re.compile(r"(?<=[\w,;:)]\s)[A-ZÀ-ÖØ-ÞА-Я]\w+")
"""A word with a capital that does not begin the sentence."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """A sentence of a text that instructs."""

    start: int
    end: int
    withdraws: bool
    """It only takes an earlier one back ("you can use emojis again")."""
    language: str
    """ISO 639-1 code of the file that has its cue."""
    is_listed: bool = False
    """Only the heading of its list says that it is a rule."""


def instructions(text: str) -> tuple[Instruction, ...]:
    """In order; questions, reports, quotations, stories and pasted text give none."""
    parts = [(0, END_CHARS), (len(text) - END_CHARS, len(text))] if len(text) > 2 * END_CHARS else [(0, len(text))]
    rules: list[Instruction] = []
    for first, last in parts:
        items = rule_items(text, first, last)
        for start, end in own_sentences(text, first, last):
            item = next((item for item in items if start < item.end and item.start < end), None)
            rule = _item(text, item) if item else _instruction(text, start, end)
            if rule and rule not in rules[-1:]:
                rules.append(rule)
    return tuple(rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of one instruction."""

    words: frozenset[str]
    """Stemmed terms."""
    order: tuple[str, ...]
    capitals: tuple[str, ...]
    """Terms of the words with a capital."""
    wording: str
    """The words of it that are compared, for repeats."""
    generic: bool
    """Its verb stands for any other ("use", "write"), or it has none ("no emojis")."""
    several: bool
    directions: frozenset[tuple[str, str]]
    """(preposition, word after it): "from Tom" is not "to Tom"."""
    others: frozenset[str]
    """Pronouns of third persons."""


def subject(sentence: str, code: str, terms: Terms) -> Subject:
    """The subject of a sentence. code: language of its cue."""
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
    directed = {word for _, word in rule.directions}
    directs_elsewhere = any(word in directed for _, word in permission.directions - rule.directions)
    if directs_elsewhere or not _same_roles(permission, rule):
        return False
    return permission.words == rule.words or not (rule.several or (permission.generic and not rule.generic))


def touches(permission: Subject, rule: Subject) -> bool:
    """Whether both share a word: then they are read together."""
    return bool(permission.words & rule.words)


@cache
def _remarks() -> tuple[Pattern, Pattern]:
    polite = words("politeness")
    asides = either(entry for entry in words("asides") if entry not in polite)
    openers = either({opener for language in languages() for opener in language.openers}.difference(polite))
    leading = rf"^\W*(?:(?:{openers}\W+)*{asides}(?:\W+|$))+"
    return re.compile(leading, re.IGNORECASE), re.compile(rf"[\s,;¿–-]*{any_of('tags')}\s*[?？؟]\W*$", re.IGNORECASE)


def _instruction(text: str, start: int, end: int) -> Instruction | None:
    aside, tag = _remarks()
    ending = tag.search(text, max(start, end - QUESTION_MARK_CHARS), end)
    stop = ending.start() if ending else end
    sentence = _QUOTATION.sub(
        lambda quoted: "_" * len(quoted[0]), text[start : min(stop, start + MAX_SENTENCE_CHARS)].translate(_PLAIN)
    )
    sentence = aside.sub(lambda remark: f"{',':>{len(remark[0])}}", sentence, count=1)
    question = bool(_QUESTION.search(text[max(start, end - QUESTION_MARK_CHARS) : stop]))
    tokens = [(word[0].lower(), *word.span()) for word in _WORD.finditer(sentence)]
    for language in _likely_languages(sentence, {word for word, _, _ in tokens}):
        cues = [*_cues(sentence, tokens, language, question=question)]
        if cues and not (language.proverbs.search(sentence) or language.single.search(sentence)):
            begin, cue = next((each for each in cues if each[1].withdraws), cues[0])
            says_more = tokens[0][0] in language.selves and sentence.count(",", 0, begin) >= RUN_ON_CLAUSES
            begin = begin if says_more or end - start > RUN_ON_CHARS else 0
            return Instruction(start + begin, end, cue.withdraws, language.code)
    return None


def _item(text: str, item: RuleItem) -> Instruction | None:
    """The whole of it; None for a question."""
    rule = _instruction(text, item.start, item.end)
    if rule:
        return replace(rule, start=item.start, end=item.end)
    is_question = _QUESTION.search(text, item.start, item.end)
    return None if is_question else Instruction(item.start, item.end, withdraws=False, language=item.language, is_listed=True)


def _likely_languages(sentence: str, words: set[str]) -> list[Language]:
    script = next((name for name, letter in LETTERS.items() if letter.search(sentence)), "latin")
    signs = {language: len(words & language.signs) for language in languages() if language.script == script}
    most = max(signs.values(), default=0)
    return [language for language in sorted(signs, key=lambda language: -signs[language]) if 2 * signs[language] >= most]


def _cues(sentence: str, words: _Words, language: Language, *, question: bool) -> Iterator[tuple[int, Cue]]:
    for cue in language.cues.get(ANYWHERE, ()):
        match = cue.pattern.search(sentence)
        if match and _counts(cue, sentence, match.start(), language, question=question):
            yield match.start(), cue
    anyhow = language.cues.get(ANY_WORD, ())
    for number, (word, begin, _) in enumerate(words):
        cues = language.cues.get(word, ())
        opens = bool(cues or anyhow) and _opens(sentence, words, number, language)
        for cue in (*cues, *(anyhow if opens else ())):
            if (
                (opens or not cue.begins)
                and cue.pattern.match(sentence, begin)
                and _counts(cue, sentence, begin, language, question=question)
            ):
                yield begin, cue
                break


def _counts(cue: Cue, sentence: str, begin: int, language: Language, *, question: bool) -> bool:
    if question and not (cue.asks or _leads_in(sentence, begin, language)):
        return False
    if cue.once:
        reason = language.reasons.search(sentence, begin)
        if language.once.search(sentence, begin, reason.start() if reason else len(sentence)):
            return False
    return not language.reported.search(sentence[:begin])


def _opens(sentence: str, words: _Words, number: int, language: Language) -> bool:
    first, begin = number, words[number][1]
    while number:
        word, start, end = words[number - 1]
        if _BREAK.search(sentence[end : words[number][1]]):
            return True
        if word not in language.openers:
            return word in language.leads and _leads_in(sentence, begin, language)
        if word in language.joints:
            subject = _subject(sentence[:start], words[: number - 1], language)
            return not subject or (subject in language.selves and _addresses_self(sentence, words[first:], language))
        number -= 1
    return True


def _leads_in(sentence: str, begin: int, language: Language) -> bool:
    return bool(language.leadins.search(sentence, max(begin - LEADIN_CHARS, 0), begin))


def _subject(sentence: str, words: _Words, language: Language) -> str:
    """Subject of the clause that ends with the last of these words; "" = none."""
    following = len(sentence)
    for word, start, end in reversed(words):
        if _BREAK.search(sentence[end:following]):
            return ""
        if word in language.subjects or word in language.selves:
            return word
        following = start
    return ""


def _addresses_self(sentence: str, words: _Words, language: Language) -> bool:
    for number, (word, start, _) in enumerate(words[:OBJECT_WORDS]):
        if number and _BREAK.search(sentence[words[number - 1][2] : start]):
            return False
        if word in language.self_objects:
            return True
    return False


def _same_roles(permission: Subject, rule: Subject) -> bool:
    order = permission.order
    rotations = (order[number:] + order[:number] for number in range(max(len(order), 1)))
    names = tuple(word for word in permission.capitals if word in rule.capitals)
    return any(_in_order(words, rule.order) for words in rotations) and _in_order(names, rule.capitals)


def _in_order(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    rest = iter(others)
    return all(word in rest for word in some)


def _directions(plain: str, language: Language) -> frozenset[tuple[str, str]]:
    if language.script not in SPACED_SCRIPTS:
        return frozenset()
    directions: set[tuple[str, str]] = set()
    for preposition in language.directions.finditer(plain):
        rest = language.stop.sub(" ", plain[preposition.end() :]).split(maxsplit=1)
        if rest and not language.generic.match(rest[0]):
            directions.add((preposition[0], rest[0].strip(".,;:!?")))
    return frozenset(directions)
