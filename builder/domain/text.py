"""Texts of a page, JSON of any sender, and the fixed phrases.

Control text, which steers a screen or a model instead of being read, is made visible: a page and its messages hold none.

Control text is
- a control character (C0, DEL, C1), but not a newline, a tab, or a carriage return before a newline;
- a character that overrides or isolates a direction (U+202A to U+202E, U+2066 to U+2069);
- a character that shows nothing: U+200B (but between letters of Thai, Lao, Tibetan, Burmese and Khmer), U+2060 to U+206F, U+FEFF,
  U+FFF0 to U+FFFB, U+034F, U+180E, the fillers of Hangul, the inherent vowels of Khmer, the formats of music;
  ZWJ and ZWNJ with neither a letter of a script that joins its letters
  nor an emoji beside them;
- a variation selector after a character that takes none of its kind, so also after another one: emoji, digits and signs take
  U+FE0E and U+FE0F, these and scripts of Asia U+FE00 to U+FE02, ideographs U+E0100 to U+E01EF;
- a tag character (U+E0000 to U+E007F), but not within the flag of a region (U+1F3F4, two letters of a country, one to four of its
  region, U+E007F);
- a token of a chat template: `<|word|>` with any word, `[INST]`, `<<SYS>>`, the tokens of Mistral, Gemma, Qwen, Command R and
  ChatGLM that begin or end something (not `<mask>` and `[IMG]`, which are SVG and BBCode); and `<s>` or `</s>` where it stands
  alone between white space, or beside another token. Struck text (`<s>old</s>`), sentences of a corpus, and operators between
  spaces (`f <| x |> g`) are no tokens.

LRM and RLM belong to words of many languages and stay. U+2028 and U+2029 are line ends, and become newlines.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from hashlib import blake2b
from string import Formatter
from typing import Any

_JOINED = "\u0590-\u1cff\u2190-\u2bff\u3000-\uabff\ufb1d-\ufdff\ufe0f\ufe70-\ufefc\U00010000-\U0001ffff"
"""Scripts that join letters, and emoji."""
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u1980-\u19df\u1a20-\u1aaf\uaa60-\uaadf"
_SIGNS = "#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ALWAYS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u034f\u115f\u1160\u17b4\u17b5\u180e\u202a-\u202e\u2060-\u206f\u3164\ufe03-\ufe0d\ufeff\uffa0"
    "\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_HIDDEN = "\u200b-\u200d\ufe00-\ufe02\ufe0e\ufe0f\U000e0100-\U000e01ef"
"""Characters that are control text after or before some others only."""
_MISPLACED = (
    rf"(?<=\u200b)(?:(?<![{_UNSPACED}].)|(?![{_UNSPACED}]))|(?<=[\u200c\u200d])(?<![{_JOINED}].)(?![{_JOINED}])"
    rf"|(?<=[\ufe0e\ufe0f])(?<![{_SIGNS}].)|(?<=[\ufe00-\ufe02])"
    rf"(?<![{_SIGNS}{_IDEOGRAPHS}\u1000-\u109f\ua840-\ua87f\uaa60-\uaa7f\u3000-\u303f\uff00-\uffef\U00010ac0-\U00010aff].)"
    rf"|(?<=[\U000e0100-\U000e01ef])(?<![{_IDEOGRAPHS}].)"
)
"""Looks back at one of them."""
_LETTERS, _ALPHANUMERIC = "[\U000e0061-\U000e007a]", "[\U000e0030-\U000e0039\U000e0061-\U000e007a]"
_FLAG = re.compile(f"\U0001f3f4{_LETTERS}{{2}}{_ALPHANUMERIC}{{1,4}}\U000e007f")
_CHARACTER = re.compile(rf"(?P<plain>{_FLAG.pattern}|\r\n)|(?P<end>[\u2028\u2029])|[{_ALWAYS}]|[{_HIDDEN}](?:{_MISPLACED})")

_BAR = r"|\uff5c"
"""Of `<|word|>`; DeepSeek has the wide one."""
_AFTER_ANGLE = (
    rf"[{_BAR}][^\s<>{_BAR}]{{1,100}}[{_BAR}]>|</?SYS>>|(?:start|end)_of_(?:turn|image)>|/?tool_(?:call|response)>|/?think>"
    r"|(?:start|end)_function_(?:call|declaration|response)>|(?:bos|eos|sop|eop)>"
    r"|(?:BOS|EOS|EOP)_TOKEN>"
)
_AFTER_BRACKET = (
    r"/?(?:INST|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|MODEL_SETTINGS|THINK)\]"
    r"|(?:TOOL_CALLS|TOOL_CONTENT|CALL_ID|ARGS|gMASK)\]"
)
_END, _ALONE = r"/?s>", r"(?<!\S<)/?s>(?!\S)"
_TOKEN = re.compile(rf"<(?=(?P<angle>{_AFTER_ANGLE}|(?P<end>{_END})))|\[(?=(?P<bracket>{_AFTER_BRACKET}))")
"""The first character of a token; what follows is looked at only, because one token may be within another."""
_SUSPECT = re.compile(
    rf"[<\[{_HIDDEN}\u2028\u2029{_ALWAYS}]"
    rf"(?:(?<=<)(?:{_AFTER_ANGLE}|{_ALONE})|(?<=\[)(?:{_AFTER_BRACKET})|(?<=\r)(?!\n)"
    rf"|(?<=[\u2028\u2029{_ALWAYS}])(?<!\r)|{_MISPLACED})"
)
"""Begins with one set of characters, because Python skips quickly to those."""


def visible(text: str) -> str:
    """Each control character as `⟨U+202E⟩`, and a backslash after the first character of each token."""
    return (
        text
        if _SUSPECT.search(text) is None
        else _break_tokens(
            _CHARACTER.sub(lambda match: match["plain"] or ("\n" if match["end"] else f"⟨U+{ord(match[0]):04X}⟩"), text)
        )
    )


def _break_tokens(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for row in _rows(text):
        certain = any(token["end"] is None for token in row)
        for token in row:
            if certain or _is_alone(text, token):
                pieces += (text[end : token.start() + 1], "\\")
                end = token.start() + 1
    return "".join((*pieces, text[end:]))


def _rows(text: str) -> Iterator[list[re.Match[str]]]:
    row: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        if row and text[_end(row[-1]) : token.start()].strip():
            yield row
            row = []
        row.append(token)
    yield row


def _is_alone(text: str, token: re.Match[str]) -> bool:
    start, end = token.start(), _end(token)
    return not text[max(start - 1, 0) : start].strip() and not text[end : end + 1].strip()


def _end(token: re.Match[str]) -> int:
    return max(token.end("angle"), token.end("bracket"))


def texts(value: Any) -> Iterator[str]:
    """Every text in order; keys of objects are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def depth(value: Any) -> int:
    """How deep lists and objects are nested in each other."""
    levels, level = 0, [value]
    while level := [outer for outer in level if isinstance(outer, dict | list | tuple)]:
        levels += 1
        level = [item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer)]
    return levels


