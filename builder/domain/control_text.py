"""Control text, which steers a screen or a model instead of being read, is made visible: a page and its messages hold none.

Control text is
- a control character (C0, DEL, C1), but not a newline, a tab, or a carriage return in front of a newline;
- a character that overrides or isolates a direction (U+202A to U+202E, U+2066 to U+2069);
- a tag character (U+E0000 to U+E007F), but not within the flag of a region (U+1F3F4, two letters of a country, one to four of its
  region, U+E007F);
- a token of a chat template: `<|word|>` with any word, `[INST]`, `<<SYS>>`, Mistral's tools and system prompt, Gemma's turns; and
  `<s>` or `</s>` where it stands alone between white space, or beside another token. Struck text (`<s>old</s>`), sentences of a
  corpus, and operators between spaces (`f <| x |> g`) are no tokens.

ZWJ, ZWNJ, LRM and RLM belong to words of many languages and stay.
"""

import re
from collections.abc import Iterator

_TAGS = "\U000e0000-\U000e007f"
_CHARACTERS = rf"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069{_TAGS}"
_LETTERS, _ALPHANUMERIC = "[\U000e0061-\U000e007a]", "[\U000e0030-\U000e0039\U000e0061-\U000e007a]"
_FLAG = re.compile(f"\U0001f3f4{_LETTERS}{{2}}{_ALPHANUMERIC}{{1,4}}\U000e007f")
_CHARACTER = re.compile(rf"(?P<plain>{_FLAG.pattern}|\r\n)|[{_CHARACTERS}]")

_BAR = r"|\uff5c"
"""Of `<|word|>`; DeepSeek has the wide one."""
_AFTER_ANGLE = rf"[{_BAR}][^\s<>{_BAR}]{{1,100}}[{_BAR}]>|</?SYS>>|(?:start|end)_of_turn>"
_AFTER_BRACKET = r"/?(?:INST|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT)\]|TOOL_CALLS\]"
_END, _ALONE = r"/?s>", r"(?<!\S<)/?s>(?!\S)"
_TOKEN = re.compile(rf"<(?=(?P<angle>{_AFTER_ANGLE}|(?P<end>{_END})))|\[(?=(?P<bracket>{_AFTER_BRACKET}))")
"""The first character of a token; what follows is looked at only, because one token may stand within another."""
_SUSPECT = re.compile(
    rf"[<\[{_CHARACTERS}]"
    rf"(?:(?<=<)(?:{_AFTER_ANGLE}|{_ALONE})|(?<=\[)(?:{_AFTER_BRACKET})|(?<=\r)(?!\n)|(?<=[{_CHARACTERS}])(?<!\r))"
)
"""Begins with one set of characters, because Python skips quickly to those."""


def visible(text: str) -> str:
    """The text with each control character as `⟨U+202E⟩`, and a backslash behind the first character of each token.

    The result holds no control text.
    """
    return text if _SUSPECT.search(text) is None else _break_tokens(_CHARACTER.sub(_code_point, text))


def _code_point(match: re.Match[str]) -> str:
    return match["plain"] or f"⟨U+{ord(match[0]):04X}⟩"


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
    """The tokens, those together that have nothing but white space between them."""
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
