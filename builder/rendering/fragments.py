"""The pure helpers of assembly, with what they have rendered and counted before."""

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from builder.assemble.page.control_text import visible
from builder.assemble.page.items import INSIDE, block, items, quote
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.errors import Misconfigured
from builder.domain.failure import Failure
from builder.domain.message import Call, Image
from builder.pipeline.draft import Group, Laid, PageSection
from builder.pipeline.units import RESULT, WHOLE, Form, Spans
from builder.rendering.bounds import pruned, shortened
from builder.rendering.failures import Failures, silence
from builder.rendering.filters import untagged
from builder.rendering.layouts import LINES_LEFT_OUT, digest
from builder.rendering.missing import marked
from builder.rendering.results import CUT, REDUCED, SHRUNK, cut_results, known_as, stub
from builder.rendering.shorten import shorten, trimmed
from builder.rendering.templates import GENERIC, SUFFIX, TemplateFailed, TemplateSet
from builder.wire.attachments import described, images_of
from builder.wire.tool_calls import calls_of

LEFT_OUT = " […] "
DEFAULT, TAGGED = "default", "xml"
"""The bundled pages."""
FEWER = (0.5, 0.25)
"""Shares of its lines that a log is tried with before it is cut like any text: the errors stay longest."""
CACHED = 20_000
LONGEST = 1_000_000
"""Characters: more than any page of the bundled profiles holds."""
VALUES = frozenset({"speaker", "text", "partial", "body", "schema", "id", "tags", "said", "repeats"})
"""What a hint is given."""


@dataclass(frozen=True, slots=True)
class Made:
    """A fragment's text, what is missing in it, and why its hint could not make it; see `Fragment`."""

    text: str
    reduced: str = ""
    failed: str = ""
    neutralised: bool = False


