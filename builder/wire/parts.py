"""Parts of messages in one form whatever their vendor: text, call, result, file, thought; and how pieces of a text are joined."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from builder.wire.attachments import Fields, one_line_name


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str
    is_piece: bool = False
    """Citations, annotations or a style cut it out of a text."""
    is_bare: bool = False
    """It came without a type: such texts of an answer are pieces of a stream."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool's call."""

    tool: str
    arguments: Any
    id: str = ""
    """"" = it has none."""
    item_id: str = ""
    """Another id under which its result may come."""
    is_remote: bool = False
    """The vendor runs it, nobody else shall."""


@dataclass(frozen=True, slots=True)
class Result:
    """The output of a tool."""

    output: Any
    id: str = ""
    """Id of its call."""
    tool: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class File:
    """An image, a file, or a source that is only named."""

    line: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A model's thought; its words are not said to anybody."""

    text: str


@dataclass(frozen=True, slots=True)
class Data:
    """An object with words that is none of these: a line a field."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something without words: the beginning of a step, a cache point."""

    line: str


UNREAD = "that are not read]"
"""End of the line of what no reader knows."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A part that no reader knows and that has no words."""

    line: str


Part = Text | Call | Result | File | Thought | Data | Mark | Unread

_OPEN_END = re.compile(r"\w[-_]$|[(\[{“\u2018«„]$")
_CLOSING_START = re.compile(r"[,;:!?.](?=[\s\"'”\u2019)]|$)|[)\]}%]|\u2019\w")
_WHOLE_END = re.compile(r"[.!?…:;][\"'”\u2019)\]]*$")
_BULLET = re.compile(r"(?:[-*+•#>|]|\d+[.)])\s|```|<\w")


def joined(pieces: Sequence[Text], *, is_answer: bool) -> str:
    """Consecutive texts of one message as one text.

    What a vendor cut (citations, annotations, styles, a stream) is joined with nothing; whole texts get a line each. A stream is
    known by pieces that are cut within a sentence, in an answer also by the spaces that they bring, or by pieces without a type.
    """
    filled = [piece for piece in pieces if piece.text]
    if not filled:
        return ""
    seams = [_seam(one, other) for one, other in pairwise(filled)]
    is_cut = "within" in seams or (is_answer and ("space" in seams or all(piece.is_bare for piece in filled)))
    text = filled[0].text
    for piece, seam in zip(filled[1:], seams, strict=True):
        is_whole = seam == "whole" or (seam == "open" and not is_cut)
        text += ("\n" if is_whole else "") + piece.text
    return text


def _seam(one: Text, other: Text) -> str:
    """`within` a sentence, between `whole` texts, at a `line` end or `space` that they bring, or `open`."""
    before, after = one.text, other.text
    if before.endswith(("\n", "\r")) or after.startswith(("\n", "\r")):
        return "line"
    if before.endswith("```"):
        return "whole"
    if before[-1:].isspace() or after[:1].isspace():
        return "space"
    if one.is_piece or other.is_piece or _OPEN_END.search(before[-2:]) or _CLOSING_START.match(after):
        return "within"
    ends = bool(_WHOLE_END.search(before[-4:]))
    return "whole" if (ends and after[:1].isupper()) or _BULLET.match(after) else "open"


STYLES = frozenset(
    ("plain", "bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "pre", "text_link", "mention",
     "mention_name", "hashtag", "cashtag", "bot_command", "email", "phone", "custom_emoji")
)  # fmt: skip
"""Types of pieces of one text, as messengers export them."""
_STYLE_FIELDS = frozenset({"type", "text", "href", "user_id", "document_id", "language"})
"""Fields of such a piece; with others it is an object of somebody's own."""


def styled_text(part: Fields) -> tuple[Text] | None:
    """A piece of a sentence of Telegram, with its address; None where it says more than that."""
    if part.keys() - _STYLE_FIELDS or not isinstance(part.get("text"), str):
        return None
    address = f" ({part['href']})" if part.get("href") else ""
    return (Text(f"{part['text']}{address}", is_piece=True),)


def reference_text(part: Fields) -> tuple[Text, ...]:
    """A source within a sentence; of some vendors only its number."""
    names = [str(part[name]) for name in ("title", "url") if part.get(name)]
    return (Text(f"({', '.join(names)})", is_piece=True),) if names else ()


def earlier_text(part: Fields) -> tuple[Text | Mark]:
    """A summary in place of earlier messages; a mark where only the vendor can read it."""
    content = part.get("content")
    return (Text(content),) if isinstance(content, str) and content else (Mark("[compaction]"),)


def source_line(part: Fields) -> tuple[File] | None:
    """A source or resource that is only named: one line with its name, type, address and description."""
    names = dict.fromkeys(
        str(part[name]) for name in ("name", "filename", "title", "uri", "url", "page_age", "pageAge") if part.get(name)
    )
    media = next((str(part[name]) for name in ("mimeType", "mediaType") if part.get(name)), "")
    kind = "resource" if part.get("type") == "resource_link" else "source"
    caption = f": {' '.join(str(part['description']).split())}" if part.get("description") else ""
    return (File(f"[{kind} {', '.join(filter(None, (*map(one_line_name, names), media)))}{caption}]"),) if names else None


TEXT_READERS: dict[str, Callable[[Fields], "tuple[Part, ...] | None"]] = {
    **dict.fromkeys(sorted(STYLES), styled_text),
    **dict.fromkeys(("reference", "tool_reference"), reference_text),
    "compaction": earlier_text,
    **dict.fromkeys(("resource_link", "source-url", "source-document", "web_search_result"), source_line),
}
"""Type → its reader, which gives None where the fields are another's."""


def value_lines(value: Any) -> str:
    """All words of a JSON value as lines, keys before plain values."""
    if isinstance(value, dict):
        lines: list[str] = []
        for key, item in value.items():
            if text := value_lines(item):
                lines.append(text if isinstance(item, dict | list) else f"{key}: {text}")
        return "\n".join(lines)
    if isinstance(value, list):
        return "\n".join(filter(None, map(value_lines, value)))
    return "" if value is None else str(value)
