"""Items of a page: a message, or a call with its results; and the writer that renders them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from builder.assemble.items.forms import LINE_ONLY, WHOLE, Line, RenderForm, Spans, even_caps
from builder.assemble.items.hint_choice import hint_choice
from builder.assemble.items.labels import Labels
from builder.assemble.items.pending import each
from builder.assemble.items.rendering import Rendering
from builder.domain.breadcrumb import NO_TIME, SUMMARY, TOOL_RESPONSE, Breadcrumb
from builder.domain.context import CUT, Fragment
from builder.domain.page_settings import Dates
from builder.domain.profile import Profile
from builder.language.dates import age, day_line, local_time
from builder.recall.index.conversation import Entry
from builder.recall.index.view import View

RESULT_FORM = RenderForm(answer=True)
MIN_RESULT_TOKENS = 32
"""Tokens below which a part of a call or a result says less than a line that stands for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A part of the page that is never split."""

    origin: int
    """Row at whose place it stands."""
    fragments: tuple[Fragment, ...]
    """The fragments of its message, or of its call and the results below it, in page order."""
    tokens: int = field(init=False)
    """On the page, with the line ends; read many times, so it is added up once."""
    entry: Entry | None = None
    """Its part of the conversation; None when it comes from elsewhere."""
    spans: Spans = ()
    """The passages that it shows; () = all."""
    extra: int = 0
    """Tokens that it needs more in the copy than on the page, below 0 when fewer; 0 when the profile wants no copy."""

    pictures: int = 0
    """Tokens of the pictures that it sends in the copy; 0 = it sends none."""
    first_picture: int = 0
    """Number of the first one that it sends; those before are their line."""
    reason: str = ""
    """Why it is on the page; "" = for the reason of its section."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", sum([fragment.tokens for fragment in self.fragments]))

    @property
    def text(self) -> str:
        """As the page template is given it."""
        return "\n".join([fragment.text for fragment in self.fragments])

    @property
    def size(self) -> int:
        """Tokens on the page or in its copy, whichever are more."""
        return self.tokens + max(self.extra, 0) + self.pictures

    @property
    def is_call(self) -> bool:
        """Whether it is a call with its results."""
        return self.entry is not None and bool(self.entry.request)

    @property
    def is_message(self) -> bool:
        """Whether it is a message of the conversation, or a result whose call is not known."""
        return self.entry is not None and not self.entry.request

    @property
    def pictured(self) -> list[Fragment]:
        """The fragments whose pictures the copy can send, in page order: the message, or the results of a call."""
        senders = self.fragments[1:] if self.is_call else self.fragments[:1]
        return [fragment for fragment in senders if fragment.reduced not in LINE_ONLY]

    @property
    def is_cut(self) -> bool:
        """Whether not all of it is shown."""
        return any(fragment.reduced for fragment in self.fragments)

    @property
    def is_useful(self) -> bool:
        """Whether what is cut of it still says something, each part by itself."""
        return all(
            fragment.text and (fragment.reduced != CUT or fragment.tokens >= MIN_RESULT_TOKENS) for fragment in self.fragments
        )

    @property
    def whole_rows(self) -> tuple[int, ...]:
        """The rows of which it shows all."""
        if self.entry is None:
            return ()
        rows = self.entry.rows if self.first.role == "tool" or not self.entry.request else (-1, *self.entry.results)
        pairs = zip(rows, self.fragments, strict=True)
        return tuple(row for row, fragment in pairs if row >= 0 and not fragment.reduced)

    @property
    def first(self) -> Breadcrumb:
        """The breadcrumb that it begins with."""
        return self.fragments[0].breadcrumb


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Renders for one page."""

    view: View
    profile: Profile
    rendering: Rendering
    labels: Labels
    now: Breadcrumb
    """The trigger; ages of date lines count from it."""
    schema_hints: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    """Text that cuts keep the nearest passages to."""

    def message(self, breadcrumb: Breadcrumb, origin: int, form: RenderForm = WHOLE, cap: int | None = None) -> Item:
        """A breadcrumb by itself. cap: most tokens; None = whole."""
        return Item(origin=origin, fragments=(self.fragment(breadcrumb, form, cap),), spans=form.spans)

    def entry(self, entry: Entry, line: Line = "", cap: int | None = None) -> Item:
        """A part of the conversation. line: what its results are reduced to; "" = as the profile limits them.

        cap: most tokens, in the copy too; results yield before the call does.
        """
        item = self.for_copy(self._entry(entry, line, cap))
        if cap is None or item.size <= cap:
            return item
        smaller = self.for_copy(self._entry(entry, line, max(2 * cap - item.size, 0)))
        call = smaller.fragments[0]
        return smaller if call.text and (call.reduced != CUT or call.tokens >= MIN_RESULT_TOKENS) else item

    def for_copy(self, item: Item) -> Item:
        """The item with the tokens that it needs more in the copy."""
        page_format = self.profile.chat_format
        if page_format is None or item.tokens > self.profile.allowance:
            return item  # what no page holds is not counted again
        return replace(item, extra=page_format.extra_tokens(self, item))

    def with_pictures(self, item: Item, room: float = inf) -> Item:
        """The item with as many of its last pictures as cost at most `room` tokens in the copy."""
        senders = [fragment.breadcrumb for fragment in item.pictured]
        pictures = self.picture_tokens(item.first, senders, is_call=item.is_call)
        for first in range(len(pictures)):
            tokens = sum(pictures[first:])
            if tokens <= room:
                return replace(item, pictures=tokens, first_picture=first)
        return replace(item, pictures=0)

    def picture_tokens(self, crumb: Breadcrumb, senders: Iterable[Breadcrumb], *, is_call: bool) -> list[int]:
        """Tokens of each picture that the copy can send for a message, or for the results of a call of it."""
        page_format = self.profile.chat_format
        is_own = crumb.role in {"assistant", "tool"} and self.view.is_own(crumb)
        if page_format is None or (is_own and not (is_call and page_format.has_pictures_of_results)):
            return []
        return [page_format.picture_tokens(size) for sender in senders for size in self.rendering.picture_sizes(sender)]

    def _entry(self, entry: Entry, line: Line, cap: int | None) -> Item:
        crumb = self.view.breadcrumb(entry.row)
        if not entry.request:
            is_result = crumb.schema == TOOL_RESPONSE and not crumb.failed
            form = (
                WHOLE if crumb.role != "tool" else replace(self.result_form(crumb), answer=False, line=line if is_result else "")
            )
            return Item(origin=entry.origin, fragments=(self.fragment(crumb, form, cap),), entry=entry)
        call = self.fragment(crumb, RenderForm(call=entry.request, below="" if entry.results else instead_of_results(entry)), cap)
        rows = tuple(map(self.view.breadcrumb, entry.results))
        results = each(partial(self._result, result, line) for result in rows)
        if cap is not None:
            caps = even_caps([result.tokens for result in results], cap - call.tokens)
            results = each(partial(self._result, result, line, most) for result, most in zip(rows, caps, strict=True))
        return Item(origin=entry.origin, fragments=(call, *results), entry=entry)

    def _result(self, breadcrumb: Breadcrumb, line: Line, cap: int | None = None) -> Fragment:
        line = "" if breadcrumb.failed else line
        form = replace(self.result_form(breadcrumb), line=line)
        fragment = self.fragment(breadcrumb, form, cap)
        if line and (whole := self.fragment(breadcrumb, replace(form, line=""))).tokens <= fragment.tokens:
            return whole  # a line in its place saves nothing
        if fragment.reduced != CUT or fragment.tokens >= MIN_RESULT_TOKENS:
            return fragment
        return self.fragment(breadcrumb, replace(form, line="folded"))

    def fragment(self, breadcrumb: Breadcrumb, form: RenderForm, cap: int | None = None) -> Fragment:
        """One part of an item."""
        hints = hint_choice(breadcrumb, self.profile, self.schema_hints)
        label = (self.labels.caller if form.call else self.labels.of)(breadcrumb)
        return self.rendering.fragment(breadcrumb, form, label, self.profile.page, cap, hints, self.question)

    def result_form(self, breadcrumb: Breadcrumb) -> RenderForm:
        """The form of a result below its call; an error has no limits."""
        rules = self.profile.tool_output
        return RESULT_FORM if breadcrumb.failed else RenderForm(answer=True, cut=rules.per_tool.get(breadcrumb.tool, rules.cut))

    def old_result_form(self, breadcrumb: Breadcrumb) -> RenderForm:
        """The form of a result that a search found, below its call."""
        rules, form = self.profile.tool_output, self.result_form(breadcrumb)
        is_limited = breadcrumb.tool in rules.old_tools and not breadcrumb.failed
        return replace(form, characters=rules.old_characters) if is_limited else form

    def date(self, item: Item, dates: Dates) -> str:
        """The date line above an item: above an observation that of its message, none above a summary and without a time."""
        crumb = item.first
        if crumb.schema == SUMMARY:
            if item.origin < 0:
                return ""
            crumb = self.view.breadcrumb(item.origin)
        match "none" if crumb.created_at == NO_TIME else dates:
            case "none":
                return ""
            case "age":
                phrase, number = age(local_time(crumb, self.profile.time_zone), self.now.received_at)
                return self.rendering.phrases(phrase, number=number)
            case "time":
                return self._day_and_time(crumb)
            case "pause":
                start, day = self.view.after_pause(item.origin) or crumb, self.day_of(crumb)
                return self._day_and_time(start) if self.day_of(start) == day else day
            case "day":
                return self.day_of(crumb)

    def _day_and_time(self, breadcrumb: Breadcrumb) -> str:
        phrases = self.rendering.phrases
        time = phrases.time(local_time(breadcrumb, self.profile.time_zone))
        return phrases("day_and_time", day=self.day_of(breadcrumb), time=time)

    def day_of(self, breadcrumb: Breadcrumb) -> str:
        """The day on which something was said, as "8 May 2023"."""
        return day_line(breadcrumb.created_at, breadcrumb.utc_offset, self.profile.time_zone, self.rendering.phrases)

    def date_tokens(self, date: str) -> int:
        """Tokens of a date line; none of none."""
        return self.rendering.date_tokens(self.profile.page, date) if date else 0


def instead_of_results(entry: Entry) -> str:
    """Name of the phrase for a call that has no result below."""
    return "no_longer_available" if entry.is_answered else "no_answer"
