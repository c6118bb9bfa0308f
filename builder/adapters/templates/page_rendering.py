"""Pages made by templates: text, offsets of sections and fragments, tokens of the layout."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from itertools import accumulate, count

from builder.adapters.templates.failures import Failure
from builder.adapters.templates.folder import SUFFIX, TemplateFailed, TemplateSet
from builder.assemble.items.pending import PENDING_CHARS, READY, FragmentPending
from builder.assemble.items.rendering import Group, Layout, PageSection
from builder.domain.errors import Misconfigured

Listener = Callable[[Failure], None]
END = "\x03"
"""After the last fragment of a section; no text has control characters."""
START = "\x02"
"""Around a fragment's number."""
DEFAULT, TAGGED = "default", "xml"
LINE_CACHE = 20_000
_NUMBERED = re.compile(f"{START}(?P<number>\\d+){START}(?P<text>[^{START}{END}]*){END}")
_JOINT = re.compile(r"(?<=\n)(?=[-#\[<])")


class Failures:
    """Counted by template; `listener` gets each one."""

    def __init__(self, listener: Listener) -> None:
        """listener: called with the failure and its count."""
        self._listener = listener
        self._by_file: dict[str, Failure] = {}

    def add(self, failure: Failure) -> None:
        """Count a failure."""
        earlier = self._by_file.get(failure.file)
        counted = replace(earlier, times=earlier.times + 1) if earlier else failure
        self._by_file[counted.file] = counted
        self._listener(counted)

    @property
    def all(self) -> tuple[Failure, ...]:
        """In the order of their first time."""
        return tuple(self._by_file.values())


def silence(_: Failure) -> None:
    """A listener that ignores failures."""


def marked_ends(sections: tuple[PageSection, ...]) -> tuple[PageSection, ...]:
    """With a mark after the last fragment of each section."""
    return tuple(replace(section, groups=_with_end(section.groups)) for section in sections)


def layout_of(text: str, sections: int) -> Layout:
    """Text without marks, and their offsets; none unless each section is shown once."""
    pieces = text.split(END)
    if len(pieces) != sections + 1:
        return Layout("".join(pieces))
    ends = accumulate(len(piece) for piece in pieces[:-1])
    return Layout("".join(pieces), tuple(end + 1 for end in ends))


def numbered(sections: tuple[PageSection, ...]) -> tuple[PageSection, ...]:
    """With each fragment's number around it."""
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
    """() unless each fragment is shown once, unchanged."""
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


class PageRendering:
    """The part of `builder.assemble.items.rendering.Rendering` about whole pages. Bounded caches."""

    def __init__(self, templates: TemplateSet, count: Callable[[str], int], bundled: TemplateSet, failures: Failures) -> None:
        """count: text → true tokens. bundled: replace failing templates."""
        self.count = count
        self._templates = templates
        self._bundled = bundled
        self._failures = failures
        self._line_tokens = lru_cache(LINE_CACHE)(count)
        self.heading_tokens = lru_cache(1024)(self._heading_tokens)
        self.date_tokens = lru_cache(4096)(self._date_tokens)

    def page(self, page: str, sections: tuple[PageSection, ...]) -> Layout:
        """A bundled page where its template fails. Raises `FragmentPending`."""
        if PENDING_CHARS.get():
            return self._page(page, sections)
        layout: Layout | None = READY.get().get((page, sections))
        if layout is None:
            raise FragmentPending({(page, sections): partial(self._page, page, sections)})
        return layout

    def _page(self, page: str, sections: tuple[PageSection, ...]) -> Layout:
        try:
            return layout_of(self._templates.page(page, marked_ends(sections)), len(sections))
        except TemplateFailed as error:
            reason = str(error)
        like = TAGGED if self._templates.is_tagged(page) else DEFAULT
        self._failures.add(Failure(kind="pages", name=page, reason=reason, instead=f"the bundled page {like!r}"))
        try:
            return replace(layout_of(self._bundled.page(like, marked_ends(sections)), len(sections)), failed=True)
        except TemplateFailed as error:
            raise Misconfigured(f"pages/{page}{SUFFIX} failed: {reason}; mend the template") from error

    def fragment_spans(self, page: str, sections: tuple[PageSection, ...]) -> tuple[tuple[int, int], ...]:
        """The offsets of each fragment on the page."""
        plain = self.page(page, sections)
        if plain.failed:
            page = TAGGED if self._templates.is_tagged(page) else DEFAULT
        templates = self._bundled if plain.failed else self._templates
        try:
            return spans_of(templates.page(page, numbered(sections)), plain.text)
        except TemplateFailed:
            return ()

    def page_tokens(self, text: str) -> int:
        """True tokens, counted in stretches between safe line ends."""
        return sum(map(self._line_tokens, _JOINT.split(text)))

    def _heading_tokens(self, page: str, name: str, title: str) -> int:
        one = PageSection(name=name, title=title, groups=(Group(date="", fragments=("x",)),))
        return self.count(self.page(page, (one, one)).text) - self.count(self.page(page, (one,)).text) - self.count("x\n")

    def _date_tokens(self, page: str, date: str) -> int:
        def page_with(*groups: Group) -> int:
            return self.count(self.page(page, (PageSection(name="x", title="x", groups=groups),)).text)

        plain = Group(date="", fragments=("x",))
        return page_with(plain, Group(date=date, fragments=("x",))) - page_with(plain, plain)


def _with_end(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    if not groups or not groups[-1].fragments:
        return groups
    *before, last = groups
    return (*before, replace(last, fragments=(*last.fragments[:-1], last.fragments[-1] + END)))
