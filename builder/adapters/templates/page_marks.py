"""Where sections and fragments stand on a page, noted while it is laid out."""

import re
from dataclasses import replace
from itertools import accumulate, count

from builder.assemble.items.layout import Group, Layout, PageSection

END = "\x03"
"""Behind the last fragment of a section while a page is laid out; no text has it, because control characters are visible."""
START = "\x02"
"""Around the number in front of a fragment."""
_NUMBERED = re.compile(f"{START}(?P<number>\\d+){START}(?P<text>[^{START}{END}]*){END}")


def marked_ends(sections: tuple[PageSection, ...]) -> tuple[PageSection, ...]:
    """The sections with a mark behind the last fragment of each."""
    return tuple(replace(section, groups=_with_end(section.groups)) for section in sections)


def _with_end(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    if not groups or not groups[-1].fragments:
        return groups
    *before, last = groups
    return (*before, replace(last, fragments=(*last.fragments[:-1], last.fragments[-1] + END)))


def layout_of(text: str, sections: int) -> Layout:
    """The text without the marks, and their offsets; none when a template does not show each section once."""
    pieces = text.split(END)
    if len(pieces) != sections + 1:
        return Layout("".join(pieces))
    ends = accumulate(len(piece) for piece in pieces[:-1])
    return Layout("".join(pieces), tuple(end + 1 for end in ends))


def numbered(sections: tuple[PageSection, ...]) -> tuple[PageSection, ...]:
    """The sections with the number of each fragment around it."""
    numbers = count()

    def marked(text: str) -> str:
        return f"{START}{next(numbers)}{START}{text}{END}"

    return tuple(
        replace(
            section,
            groups=tuple(replace(group, fragments=tuple(map(marked, group.fragments))) for group in section.groups),
        )
        for section in sections
    )


def spans_of(text: str, plain: str) -> tuple[tuple[int, int], ...]:
    """The offsets of each numbered fragment in the plain page; () when the page does not show each of them once, unchanged."""
    spans: dict[int, tuple[int, int]] = {}
    pieces: list[str] = []
    size = end = 0
    for match in _NUMBERED.finditer(text):
        pieces += [text[end : match.start()], match["text"]]
        start = size + match.start() - end
        spans[int(match["number"])] = (start, start + len(match["text"]))
        size, end = start + len(match["text"]), match.end()
    is_same = "".join((*pieces, text[end:])) == plain and sorted(spans) == list(range(len(pieces) // 2))
    return tuple(spans[number] for number in sorted(spans)) if is_same else ()
