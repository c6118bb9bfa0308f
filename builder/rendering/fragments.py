"""The pure helpers of assembly, with what they have rendered and counted before."""

import json
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.errors import HintFailed
from builder.pipeline.draft import Group, PageSection
from builder.pipeline.shorten import shorten
from builder.pipeline.units import Spans
from builder.rendering.templates import FAILURES, TemplateSet
from builder.wire.bodies import BODIES

LEFT_OUT = " […] "
CACHED = 20_000


class JinjaRendering:
    """Implements `builder.pipeline.draft.Rendering` for one tokenizer. Bounded caches; equal input gives equal output."""

    def __init__(self, templates: TemplateSet, count: Callable[[str], int]) -> None:
        """count: text → true tokens."""
        self._fields = {schema: dict.fromkeys(body.model_fields) for schema, body in BODIES.items()}
        self.revision = templates.revision
        self.count = count
        self._templates = templates
        self._fragments: OrderedDict[tuple[object, ...], Fragment] = OrderedDict()
        self.heading_tokens = lru_cache(1024)(self._heading_tokens)
        self.date_tokens = lru_cache(4096)(self._date_tokens)

    def fragment(self, breadcrumb: Breadcrumb, spans: Spans, said: int, cap: int) -> Fragment:
        """See the protocol."""
        identity = (breadcrumb.workspace, breadcrumb.session, breadcrumb.id, breadcrumb.version, breadcrumb.place)
        # Of a summary those lines are shown that still hold: one breadcrumb, several texts.
        key = (*identity, breadcrumb.schema, breadcrumb.body if breadcrumb.covers else "", spans, said)
        whole = self._kept(key, breadcrumb, lambda: self._render(breadcrumb, spans, said))
        if whole.tokens <= cap:
            return whole
        return self._kept((*key, cap), breadcrumb, lambda: shorten(whole.text, cap, self.count))

    def page(self, page: str, sections: tuple[PageSection, ...]) -> str:
        """See the protocol."""
        return self._templates.page(page, sections)

    def _kept(self, key: tuple[object, ...], breadcrumb: Breadcrumb, make: Callable[[], str]) -> Fragment:
        """The fragment of this key, made and counted the first time."""
        held = self._fragments.get(key)
        if held is None:
            text = make()
            held = Fragment(breadcrumb=breadcrumb, text=text, tokens=self.count(text + "\n"))
            self._fragments[key] = held
            if len(self._fragments) > CACHED:
                self._fragments.popitem(last=False)
        return held

    def _render(self, breadcrumb: Breadcrumb, spans: Spans, said: int) -> str:
        values = {
            "speaker": breadcrumb.speaker,
            "text": _excerpt(breadcrumb.text, spans),
            "partial": bool(spans),
            "body": self._fields.get(breadcrumb.schema, {}) | json.loads(breadcrumb.body),
            "schema": breadcrumb.schema,
            "id": breadcrumb.id,
            "tags": breadcrumb.tags,
            "said": said,
            "repeats": f" (said {said} times)" if said > 1 else "",
        }
        try:
            text = self._templates.hint(breadcrumb.schema, values)
        except FAILURES as error:
            raise HintFailed(breadcrumb.id, f"{self._templates.file(breadcrumb.schema)}: {error}") from error
        if not text:
            raise HintFailed(breadcrumb.id, f"{self._templates.file(breadcrumb.schema)} rendered nothing")
        return text

    def _heading_tokens(self, page: str, title: str) -> int:
        """What a section adds to a page that has one already: its heading and the blank line in front."""
        one = PageSection(name="x", title=title, groups=(Group(date="", fragments=("x",)),))
        return self.count(self.page(page, (one, one))) - self.count(self.page(page, (one,))) - self.count("x\n")

    def _date_tokens(self, page: str, date: str) -> int:
        def page_with(*groups: Group) -> int:
            return self.count(self.page(page, (PageSection(name="x", title="x", groups=groups),)))

        plain = Group(date="", fragments=("x",))
        return page_with(plain, Group(date=date, fragments=("x",))) - page_with(plain, plain)


def _excerpt(text: str, spans: Spans) -> str:
    """The passages that were found, neighbours joined, with a mark wherever text is left out."""
    if not spans:
        return text
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        skipped = text[end:start]
        pieces += [LEFT_OUT if skipped.strip() else skipped, text[start:stop]]
        end = stop
    pieces.append(LEFT_OUT if text[end:].strip() else "")
    return "".join(pieces).strip()
