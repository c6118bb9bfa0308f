"""Renders breadcrumbs and pages, with caches of fragments and counts."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from cachetools import FIFOCache

from builder.adapters.templates.cuts.bounds import pruned, shortened
from builder.adapters.templates.cuts.endings import layout_of, marked_ends
from builder.adapters.templates.cuts.results import CUT, SHRUNK, cut_results, safe_id, stub
from builder.adapters.templates.cuts.shorten import shorten
from builder.adapters.templates.failures import Failures, silence
from builder.adapters.templates.folder import GENERIC, SUFFIX, TemplateFailed, TemplateSet
from builder.adapters.templates.layouts import digest
from builder.adapters.templates.sandbox.filters import untagged
from builder.adapters.templates.values import as_said, values_of
from builder.assemble.items.forms import REDUCED, RESULT, RenderForm
from builder.assemble.items.items import INSIDE, ITEM
from builder.assemble.items.labels import tool_label
from builder.assemble.items.layout import Group, Layout, PageSection
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import CUT as CUT_TO_FIT
from builder.domain.context import Fragment
from builder.domain.control_text import visible
from builder.domain.errors import Misconfigured
from builder.domain.failure import Failure
from builder.domain.message import Call, Image
from builder.domain.phrases import Mark
from builder.remember.attachments import described, images_of
from builder.remember.tool_calls import calls_of

REQUEST = "tool.request.v1"
"""Whose hint renders calls."""
_JOINT = re.compile(r"(?<=\n)(?=[-#\[<])")
"""Between two lines whose tokens are the same whether they are counted together or apart."""
DEFAULT, TAGGED = "default", "xml"
"""The bundled pages."""
LOG_SHARES = (1.0, 0.5, 0.25)
"""Shares of the lines of a digest that a log is tried with before it is cut like any text: the errors stay longest."""
MAX_FRAGMENTS = 20_000
Key = tuple[object, ...]
"""Breadcrumb, form and place on the page: all that a fragment depends on."""
MAX_TEXT_CHARS = 1_000_000
"""Characters: more than any page of the bundled profiles holds."""


@dataclass(frozen=True, slots=True)
class HintOutput:
    """What a hint made of a breadcrumb."""

    text: str
    reduced: str = ""
    """What is missing in the text; see `Fragment`."""
    failed: str = ""
    """Why the hint failed."""
    neutralised: bool = False
    """Characters that could open structure were replaced."""


class JinjaRendering:
    """`builder.assemble.items.layout.Rendering` for one tokenizer. Bounded caches; equal input gives equal output."""

    def __init__(
        self,
        templates: TemplateSet,
        count: Callable[[str], int],
        bundled: TemplateSet | None = None,
        failures: Failures | None = None,
        max_text_chars: int = MAX_TEXT_CHARS,
    ) -> None:
        """count: text → true tokens. bundled: what steps in where a template fails, which failures then tell.

        longest: characters; of a longer text no page holds all, so it is cut before it is rendered.
        """
        self.max_text_chars = max_text_chars
        self._failures = failures or Failures(silence)
        self.revision = templates.revision
        self.phrases = templates.phrases
        self.count = count
        self._templates = templates
        self._bundled = bundled or templates
        self._fragments: FIFOCache[Key, Fragment] = FIFOCache(MAX_FRAGMENTS)
        self._line_tokens = lru_cache(MAX_FRAGMENTS)(count)
        self.heading_tokens = lru_cache(1024)(self._heading_tokens)
        self.date_tokens = lru_cache(4096)(self._date_tokens)

    def fragment(
        self, breadcrumb: Breadcrumb, form: RenderForm, label: str, page: str = DEFAULT, cap: int | None = None
    ) -> Fragment:
        """The breadcrumb in this form for this page, cut to `cap` tokens with its line end."""
        identity = (breadcrumb.workspace, breadcrumb.session, breadcrumb.id, breadcrumb.version, breadcrumb.place)
        tagged = self._templates.is_tagged(page)
        # Of a summary those lines are shown that still hold: one breadcrumb, several texts.
        content = breadcrumb.body if breadcrumb.covers else ""
        key = (*identity, breadcrumb.schema, content, form, label, tagged)
        whole = self._fragment(key, breadcrumb, partial(self._page_text, breadcrumb, form, label, None, tagged=tagged))
        if cap is None or whole.tokens <= cap or form.line:
            return whole  # a line of ours is never cut: what is left of it would say nothing
        for share in LOG_SHARES if breadcrumb.schema == RESULT and not form.spans else ():
            less = self._fragment(
                (*key, share), breadcrumb, partial(self._page_text, breadcrumb, form, label, share, tagged=tagged)
            )
            if less.text == whole.text:
                break  # it is no log
            if less.tokens <= cap:
                return replace(less, reduced=less.reduced or CUT_TO_FIT, in_all=whole.tokens)
        return self._cut(key, whole, cap, self._mark(breadcrumb, tagged=tagged))

    def _cut(self, key: Key, whole: Fragment, cap: int, mark: Mark) -> Fragment:
        """The fragment with no more than `cap` tokens; without any text when not even the mark has room."""

        def cut() -> Fragment:
            indent = INSIDE if whole.text.startswith(INSIDE) else ""
            text = shorten(whole.text, cap, self.count, mark)
            if text and not text.startswith(indent or ITEM):
                text = (indent or ITEM) + text.lstrip()
            tokens = self.count(text + "\n") if text else 0
            return replace(whole, text=text, tokens=tokens, reduced=CUT_TO_FIT, in_all=whole.tokens)

        return self._cached((*key, "cut", cap), cut)

    def _page_text(self, breadcrumb: Breadcrumb, form: RenderForm, label: str, logs: float | None, *, tagged: bool) -> HintOutput:
        output = self._formed(breadcrumb, form, label, logs)
        # The finished text, because values that are harmless one by one may stand together.
        text = visible(output.text)
        below = below_call(text) if form.answer else text
        return replace(output, text=untagged(below) if tagged else below, neutralised=text != output.text)

    def forget(self, workspace: str, ids: frozenset[str]) -> int:
        """Drop the cached fragments of these breadcrumbs; returns how many."""
        crumbs = {key: fragment.breadcrumb for key, fragment in self._fragments.items()}
        dropped = [key for key, crumb in crumbs.items() if crumb.workspace == workspace and crumb.id in ids]
        for key in dropped:
            del self._fragments[key]
        return len(dropped)

    def calls(self, breadcrumb: Breadcrumb) -> tuple[Call, ...]:
        """The tool calls that it makes."""
        return calls_of(breadcrumb)

    def images(self, breadcrumb: Breadcrumb) -> tuple[Image, ...]:
        """The pictures in its body."""
        return images_of(breadcrumb.body)

    def page(self, page: str, sections: tuple[PageSection, ...]) -> Layout:
        """The finished markdown."""
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

    def page_tokens(self, text: str) -> int:
        """True tokens of a page: a tokenizer's pieces end where a line does that the next one begins with such a sign."""
        return sum(map(self._line_tokens, _JOINT.split(text)))

    def _mark(self, breadcrumb: Breadcrumb, *, tagged: bool = False) -> Mark:
        """What stands in the place of characters that are left out of this breadcrumb."""

        def mark(number: int) -> str:
            text = self._left_out("characters_left_out_of", breadcrumb, number)
            return untagged(text) if tagged else text

        return mark

    def _left_out(self, name: str, breadcrumb: Breadcrumb, number: int) -> str:
        return self.phrases(name, number=number, id=safe_id(breadcrumb))

    def _lines_left_out(self, number: int) -> str:
        return self.phrases("lines_left_out", number=number)

    def shortened(self, text: str, tokens: int) -> str:
        """The text cut to so many tokens with its line end."""
        return shorten(text, tokens, self.count, lambda number: self.phrases("characters_left_out", number=number))

    def _fragment(self, key: Key, breadcrumb: Breadcrumb, make: Callable[[], HintOutput]) -> Fragment:
        """The fragment of this key, rendered and counted once."""

        def fragment() -> Fragment:
            output = make()
            return Fragment(
                breadcrumb=breadcrumb,
                text=output.text,
                tokens=self.count(output.text + "\n"),
                reduced=output.reduced,
                failed=output.failed,
                neutralised=output.neutralised,
            )

        return self._cached(key, fragment)

    def _cached(self, key: Key, make: Callable[[], Fragment]) -> Fragment:
        try:  # one look-up: hashing the key is most of its price
            return self._fragments[key]
        except KeyError:
            fragment = self._fragments[key] = make()
            return fragment

    def _formed(self, breadcrumb: Breadcrumb, form: RenderForm, label: str, logs: float | None) -> HintOutput:
        """The text in this form, and what is missing in it. logs: share of the lines of a log's digest; None = the whole log."""
        if form.line:
            return HintOutput(stub(breadcrumb, form.line, self.phrases), REDUCED[form.line])
        if form.call:
            return self._call(breadcrumb, form)
        body, note = self._body(breadcrumb), ""
        if breadcrumb.schema == RESULT and not form.spans and body.get("output") is not None:
            content = cut_results(body["output"], form.cut, breadcrumb, self.phrases)
            output = content.output
            if logs is not None and isinstance(output, str):
                output = digest(output, self._lines_left_out, logs)
            body, note = body | {"output": output}, content.note
        hint = self._templates.hint_for(breadcrumb.schema)
        text, failed = self._rendered(
            breadcrumb, hint, values_of(breadcrumb, body, form, label, self.max_text_chars, self.phrases)
        )
        text += f"\n{INSIDE}{note}" if note else ""
        if form.characters is None or len(text) < form.characters:
            return HintOutput(text, CUT if note else "", failed)
        least = shorten(text, form.characters, len, self._mark(breadcrumb)) or stub(breadcrumb, "folded", self.phrases)
        return HintOutput(least, SHRUNK, failed)

    def _call(self, breadcrumb: Breadcrumb, form: RenderForm) -> HintOutput:
        """The line of one call by the hint of a tool's request."""
        call = next(call for call in self.calls(breadcrumb) if call.id == form.call)
        body = {"tool": call.tool, "input": json.loads(call.arguments), "requestId": call.id}
        values = values_of(breadcrumb, body, form, tool_label(call.tool), self.max_text_chars, self.phrases)
        text, failed = self._rendered(breadcrumb, self._templates.hint_for(REQUEST), values | {"text": ""})
        return HintOutput(f"{text}\n{INSIDE}{self.phrases('no_answer')}" if form.open else text, "", failed)

    def _body(self, breadcrumb: Breadcrumb) -> dict[str, Any]:
        """The body as hints take it: a line for each image and file, and no more of it than a page could hold."""
        body: dict[str, Any] = json.loads(breadcrumb.body)
        if len(breadcrumb.body) > self.max_text_chars:
            entries = partial(self._left_out, "entries_left_out", breadcrumb)
            body = shortened(described(pruned(body, self.max_text_chars, entries)), self.max_text_chars, self._mark(breadcrumb))
        else:
            body = described(body)
        return body

    def _rendered(self, breadcrumb: Breadcrumb, own: str, values: dict[str, Any]) -> tuple[str, str]:
        """The text by this hint, or by the generic one, or as it was said; and why its hint could not."""
        input_chars = min(len(breadcrumb.body) + len(breadcrumb.text), 2 * self.max_text_chars)
        failed = ""
        for templates, name in dict.fromkeys(((self._templates, own), (self._templates, GENERIC), (self._bundled, GENERIC))):
            try:
                text = templates.hint(name, values, input_chars)
            except TemplateFailed as error:
                failed = failed or str(error)
                continue
            return text, self._report(own, failed, "the generic hint") if failed else ""
        return as_said(values, self.phrases), self._report(own, failed, "the bare text")

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


def below_call(text: str) -> str:
    """An item as further lines of the one above it: a list below it when there are several."""
    if text.startswith(ITEM) and f"\n{ITEM}" not in text:
        return INSIDE + text.removeprefix(ITEM)
    return "\n".join(INSIDE + line if line else "" for line in text.split("\n"))
