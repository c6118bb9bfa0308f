"""The pure helpers of assembly, with caches of fragments and counts."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from cachetools import FIFOCache

from builder.adapters.templates.cuts.passages import nearest
from builder.adapters.templates.cuts.results import (
    FIRST_RESULTS,
    SHRUNK,
    bounded,
    bounded_body,
    cut_results,
    safe_id,
    stub,
    whole_body,
)
from builder.adapters.templates.cuts.shorten import CHARACTERS_PER_TOKEN, shorten
from builder.adapters.templates.failures import Failure
from builder.adapters.templates.folder import ENGLISH, GENERIC, TemplateFailed, TemplateSet
from builder.adapters.templates.hint_languages import LanguageMaker, RecordHints
from builder.adapters.templates.page_rendering import DEFAULT, Failures, PageRendering, silence
from builder.adapters.templates.pictures import images_of, size_of
from builder.adapters.templates.sandbox.filters import untagged
from builder.adapters.templates.values import plain_item, size_in_memory, values_of
from builder.assemble.items.forms import LINE_REASONS, RenderForm
from builder.assemble.items.hint_choice import NO_CHOICE, HintChoice
from builder.assemble.items.labels import called_tool
from builder.assemble.items.list_items import INSIDE, ITEM
from builder.assemble.items.pending import PENDING_CHARS, READY, FragmentPending
from builder.assemble.items.rendering import Image, Size
from builder.domain.breadcrumb import TOOL_REQUEST, TOOL_RESPONSE, Breadcrumb, Place
from builder.domain.context import CUT, Fragment
from builder.domain.control_text import visible
from builder.domain.json_values import JsonObject
from builder.domain.phrases import Mark
from builder.remember.calls import Call, call_of, signature_of

CACHE_SIZE = 20_000
_NO_BODY: tuple[tuple[str, str], JsonObject] = (("", ""), {})
MAX_CHARS = 1_000_000


class JinjaRendering(PageRendering):
    """Implements `assemble.items.rendering.Rendering` for one tokenizer. Bounded caches; equal input gives equal output."""

    def __init__(
        self,
        templates: TemplateSet,
        count: Callable[[str], int],
        bundled: TemplateSet | None = None,
        failures: Failures | None = None,
        max_chars: int = MAX_CHARS,
        language: str = ENGLISH,
        hint_languages: Sequence[LanguageMaker] = (),
    ) -> None:
        """count: text → true tokens.

        bundled: templates that replace failing ones. max_chars: longer bodies are cut before rendering. hint_languages: of the
        hints that records bring.
        """
        super().__init__(templates, count, bundled or templates, failures or Failures(silence))
        self.max_chars = max_chars
        self.revision = templates.revision
        self.phrases = templates.phrases(language)
        self._language = language
        self._others: dict[tuple[str, int], JinjaRendering] = {}
        self._record_hints = RecordHints(hint_languages, templates.limits)
        self._fragments: FIFOCache[tuple[object, ...], Fragment] = FIFOCache(CACHE_SIZE, partial(size_in_memory, most=CACHE_SIZE))
        self._sizes: FIFOCache[tuple[str, Place], tuple[Size, ...]] = FIFOCache(CACHE_SIZE)
        self._last_body = _NO_BODY
        self._forgotten = 0

    def for_pages(self, language: str, tokens: int) -> "JinjaRendering":
        """For this language and page size, with own caches."""
        max_chars = self.max_chars
        while max_chars < CHARACTERS_PER_TOKEN * tokens:
            max_chars *= 2
        if (language, max_chars) == (self._language, self.max_chars):
            return self
        if (language, max_chars) not in self._others:
            self._others[language, max_chars] = JinjaRendering(
                self._templates, self.count, self._bundled, self._failures, max_chars, language, self._record_hints.makers
            )
        return self._others[language, max_chars]

    def fragment(
        self,
        breadcrumb: Breadcrumb,
        form: RenderForm,
        label: str,
        page: str = DEFAULT,
        cap: int | None = None,
        hints: HintChoice = NO_CHOICE,
        question: str = "",
    ) -> Fragment:
        """At most `cap` tokens; cached. Raises `FragmentPending`."""
        identity = (breadcrumb.workspace, breadcrumb.session, breadcrumb.id, breadcrumb.version, breadcrumb.place)
        tagged = self._templates.is_tagged(page)
        # A summary is one breadcrumb with several texts: its outdated lines are hidden.
        lines = breadcrumb.body if breadcrumb.covers else ""
        key = (*identity, breadcrumb.schema, lines, form, label, tagged, hints)
        make = partial(self._for_page, breadcrumb, form, label, hints, tagged=tagged)
        cost = partial(self._cost, breadcrumb, form)
        whole = self._cached(key, make, cost)
        if cap is None or whole.tokens <= cap or form.line:
            return whole  # a part of the builder's own line would say nothing
        mark = self._mark(breadcrumb, tagged=tagged)
        cut = partial(self._cut, whole, label, cap, mark, question)
        return self._cached((*key, "cut", cap, question), cut, lambda: len(whole.text))

    def _cached(self, key: tuple[object, ...], make: Callable[[], Fragment], cost: Callable[[], float]) -> Fragment:
        if (fragment := self._fragments.get(key)) is not None:
            return fragment
        now = (self._forgotten, key)  # what was made before an erasure is made again
        fragment = READY.get().get(now)
        if fragment is None and cost() > PENDING_CHARS.get():
            raise FragmentPending({now: partial(self._counted, make)})
        self._fragments[key] = fragment = fragment or self._counted(make)
        return fragment

    def _counted(self, make: Callable[[], Fragment]) -> Fragment:
        fragment = make()
        return replace(fragment, tokens=self.count(fragment.text + "\n") if fragment.text else 0)

    def _cost(self, breadcrumb: Breadcrumb, form: RenderForm) -> int:
        if form.line:
            return 0
        if form.call:
            return len(signature_of(breadcrumb, form.call))
        return len(breadcrumb.body) + len(breadcrumb.text)

    def _cut(self, whole: Fragment, label: str, cap: int, mark: Mark, question: str) -> Fragment:
        indent = INSIDE if whole.text.startswith(INSIDE) else ITEM
        text, name = shorten(whole.text, cap, self.count, mark, self._characters_left_out, question), f"{ITEM}{label}"
        if whole.text.startswith(name) and not text.startswith(name):  # a name that is longer than the head of its message
            rest = shorten(
                whole.text.removeprefix(name),
                cap,
                lambda part: self.count(name + part),
                mark,
                self._characters_left_out,
                question,
            )
            text = name + rest if rest else text
        if text and not text.startswith(indent):
            text = indent + text.removeprefix(ITEM).lstrip()
        return replace(whole, text=text, reduced=CUT, in_all=whole.tokens)

    def _for_page(self, breadcrumb: Breadcrumb, form: RenderForm, label: str, hints: HintChoice, *, tagged: bool) -> Fragment:
        fragment = self._formed(breadcrumb, form, label, hints)
        # Only the finished text: values that are harmless one by one may meet.
        text = visible(fragment.text)
        below = below_call(text) if form.answer else text
        return replace(fragment, text=untagged(below) if tagged else below, neutralised=text != fragment.text)

    def forget(self, workspace: str, ids: frozenset[str]) -> int:
        """Drop fragments, in every language; returns their number."""
        crumbs = ((key, fragment.breadcrumb) for key, fragment in self._fragments.items())
        stale = [key for key, crumb in crumbs if crumb.workspace == workspace and crumb.id in ids]
        for key in stale:
            del self._fragments[key]
        self._record_hints.forget()
        self._last_body = _NO_BODY
        nearest.cache_clear()
        self._forgotten += 1
        return len(stale) + sum(other.forget(workspace, ids) for other in self._others.values())

    def call(self, breadcrumb: Breadcrumb, request: str) -> Call:
        """The call of a request id."""
        return call_of(breadcrumb, request)

    def images(self, breadcrumb: Breadcrumb) -> tuple[Image, ...]:
        """The pictures of a breadcrumb."""
        return images_of(breadcrumb.body)

    def picture_sizes(self, breadcrumb: Breadcrumb) -> tuple[Size, ...]:
        """The sizes of these pictures; cached."""
        key = breadcrumb.workspace, breadcrumb.place
        if key not in self._sizes:
            self._sizes[key] = tuple(size_of(image.data) for image in self.images(breadcrumb))
        return self._sizes[key]

    def _mark(self, breadcrumb: Breadcrumb, *, tagged: bool = False) -> Mark:
        def mark(number: int) -> str:
            text = self._left_out("characters_left_out_of", breadcrumb, number)
            return untagged(text) if tagged else text

        return mark

    def _marks(self, breadcrumb: Breadcrumb) -> tuple[Mark, Mark]:
        return partial(self._left_out, "entries_left_out", breadcrumb), self._mark(breadcrumb)

    def _left_out(self, name: str, breadcrumb: Breadcrumb, number: int) -> str:
        return self.phrases(name, number=number, id=safe_id(breadcrumb))

    def shortened(self, text: str, tokens: int) -> str:
        """At most `tokens` tokens, with a mark."""
        return shorten(text, tokens, self.count, self._characters_left_out)

    def _characters_left_out(self, number: int) -> str:
        return self.phrases("characters_left_out", number=number)

    def _formed(self, breadcrumb: Breadcrumb, form: RenderForm, label: str, hints: HintChoice) -> Fragment:
        if form.line:
            return Fragment(
                breadcrumb=breadcrumb, text=stub(breadcrumb, form.line, self.phrases), tokens=0, reduced=LINE_REASONS[form.line]
            )
        if form.call:
            return self._call(breadcrumb, form, label, hints)
        body, note = self._body(breadcrumb), ""
        if breadcrumb.schema == TOOL_RESPONSE and not form.spans and body.get("output") is not None:
            result = cut_results(body["output"], form.cut, breadcrumb, self.phrases)
            body, note = body | {"output": result.output}, result.note
        values = values_of(breadcrumb, body, form, label, self.max_chars, self.phrases)
        text, failed = self._by_record_hints(breadcrumb, form, body if note else None, values, hints)
        transformed = bool(text)
        if not transformed:
            own = self._templates.hint_for(breadcrumb.schema, hints.own)
            text, own_failed = self._rendered(breadcrumb, own, values)
            failed = failed or own_failed
            transformed = breadcrumb.schema == TOOL_RESPONSE and not self._shows_output(breadcrumb, form, own)
        text, reduced = (f"{text}\n{INSIDE}{note}", FIRST_RESULTS) if note else (text, "")
        if form.characters is not None and len(text) >= form.characters:
            reduced = SHRUNK
            text = shorten(text, form.characters, len, self._mark(breadcrumb)) or stub(breadcrumb, "folded", self.phrases)
        return Fragment(breadcrumb=breadcrumb, text=text, tokens=0, reduced=reduced, failed=failed, transformed=transformed)

    def _shows_output(self, breadcrumb: Breadcrumb, form: RenderForm, own: str) -> bool:
        is_bundled = self._templates.sources["hints"][own] == self._bundled.sources["hints"].get(TOOL_RESPONSE)
        return is_bundled and not form.spans and len(breadcrumb.body) <= self.max_chars

    def _body(self, breadcrumb: Breadcrumb) -> JsonObject:
        source, (last, body) = (breadcrumb.id, breadcrumb.body), self._last_body
        if last != source:
            body = bounded_body(breadcrumb.body, self.max_chars, self._marks(breadcrumb))
            self._last_body = source, body
        return body

    def _by_record_hints(
        self, breadcrumb: Breadcrumb, form: RenderForm, part: JsonObject | None, values: JsonObject, hints: HintChoice
    ) -> tuple[str, str]:
        is_configured = self._templates.hint_for(breadcrumb.schema, hints.own) != GENERIC
        chosen = hints.record or ("" if is_configured else hints.definition)
        if not chosen or form.spans or breadcrumb.schema == TOOL_REQUEST:
            return "", ""
        try:
            body = whole_body(breadcrumb.body) if part is None else part
            limit = partial(bounded, characters=self.max_chars, marks=self._marks(breadcrumb))
            return self._record_hints.text(chosen, breadcrumb, body, values, limit), ""
        except TemplateFailed as error:
            instead = "the ordinary hint"
            return "", self._report(Failure(kind="llm_hints", name=breadcrumb.schema, reason=str(error), instead=instead))

    def _call(self, breadcrumb: Breadcrumb, form: RenderForm, caller: str, hints: HintChoice) -> Fragment:
        call = self.call(breadcrumb, form.call)
        body = {"tool": call.tool, "input": json.loads(call.arguments), "requestId": call.id}
        label = called_tool(call.tool, caller, self.phrases)
        values = values_of(breadcrumb, body, form, label, self.max_chars, self.phrases)
        text, failed = self._rendered(breadcrumb, self._templates.hint_for(TOOL_REQUEST, hints.call), values | {"text": ""})
        text += f"\n{INSIDE}{self.phrases(form.below)}" if form.below else ""
        return Fragment(breadcrumb=breadcrumb, text=text, tokens=0, failed=failed)

    def _rendered(self, breadcrumb: Breadcrumb, own: str, values: JsonObject) -> tuple[str, str]:
        value_chars = min(len(breadcrumb.body) + len(breadcrumb.text), 2 * self.max_chars)
        failed = ""
        for templates, name in dict.fromkeys(((self._templates, own), (self._templates, GENERIC), (self._bundled, GENERIC))):
            try:
                text = templates.hint(name, values, value_chars)
            except TemplateFailed as error:
                failed = failed or str(error)
                continue
            return text, self._report_hint(own, failed, "the generic hint") if failed else ""
        return plain_item(values, self.phrases), self._report_hint(own, failed, "the bare text")

    def _report_hint(self, hint: str, reason: str, instead: str) -> str:
        return self._report(Failure(kind="hints", name=hint, reason=reason, instead=instead))

    def _report(self, failure: Failure) -> str:
        self._failures.add(failure)
        return f"hint failed, {failure.instead} is shown: {failure.file} {failure.reason}"


def below_call(text: str) -> str:
    """The item as further lines of the one above it."""
    if text.startswith(ITEM) and f"\n{ITEM}" not in text:
        return INSIDE + text.removeprefix(ITEM)
    return "\n".join(INSIDE + line if line else "" for line in text.split("\n"))
