"""What was found: messages, and calls with the passages of their results."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.forms import RenderForm, Spans
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import OVER_BUDGET, Fragment, Omission
from builder.domain.profile import SectionRule
from builder.recall.index.conversation import exchange_of
from builder.recall.search.retrieval import Find

MAX_CALL_TOKENS = 120
"""Most tokens of a call line above what was found of its result."""
MIN_LINE_TOKENS = 5
"""Tokens of the shortest line."""
_WORDS = re.compile(r"\S(?:.*\S)?", re.DOTALL)
"""A text without the white space around it."""


def fill(
    rule: SectionRule, finds: Iterable[Find], ledger: Ledger, limits: dict[str, int], places: dict[int, Item]
) -> tuple[Omission, ...]:
    """Put finds on the page, the best first, as far as there is room; returns those without room.

    limits: how many of a schema may be shown; a schema without a limit has none. places: row → the item that stands there; new
    items are added.
    """
    view = ledger.writer.view
    candidates = tuple(_news(finds, ledger, places))
    least = tuple(accumulate((find.tokens or MIN_LINE_TOKENS for find in reversed(candidates)), min))[::-1]
    without_room: list[Find] = []
    for number, find in enumerate(candidates):
        if ledger.remaining < least[number]:
            without_room += candidates[number:]
            break
        crumb = view.breadcrumb(find.row)
        if not limits.get(crumb.schema, 1) or not _try_add(rule.name, find, ledger, places):
            without_room.append(find)
            continue
        ledger.probabilities[crumb.id] = min(ledger.probabilities.get(crumb.id, 0.0) + find.probability, 1.0)
        if crumb.schema in limits:
            limits[crumb.schema] -= 1
    return tuple(Omission(id=view.breadcrumb(find.row).id, reason=OVER_BUDGET, tokens=find.tokens) for find in without_room)


def _news(finds: Iterable[Find], ledger: Ledger, places: Mapping[int, Item]) -> Iterator[Find]:
    """The finds without what the page shows elsewhere, and without the trigger's own words."""
    writer, items = ledger.writer, tuple(ledger.all_items())
    parts = {part.breadcrumb.id: " ".join(part.text.split()) for item in items for part in item.fragments if part.reduced}
    elsewhere = {item.origin: item.spans for item in items if item.spans and item.origin not in places}
    for find in finds:
        crumb = writer.view.breadcrumb(find.row)
        remainder = _without_shown_spans(find, elsewhere.get(find.row, ()), crumb.text)
        if remainder and not _is_visible(remainder, writer, parts) and not _repeats_trigger(crumb, writer.now):
            yield remainder


def _try_add(section: str, find: Find, ledger: Ledger, places: dict[int, Item]) -> bool:
    """Put one find on the page; what is found of one breadcrumb stands together."""
    before = places.get(find.row)
    if before is None:
        item = found_item(find, ledger.writer)
        if not ledger.insert(section, item):
            return False
        places[find.row] = item
        return True
    joined = replace(find, spans=_join_spans(before.spans, find, ledger.writer))
    item = found_item(joined, ledger.writer)
    if item != before and not ledger.exchange(section, before, item):
        return False
    places[find.row] = item
    return True


def found_item(find: Find, writer: Writer) -> Item:
    """The item that shows a find; a result stands below its call."""
    crumb = writer.view.breadcrumb(find.row)
    exchange = exchange_of(writer.view, writer.view.history.breadcrumbs.versions[crumb.id][0]) if crumb.role == "tool" else None
    if exchange is None:
        form = RenderForm(spans=find.spans, times=find.times)
        return writer.message(crumb, find.row, form if crumb.role != "tool" else _limited_form(find, writer, form))
    caller = writer.view.row_of(writer.view.breadcrumb(exchange.callers[0]).id)
    call = writer.fragment(writer.view.breadcrumb(caller), RenderForm(call=exchange.request), MAX_CALL_TOKENS)
    result = writer.fragment(crumb, _limited_form(find, writer, RenderForm(spans=find.spans, answer=True)))
    return Item(origin=find.row, fragments=(call, result, *_other_calls_note(caller, writer)), spans=find.spans)


def _limited_form(find: Find, writer: Writer, form: RenderForm) -> RenderForm:
    """The form as the profile limits what tools answered that is not in the conversation."""
    rules, crumb = writer.profile.tool_output, writer.view.breadcrumb(find.row)
    form = replace(writer.result_form(crumb), spans=form.spans, times=form.times, answer=form.answer)
    return replace(form, characters=rules.old_characters) if crumb.tool in rules.old_tools and not crumb.failed else form


def _other_calls_note(caller: int, writer: Writer) -> tuple[Fragment, ...]:
    """The note on what else that turn called."""
    others = len(writer.view.history.exchanges.of_caller.get(caller, ())) - 1
    return (writer.other_calls(writer.view.breadcrumb(caller), others),) if others > 0 else ()


def _is_visible(find: Find, writer: Writer, parts: Mapping[str, str]) -> bool:
    """Whether the page shows the very words elsewhere: in the part of a message that has room there, or that a limit leaves."""
    crumb = writer.view.breadcrumb(find.row)
    part = parts.get(crumb.id)
    if part is None:
        return False
    words = "".join(crumb.text[start:end] for start, end in find.spans or ((0, len(crumb.text)),))
    fragments = found_item(find, writer).fragments
    return any(" ".join(text.split()) in part for text in (words, *(one.text for one in fragments if one.breadcrumb is crumb)))


def _without_shown_spans(find: Find, elsewhere: Spans, text: str) -> Find | None:
    """The find without what the page shows of its text elsewhere, such as a sentence that instructs; None = no words are left."""
    if not elsewhere:
        return find
    rest = find.spans or ((0, len(text)),)
    for first, last in elsewhere:
        rest = tuple(part for start, end in rest for part in ((start, min(end, first)), (max(start, last), end)))
    words = (_WORDS.search(text, start, end) for start, end in rest if start < end)
    spans = tuple(spans_of_words.span() for spans_of_words in words if spans_of_words)
    return replace(find, spans=spans) if spans else None


def _repeats_trigger(crumb: Breadcrumb, now: Breadcrumb) -> bool:
    """Whether it is word for word what its speaker says now."""
    return crumb.speaker == now.speaker and crumb.role == now.role and crumb.text.split() == now.text.split()


def _join_spans(spans: Spans, find: Find, writer: Writer) -> Spans:
    """The passages together; the whole text once every passage is in."""
    if not spans or not find.spans:
        return ()
    every = tuple((passage.start, passage.end) for passage in writer.view.history.rows[find.row].passages)
    joined = tuple(sorted({*spans, *find.spans}))
    return () if joined == every else joined
