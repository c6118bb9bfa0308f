"""The pure helpers of assembly, with what they have rendered and counted before."""

import json
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.errors import HintFailed
from builder.domain.message import Call, Image
from builder.pipeline.draft import Group, PageSection
from builder.pipeline.units import RESULT, WHOLE, Form, Spans
from builder.rendering.filters import untagged
from builder.rendering.layouts import LINES_LEFT_OUT, digest
from builder.rendering.results import CUT, REDUCED, SHRUNK, cut_results, known_as, stub
from builder.rendering.shorten import shorten, trimmed
from builder.rendering.templates import FAILURES, TemplateSet
from builder.wire.attachments import described, images_of
from builder.wire.bodies import BODIES
from builder.wire.tool_calls import calls_of

LEFT_OUT = " […] "
DEFAULT = "default"
FEWER = (0.5, 0.25)
"""Shares of its lines that a log is tried with before it is cut like any text: the errors stay longest."""
CACHED = 20_000
LONGEST = 1_000_000
"""Characters: more than any page of the bundled profiles holds."""
VALUES = frozenset({"speaker", "text", "partial", "body", "schema", "id", "tags", "said", "repeats"})
"""What a hint is given."""


class JinjaRendering:
    """Implements `builder.pipeline.draft.Rendering` for one tokenizer. Bounded caches; equal input gives equal output."""

    def __init__(self, templates: TemplateSet, count: Callable[[str], int], longest: int = LONGEST) -> None:
        """count: text → true tokens. longest: characters; of a longer text no page holds all, so it is cut before."""
        self.longest = longest
        self._fields = {schema: dict.fromkeys(body.model_fields) for schema, body in BODIES.items()}
        self.revision = templates.revision
        self.count = count
        self._templates = templates
        self._fragments: OrderedDict[tuple[object, ...], Fragment] = OrderedDict()
        self.heading_tokens = lru_cache(1024)(self._heading_tokens)
        self.date_tokens = lru_cache(4096)(self._date_tokens)

    def fragment(
        self, breadcrumb: Breadcrumb, spans: Spans, said: int, cap: int, form: Form = WHOLE, page: str = DEFAULT
    ) -> Fragment:
        """See the protocol."""
        identity = (breadcrumb.workspace, breadcrumb.session, breadcrumb.id, breadcrumb.version, breadcrumb.place)
        tagged = self._templates.is_tagged(page)
        # Of a summary those lines are shown that still hold: one breadcrumb, several texts.
        shown = breadcrumb.body if breadcrumb.covers else ""
        key = (*identity, breadcrumb.schema, shown, spans, said, form, tagged)

        def text_with(logs: float) -> tuple[str, str]:
            text, reduced = self._formed(breadcrumb, spans, said, form, logs)
            return (untagged(text) if tagged else text), reduced

        whole = self._kept(key, breadcrumb, lambda: text_with(1))
        for share in FEWER if whole.tokens > cap and LINES_LEFT_OUT in whole.text else ():
            whole = self._kept((*key, "logs", share), breadcrumb, partial(text_with, share))
            if whole.tokens <= cap:
                break
        if whole.tokens <= cap:
            return whole
        fetch = untagged(f", {known_as(breadcrumb)}") if breadcrumb.schema == RESULT else ""
        return self._kept((*key, cap), breadcrumb, lambda: (shorten(whole.text, cap, self.count, fetch), whole.reduced))

    def forget(self, workspace: str, ids: frozenset[str]) -> int:
        """Let go of the fragments of these breadcrumbs; returns how many."""
        gone = [
            key for key, held in self._fragments.items() if held.breadcrumb.workspace == workspace and held.breadcrumb.id in ids
        ]
        for key in gone:
            del self._fragments[key]
        return len(gone)

    def calls(self, breadcrumb: Breadcrumb) -> tuple[Call, ...]:
        """See the protocol."""
        return calls_of(breadcrumb)

    def images(self, breadcrumb: Breadcrumb) -> tuple[Image, ...]:
        """See the protocol."""
        return images_of(breadcrumb.body)

    def page(self, page: str, sections: tuple[PageSection, ...]) -> str:
        """See the protocol."""
        return self._templates.page(page, sections)

    def _kept(self, key: tuple[object, ...], breadcrumb: Breadcrumb, make: Callable[[], tuple[str, str]]) -> Fragment:
        """The fragment of this key, made and counted the first time."""
        held = self._fragments.get(key)
        if held is None:
            text, reduced = make()
            held = Fragment(breadcrumb=breadcrumb, text=text, tokens=self.count(text + "\n"), reduced=reduced)
            self._fragments[key] = held
            if len(self._fragments) > CACHED:
                self._fragments.popitem(last=False)
        return held

    def _formed(self, breadcrumb: Breadcrumb, spans: Spans, said: int, form: Form, logs: float) -> tuple[str, str]:
        """The text in this form, and what is missing in it. logs: share of a log's lines."""
        if form.line:
            return stub(breadcrumb, form.line), REDUCED[form.line]
        trim = partial(trimmed, characters=self.longest, note=f", {known_as(breadcrumb)}")
        body, note = described(mapped(json.loads(breadcrumb.body), trim)), ""
        if breadcrumb.schema == RESULT and not spans and body.get("output") is not None:
            shown = cut_results(body["output"], form.cut, breadcrumb)
            output = digest(shown.output, logs) if isinstance(shown.output, str) else shown.output
            body, note = body | {"output": output}, shown.note
        text = self._render(breadcrumb, body, spans, said) + (f"\n    {note}" if note else "")
        if form.characters is None or len(text) < form.characters:
            return text, CUT if note else ""
        return shorten(text, form.characters, len, f", {known_as(breadcrumb)}"), SHRUNK

    def _render(self, breadcrumb: Breadcrumb, body: dict[str, Any], spans: Spans, said: int) -> str:
        values = {
            "speaker": breadcrumb.speaker,
            "text": trimmed(_excerpt(breadcrumb.text, spans), self.longest, f", {known_as(breadcrumb)}"),
            "partial": bool(spans),
            "body": self._fields.get(breadcrumb.schema, {}) | body,
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

    def _heading_tokens(self, page: str, name: str, title: str) -> int:
        """What a section adds to a page that has one already: its heading or tags, and the blank line in front."""
        one = PageSection(name=name, title=title, groups=(Group(date="", fragments=("x",)),))
        return self.count(self.page(page, (one, one))) - self.count(self.page(page, (one,))) - self.count("x\n")

    def _date_tokens(self, page: str, date: str) -> int:
        def page_with(*groups: Group) -> int:
            return self.count(self.page(page, (PageSection(name="x", title="x", groups=groups),)))

        plain = Group(date="", fragments=("x",))
        return page_with(plain, Group(date=date, fragments=("x",))) - page_with(plain, plain)


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """JSON with every text in it changed."""
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


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
