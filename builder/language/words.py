"""Words as they are compared, in several languages, and what a sentence does: small talk, referring, asking, concluding."""

import re
import unicodedata

from builder.language.lists import HAN_WORD, any_of, derived, word_set, words

MARKS = "".join(map(chr, (code for code in range(0x0300, 0xFE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})))
"""Vowel signs and tones: letters to Hindi and Thai readers, though not to Python's `\\w`."""
SIGNED = r"(?:(?<!\w)[-−])?\d+(?:[.,:/-]\d+)*"
"""Pattern of a number with its sign, decimals, and of dates and times in digits."""
MAX_FILLER_CHARS, MAX_FILLER_WORDS = 80, 6
"""A longer text means something."""
_UNWRITTEN = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]")
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?=\S*\d\S|\S\d|\w+[._]\w{2}|(?:\w*/\w+){2}|\w*[a-z][A-Z])[\w#@%€$£+-][\w./:@#%+-]*(?<![.:/])"
)
_ASKS = re.compile(r"[?？؟][\"'”’»)\]*_]*$")
_ASKS_WITHIN = re.compile(r"[?？؟](?=[\s\"'”’»)\]*_]|$)|[？]")


def letters(without: str = "") -> str:
    """Pattern of a run of letters and digits, leaving out the characters of the class `without`."""
    return rf"[^\W_{without}]+(?:[{MARKS}]+[^\W_{without}]*)*"


_WORD = re.compile(rf"{SIGNED}|{letters()}(?:['’]{letters()})*")


def folded(text: str) -> str:
    """One spelling of width, case and of the vowels that Arabic and Hebrew may leave out."""
    return _UNWRITTEN.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_filler(text: str) -> bool:
    """True for "okay", "thanks!", "how are you?", "you're welcome", 好的 and for texts without a single word."""
    if len(text) > MAX_FILLER_CHARS:
        return False
    rest = _greetings().sub(" ", folded(text).replace("’", "'"))
    rest_words = words_of(rest)
    return len(rest_words) <= MAX_FILLER_WORDS and all(map(_carries_nothing, rest_words)) and "?" not in rest


def words_of(text: str) -> list[str]:
    """Words and numbers in one spelling, in order; signs, decimals, dates and times stay whole."""
    return [word.replace("'re", "").replace("'s", "") for word in _WORD.findall(folded(text).replace("’", "'"))]


def refers(sentence: str) -> bool:
    """Whether it begins with a word that stands for an earlier one: "He said that…", "Das ist gut"."""
    return bool(_opening("references").match(sentence))


def answers(sentence: str) -> bool:
    """Whether it begins as answers do, or is nothing else: "Yes, the red one.", "Noch nicht"."""
    return bool(_opening("answers").match(sentence))


def announces(sentence: str) -> bool:
    """Whether it begins as one does that says what its speaker does next: "Let me look", "Ich prüfe"."""
    return bool(_opening("announcements").match(sentence))


def changes(sentence: str) -> bool:
    """Whether it says that something is otherwise than it was: "instead", "doch", "al final"."""
    return bool(_words_of("changes").search(sentence))


def greets(sentence: str) -> bool:
    """Whether it begins as greetings do."""
    return bool(_opening("greetings").match(sentence))


def asks(sentence: str) -> bool:
    """Whether it ends with a question mark."""
    return bool(_ASKS.search(sentence))


def asks_within(text: str) -> bool:
    """Whether a text holds a question."""
    return bool(_ASKS_WITHIN.search(text))


def asks_when(text: str) -> bool:
    """Whether it asks for a time: "when", "how long", "wann"."""
    return bool(_words_of("when_questions").search(text))


def asks_where(text: str) -> bool:
    """Whether it asks for a place."""
    return bool(_words_of("where_questions").search(text))


def identifiers(text: str) -> tuple[str, ...]:
    """Its numbers of two signs or more, ids, dates, file names and paths, as they are written."""
    return tuple(dict.fromkeys(name for name in _IDENTIFIER.findall(text) if len(name) > 1))


def asks_own_words(text: str) -> bool:
    """Whether it asks an agent for what it said: "what did you recommend?"."""
    return bool(_words_of("own_words_questions").search(text))


def asks_broadly(text: str) -> bool:
    """Whether its answer is in many messages: a summary, an order of events, all of a kind."""
    return bool(_words_of("broad_questions").search(text))


def asks_failure(text: str) -> bool:
    """Whether it asks what failed."""
    return bool(_words_of("failures").search(text))


def ends_with_tag(text: str) -> bool:
    """Whether a statement is made a question by its end: "moved to eight, ok?"."""
    return bool(_tag().search(text))


def concludes(sentence: str) -> bool:
    """Whether it says what was decided, found out or finished."""
    return bool(_words_of("conclusions").search(sentence))


@derived
def _greetings() -> re.Pattern[str]:
    """Greetings and farewells, longest first; those that are questions may have a question mark."""
    phrases = sorted((*words("small_talk"), *words("greetings")), key=len, reverse=True)
    asking = "|".join(re.escape(folded(entry.removesuffix("?"))) for entry in phrases if entry.endswith("?"))
    others = "|".join(re.escape(folded(entry)) for entry in phrases if not entry.endswith("?"))
    return re.compile(rf"(?<!\w)(?:(?:{asking})(?!\w)\s*[?？]?|(?:{others})(?!\w))")


def _carries_nothing(word: str) -> bool:
    """Han words are written together with their particles: 知道了, 嗯嗯."""
    stem = word.rstrip("".join(words("particles"))) if HAN_WORD.fullmatch(word) else word
    return not stem or not word_set("filler").isdisjoint((word, stem))


@derived
def _tag() -> re.Pattern[str]:
    return re.compile(rf"[,;，、–-]\s*{any_of('tags')}\s*[?？؟]\W*$", re.IGNORECASE)


@derived
def _opening(name: str) -> re.Pattern[str]:
    return re.compile(r"\W*" + any_of(name, before="", behind=r"(?![\w’'-])"), re.IGNORECASE)


@derived
def _words_of(name: str) -> re.Pattern[str]:
    return re.compile(any_of(name), re.IGNORECASE)
