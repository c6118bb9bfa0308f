"""Finds on a page: messages, and calls with the passages of their results."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from builder.assemble.draft import PageDraft
from builder.assemble.items.forms import WHOLE, RenderForm, Spans
from builder.assemble.items.writer import Item, Writer
from builder.assemble.sources.summary import OBSERVED, observation_item
from builder.language.sentences import with_lead
from builder.recall.index.conversation import exchange_of
from builder.recall.search.candidates import Find

MAX_CALL_TOKENS = 120
"""Most tokens of a call line above what was found of its result."""
_PART = re.compile(r"\S(?:.*\S)?", re.DOTALL)
"""A text without the white space around it."""


def news(finds: Iterable[Find], draft: PageDraft) -> Iterator[Find]:
    """The finds that the page does not show yet."""
    writer, now, items = draft.writer, draft.writer.now, tuple(draft.ledger.all_items())
    parts = {part.breadcrumb.id: " ".join(part.text.split()) for item in items for part in item.fragments if part.reduced}
    elsewhere = {item.origin: item.spans for item in items if item.spans}
    words = now.text.split()
    for find in finds:
        crumb = writer.view.breadcrumb(find.row)
        remainder = _without_shown_spans(find, elsewhere.get(find.row, ()), crumb.text)
        repeats_trigger = (crumb.speaker, crumb.role) == (now.speaker, now.role) and crumb.text.split() == words
        if remainder and not _is_visible(remainder, writer, parts) and not repeats_trigger:
            yield remainder


def reason_of_find(draft: PageDraft, find: Find) -> str:
    """Why it was found."""
    leaders = (find.reply_to, find.answer, find.replaces, find.neighbour_of)
    reply_to, answer, replaces, neighbour = (draft.recall.view.breadcrumb(row).id if row >= 0 else "" for row in leaders)
    reasons = (
        (find.lines, OBSERVED),
        (reply_to, f"what was said in reply to {reply_to}, which was found"),
        (answer, f"the question that {answer} answers, which was found"),
        (replaces, f"what may replace {replaces}, which was found"),
        (neighbour, f"said next to {neighbour}, which was found"),
        (find.times == 1, "found"),
        (True, f"found; the same was said {find.times} times, this is the last"),
    )
    return next(reason for applies, reason in reasons if applies)


def found_item(find: Find, writer: Writer) -> Item:
    """The item that shows a find; a result is below its call."""
    if find.lines:
        return observation_item(find, writer)
    crumb = writer.view.breadcrumb(find.row)
    exchange = exchange_of(writer.view, writer.view.history.breadcrumbs.versions[crumb.id][0]) if crumb.role == "tool" else None
    if exchange is None:
        spans = with_lead(crumb.text, find.spans) if crumb.role == "assistant" else find.spans
        form = writer.old_result_form(crumb) if crumb.role == "tool" else WHOLE
        item = writer.message(crumb, find.row, replace(form, spans=spans, times=find.times, answer=False))
        return replace(item, spans=find.spans)
    caller = writer.view.row_of(writer.view.breadcrumb(exchange.callers[0]).id)
    call = writer.fragment(writer.view.breadcrumb(caller), RenderForm(call=exchange.request), MAX_CALL_TOKENS)
    result = writer.fragment(crumb, replace(writer.old_result_form(crumb), spans=find.spans))
    return Item(origin=find.row, fragments=(call, result), spans=find.spans)


def _is_visible(find: Find, writer: Writer, parts: Mapping[str, str]) -> bool:
    crumb = writer.view.breadcrumb(find.row)
    part = parts.get(crumb.id)
    if part is None:
        return False
    words = "".join(crumb.text[start:end] for start, end in find.spans or ((0, len(crumb.text)),))
    fragments = found_item(find, writer).fragments
    return any(" ".join(text.split()) in part for text in (words, *(one.text for one in fragments if one.breadcrumb is crumb)))


def _without_shown_spans(find: Find, elsewhere: Spans, text: str) -> Find | None:
    """The find without what the page shows of its text elsewhere; None = no words are left."""
    if not elsewhere:
        return find
    rest = find.spans or ((0, len(text)),)
    for first, last in elsewhere:
        rest = tuple(part for start, end in rest for part in ((start, min(end, first)), (max(start, last), end)))
    parts = (_PART.search(text, start, end) for start, end in rest if start < end)
    spans = tuple(part.span() for part in parts if part and any(map(str.isalnum, part[0])))
    return replace(find, spans=spans) if spans else None
