"""Control text, which steers a screen or a model instead of being read, is made visible: a page and its messages hold none.

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

import re
from collections.abc import Iterator

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
"""The bars of `<|word|>`; DeepSeek has the wide one."""
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