class JinjaRendering:
    """Implements `builder.pipeline.draft.Rendering` for one tokenizer. Bounded caches; equal input gives equal output."""

    def __init__(
        self,
        templates: TemplateSet,
        count: Callable[[str], int],
        bundled: TemplateSet | None = None,
        failures: Failures | None = None,
        longest: int = LONGEST,
    ) -> None:
        """count: text → true tokens. bundled: what steps in where a template fails, which failures then tell.

        longest: characters; of a longer text no page holds all, so it is cut before it is rendered.
        """
        self.longest = longest
        self._failures = failures or Failures(silence)
        self.revision = templates.revision
        self.count = count
        self._templates = templates
        self._bundled = bundled or templates
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

        def text_with(logs: float) -> Made:
            made = self._formed(breadcrumb, spans, said, form, logs)
            # The finished text, because values that are harmless one by one may stand together.
            text = visible(made.text)
            return replace(made, text=untagged(text) if tagged else text, neutralised=text != made.text)

        whole = self._kept(key, breadcrumb, lambda: text_with(1))
        for share in FEWER if whole.tokens > cap and LINES_LEFT_OUT in whole.text else ():
            whole = self._kept((*key, "logs", share), breadcrumb, partial(text_with, share))
            if whole.tokens <= cap:
                break
        if whole.tokens <= cap or form.line:
            return whole  # a line of ours is never cut: what is left of it would say nothing
        fetch = untagged(f", {known_as(breadcrumb)}") if breadcrumb.schema == RESULT else ""
        short = Made("", whole.reduced, whole.failed, whole.neutralised)
        return self._kept((*key, cap), breadcrumb, lambda: replace(short, text=shorten(whole.text, cap, self.count, fetch)))

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

    def page(self, page: str, sections: tuple[PageSection, ...]) -> Laid:
        """See the protocol."""
        try:
            return Laid(self._templates.page(page, sections))
        except TemplateFailed as error:
            reason = str(error)
        like = TAGGED if self._templates.is_tagged(page) else DEFAULT
        self._failures.add(Failure(kind="pages", name=page, reason=reason, instead=f"the bundled page {like!r}"))
        try:
            return Laid(self._bundled.page(like, sections), failed=True)
        except TemplateFailed as error:
            raise Misconfigured(f"pages/{page}{SUFFIX} failed: {reason}; mend the template") from error

    def _kept(self, key: tuple[object, ...], breadcrumb: Breadcrumb, make: Callable[[], Made]) -> Fragment:
        """The fragment of this key, made and counted the first time."""
        held = self._fragments.get(key)
        if held is None:
            made = make()
            tokens = self.count(made.text + "\n")
            held = Fragment(
                breadcrumb=breadcrumb,
                text=made.text,
                tokens=tokens,
                reduced=made.reduced,
                failed=made.failed,
                neutralised=made.neutralised,
            )
            self._fragments[key] = held
            if len(self._fragments) > CACHED:
                self._fragments.popitem(last=False)
        return held

    def _formed(self, breadcrumb: Breadcrumb, spans: Spans, said: int, form: Form, logs: float) -> Made:
        """The text in this form, and what is missing in it. logs: share of a log's lines."""
        if form.line:
            return Made(stub(breadcrumb, form.line), REDUCED[form.line])
        body, note = self._body(breadcrumb), ""
        if breadcrumb.schema == RESULT and not spans and body.get("output") is not None:
            shown = cut_results(body["output"], form.cut, breadcrumb)
            output = digest(shown.output, logs) if isinstance(shown.output, str) else shown.output
            body, note = body | {"output": output}, shown.note
        text, failed = self._rendered(breadcrumb, values_of(breadcrumb, body, spans, said, self.longest))
        text += f"\n{INSIDE}{note}" if note else ""
        if form.characters is None or len(text) < form.characters:
            return Made(text, CUT if note else "", failed)
        return Made(shorten(text, form.characters, len, f", {known_as(breadcrumb)}"), SHRUNK, failed)

    def _body(self, breadcrumb: Breadcrumb) -> dict[str, Any]:
        """The body as hints take it: a line for each image and file, and no more of it than a page could hold."""
        body: dict[str, Any] = json.loads(breadcrumb.body)
        if len(breadcrumb.body) > self.longest:
            fetch = f", {known_as(breadcrumb)}"
            body = shortened(described(pruned(body, self.longest, fetch)), self.longest, fetch)
        else:
            body = described(body)
        return body

    def _rendered(self, breadcrumb: Breadcrumb, values: dict[str, Any]) -> tuple[str, str]:
        """The text by its hint, or by the generic one, or as it was said; and why its hint could not."""
        own = self._templates.hint_for(breadcrumb.schema)
        given = min(len(breadcrumb.body) + len(breadcrumb.text), 2 * self.longest)
        failed = ""
        for templates, name in dict.fromkeys(((self._templates, own), (self._templates, GENERIC), (self._bundled, GENERIC))):
            try:
                text = templates.hint(name, values, given)
            except TemplateFailed as error:
                failed = failed or str(error)
                continue
            return text, self._report(own, failed, "the generic hint") if failed else ""
        return as_said(values), self._report(own, failed, "the bare text")

    def _report(self, hint: str, reason: str, instead: str) -> str:
        """Why a fragment is shown otherwise, for its context."""
        self._failures.add(Failure(kind="hints", name=hint, reason=reason, instead=instead))
        return f"hint failed, {instead} is shown: hints/{hint}{SUFFIX} {reason}"

    def _heading_tokens(self, page: str, name: str, title: str) -> int:
        """What a section adds to a page that has one already: its heading or tags, and the blank line in front."""
        one = PageSection(name=name, title=title, groups=(Group(date="", fragments=("x",)),))
        return self.count(self.page(page, (one, one)).text) - self.count(self.page(page, (one,)).text) - self.count("x\n")

    def _date_tokens(self, page: str, date: str) -> int:
        def page_with(*groups: Group) -> int:
            return self.count(self.page(page, (PageSection(name="x", title="x", groups=groups),)).text)

        plain = Group(date="", fragments=("x",))
        return page_with(plain, Group(date=date, fragments=("x",))) - page_with(plain, plain)


def values_of(breadcrumb: Breadcrumb, body: dict[str, Any], spans: Spans, said: int, longest: int) -> dict[str, Any]:
    """What a hint is given, by VALUES. spans: the passages that were found; none = all. said: how often.

    longest: characters of the text that are given at most.
    """
    return {
        "speaker": breadcrumb.speaker,
        "text": trimmed(_excerpt(breadcrumb.text, spans), longest, f", {known_as(breadcrumb)}"),
        "partial": bool(spans),
        "body": marked(body),
        "schema": breadcrumb.schema,
        "id": breadcrumb.id,
        "tags": breadcrumb.tags,
        "said": said,
        "repeats": f" (said {said} times)" if said > 1 else "",
    }


def as_said(values: dict[str, Any]) -> str:
    """Speaker and text without any template: what is shown when every one fails."""
    return items(f"- {quote(values['speaker'])}: {quote(block(values['text']) or '(nothing that can be shown)')}")


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