def with_texts(value: Any, change: Callable[[str], str], key: Callable[[str], str] = str) -> Any:
    """The value with its texts changed, and its keys by `key`."""
    if isinstance(value, dict):
        return {key(name): with_texts(item, change, key) for name, item in value.items()}
    if isinstance(value, list):
        return [with_texts(item, change, key) for item in value]
    return change(value) if isinstance(value, str) else value


def parsed(text: Any, *, exact: bool = False) -> Any:
    """The value; a text that is a JSON object or list becomes it. exact: not where a number or a key would be lost."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text, parse_float=_same_number, object_pairs_hook=_all_keys) if exact else json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def _same_number(digits: str) -> float:
    number = float(digits)
    if str(number) != digits:
        raise ValueError(f"{digits} would be {number}")
    return number


def _all_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("two keys are the same")
    return value


MAX_DEPTH = 64
TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels; flatten it or send it as text"

_LINE_ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_SHAPES = ((type(None), "null"), (bool, "a boolean"), (int | float, "a number"))


def clean(value: Any) -> Any:
    """NUL and lone surrogates → U+FFFD. Raises ValueError beyond MAX_DEPTH."""
    if depth(value) > MAX_DEPTH:
        raise ValueError(TOO_DEEP)
    return with_texts(value, storable := partial(_UNSTORABLE.sub, "\ufffd"), storable)


def one_line(value: Any) -> str:
    """Compact JSON in one line for every reader, `str.splitlines` included."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LINE_ENDS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def shape(value: Any) -> str:
    """Kind and size of a JSON value, for logs without users' words."""
    if isinstance(value, str):
        return f"a text of {len(value):,} characters"
    if isinstance(value, list | tuple | dict):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value):,}"
    return next((name for kind, name in _SHAPES if isinstance(value, kind)), f"a {type(value).__name__}")


def canonical(value: Any) -> str:
    """JSON text with sorted keys and no spaces."""
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_text(text: str) -> str:
    """The canonical form of a JSON text."""
    return canonical(json.loads(text))


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"a number of {len(digits):,} characters is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_number)


def parse(data: bytes | str) -> Any:
    """JSON → value. Raises ValueError (not JSON, NaN, too deep, a huge integer)."""
    try:
        return _DECODER.decode(data if isinstance(data, str) else data.decode(json.detect_encoding(data), "surrogatepass"))
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


MONTHS = 12
SEPARATOR = "thousands"
Mark = Callable[[int], str]
"""Amount left out → the mark in its place."""


class _NumberText(Formatter):
    """`str.format` with a language's thousands separator."""

    def __init__(self, separator: str) -> None:
        self._separator = separator

    def format_field(self, value: Any, format_spec: str) -> str:
        text: str = super().format_field(value, format_spec)
        return text.replace(",", self._separator) if format_spec == "," else text


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """A catalogue of phrases; hashed by identity, as a key of caches."""

    entries: Mapping[str, str] = field(default_factory=dict)
    """Name → checked text with fields in braces."""

    def __call__(self, name: str, **values: Any) -> str:
        """The phrase with its values; its name if it is missing."""
        text, separator = self.entries.get(name, name), self.entries.get(SEPARATOR, ",")
        return text.format(**values) if separator == "," else _NumberText(separator).format(text, **values)

    def day(self, moment: date) -> str:
        """The day in the words of the catalogue."""
        months = self("months").split()
        month = months[moment.month - 1] if len(months) == MONTHS else f"{moment:%m}"
        return self("day", day=moment.day, month=month, year=moment.year)

    def counted(self, one: str, many: str, number: int) -> str:
        """The phrase for this number of things."""
        return self(one if number == 1 else many, number=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """Files of one moment, kept so that contexts can be rebuilt."""

    templates: str
    profiles: Mapping[str, str]
    """Consumer → revision of its profile, as contexts name it."""
    layers: tuple[Mapping[str, str], ...]
    """Path → text, the bundled files first."""

    @property
    def id(self) -> str:
        """Hash of the files."""
        digest = blake2b(digest_size=16)
        for layer in self.layers:
            for path, text in sorted(layer.items()):
                digest.update(f"{path}\0{text}\0".encode())
            digest.update(b"\1")
        return digest.hexdigest()
