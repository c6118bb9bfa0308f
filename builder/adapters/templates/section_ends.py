"""Offsets of the ends of a page's sections, noted while it is laid out."""

from dataclasses import replace
from itertools import accumulate

from builder.assemble.items.layout import Group, Layout, PageSection

END = "\x03"
"""Behind the last fragment of a section while a page is laid out; no text has it, because control characters are visible."""


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
