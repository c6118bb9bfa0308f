"""Places at which a text may be cut: between lines, words, or what is one character to the eye."""

import regex

LINE_END_CHARS = 120
"""Within these the end of a line is the better place for a cut."""
SPACE_CHARS = 40
"""Within these white space is."""
CLUSTER_CHARS = 512
"""Searched backwards for white space, from which the clusters of the stretch are read; as much is read beyond the position."""
_BOUNDARY = regex.compile(r"\s(?![\p{M}\u200d])")
_GRAPHEME = regex.compile(r"\X")
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Two of them make a flag, counted from the beginning of their row."""


def clip(text: str, characters: int) -> str:
    """The text if it has at most `characters`, else its beginning and an ellipsis of that length."""
    if len(text) <= characters:
        return text
    return text[: back(text, max(characters - 2, 0))].rstrip() + " …"


def back(text: str, position: int) -> int:
    """The position, or a better one near it that comes earlier."""
    if (line := text.rfind("\n", max(position - LINE_END_CHARS, 0), position)) >= 0:
        return line
    for space in range(position, max(position - SPACE_CHARS, 0), -1):
        if _BOUNDARY.match(text, space):
            return space
    return edges(text, position)[0]


def forward(text: str, position: int) -> int:
    """The position, or a better one near it that comes later."""
    if (line := text.find("\n", position, position + LINE_END_CHARS)) >= 0:
        return line + 1
    match = _BOUNDARY.search(text, position, min(position + SPACE_CHARS, len(text)))
    return match.end() if match else edges(text, position)[1]


def edges(text: str, position: int) -> tuple[int, int]:
    """Where the grapheme cluster begins and ends that the position would split; the position itself when it splits none."""
    if not 0 < position < len(text):
        return position, position
    earliest = max(position - CLUSTER_CHARS, 0)
    start = next((at for at in range(position - 1, earliest, -1) if text[at].isspace()), earliest)
    if text[start] in _FLAG_LETTERS:
        start -= (start - len(text[:start].rstrip(_FLAG_LETTERS))) % 2
    # Only a slice: the expression looks back to the beginning of what it is given, at every character of a row of flags.
    for cluster in _GRAPHEME.finditer(text[start : position + CLUSTER_CHARS]):
        begin, end = start + cluster.start(), start + cluster.end()
        if end > position:
            return (position, position) if begin == position else (begin, end)
    return position, position
