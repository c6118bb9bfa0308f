"""Pages laid out by their templates, and the tokens that a layout adds to what stands in it."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

from builder.adapters.templates.failures import Failures
from builder.adapters.templates.folder import SUFFIX, TemplateFailed, TemplateSet
from builder.adapters.templates.page_marks import layout_of, marked_ends, numbered, spans_of
from builder.assemble.items.layout import PENDING_CHARS, READY, FragmentPending, Group, Layout, PageSection
from builder.domain.errors import Misconfigured
from builder.domain.failure import Failure

DEFAULT, TAGGED = "default", "xml"
"""The bundled pages."""
LINE_CACHE = 20_000
"""Stretches of pages whose tokens are remembered."""
_JOINT = re.compile(r"(?<=\n)(?=[-#\[<])")
"""Between two lines that have the same tokens together and apart."""


class PageRendering:
    """The part of `builder.assemble.items.layout.Rendering` that is about whole pages. Bounded caches."""

    def __init__(self, templates: TemplateSet, count: Callable[[str], int], bundled: TemplateSet, failures: Failures) -> None:
        """count: text → true tokens. bundled: the templates that step in where one fails, which is added to `failures`."""
        self.count = count
        self._templates = templates
        self._bundled = bundled
        self._page_failures = failures
        self._line_tokens = lru_cache(LINE_CACHE)(count)
        self.heading_tokens = lru_cache(1024)(self._heading_tokens)
        self.date_tokens = lru_cache(4096)(self._date_tokens)

    def page(self, page: str, sections: tuple[PageSection, ...]) -> Layout:
        """The page by its template, or by a bundled one where that fails. Raises `FragmentPending` where all is made aside."""
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
        self._page_failures.add(Failure(kind="pages", name=page, reason=reason, instead=f"the bundled page {like!r}"))
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
        """True tokens of a page: a token ends at a line end that has such a sign behind it, so lines are counted apart."""
        return sum(map(self._line_tokens, _JOINT.split(text)))

    def _heading_tokens(self, page: str, name: str, title: str) -> int:
        """Tokens that a further section adds to a page: its heading or tags, and the blank line in front."""
        one = PageSection(name=name, title=title, groups=(Group(date="", fragments=("x",)),))
        return self.count(self.page(page, (one, one)).text) - self.count(self.page(page, (one,)).text) - self.count("x\n")

    def _date_tokens(self, page: str, date: str) -> int:
        def page_with(*groups: Group) -> int:
            return self.count(self.page(page, (PageSection(name="x", title="x", groups=groups),)).text)

        plain = Group(date="", fragments=("x",))
        return page_with(plain, Group(date=date, fragments=("x",))) - page_with(plain, plain)
