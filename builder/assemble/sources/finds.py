"""What was found: messages, and calls with the passages of their results."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import accumulate

from builder.assemble.budget.shares import COUNT_TOLERANCE_TOKENS, OLD_TURNS, Shares
from builder.assemble.draft import PageDraft
from builder.assemble.items.rendering import LINE_REASONS, FragmentPending, RenderForm, Spans, each
from builder.assemble.items.writer import Item, Writer
from builder.assemble.sources.fixed import take_off_half_pairs
from builder.assemble.sources.summary import OBSERVED, observation_item, with_observations
from builder.domain.context import CUT, IRRELEVANT, OLDER, OVER_BUDGET, Omission
from builder.domain.profile import SectionRule
from builder.language.sentences import with_lead
from builder.recall.index.conversation import exchange_of, outdated_results
from builder.recall.search.candidates import Find
from builder.recall.search.retrieval import retrieve

MAX_CALL_TOKENS = 120
"""Most tokens of a call line above what was found of its result."""
MIN_TAKEN_PROBABILITY = 0.12
"""Of a result that a limit takes, to come back as a find."""
MIN_LINE_TOKENS = 5
_WORDS = re.compile(r"\S(?:.*\S)?", re.DOTALL)
"""A text without the white space around it."""


def put_finds(draft: PageDraft, shares: Shares) -> None:
    """Put the best of what the page does not show on it; neighbours only once all of it has room."""
    rule = draft.rule("retrieval")
    if shares.whole:
        shares.aim(draft.ledger, COUNT_TOLERANCE_TOKENS + shares.finds())
    if rule and not draft.query.is_small_talk:
        _find(draft, rule)
    if not draft.whole or draft.limits.left_out:
        draft.note_what_is_missing()
    else:
        draft.ledger.settle()


def _find(draft: PageDraft, rule: SectionRule) -> None:
    recall, ledger = draft.recall, draft.ledger
    view, rules = recall.view, recall.profile.retrieval
    parts = (part for item in draft.placed().values() for part in item.fragments)
    cut = {view.row_of(part.breadcrumb.id) for part in parts if part.reduced == CUT}  # has what is nearest to the question
    outdated = outdated_results(view) if recall.profile.tool_output.newest_only else frozenset()
    instructions = {item.origin for item in draft.items("instructions") if not item.spans}
    page_rows = draft.whole_rows() | draft.active.outdated | cut | outdated | instructions
    question = draft.questions[-1].row if draft.questions else -1
    observations, room = draft.observations, ledger.remaining
    result = retrieve(draft.query, view, rules, draft.ranker, page_rows, room, recall.terms, question, observations.summaries)
    draft.retrieval = retrieval = with_observations(result, observations, draft, page_rows)
    limits, items_by_row = dict(rules.per_schema_limit), dict[int, Item]()
    floor = int(rules.floor * ledger.remaining) if recall.profile.fill else 0
    omitted, finds = _without_taken(draft, retrieval.finds)
    probable, others = ([find for find in finds if find.is_probable == is_probable] for is_probable in (True, False))
    omissions = _put(draft, rule, probable, limits, items_by_row)
    ledger.settle()
    rest = [find for find in probable if find.row not in items_by_row]  # for which lines on gaps had been kept free
    omissions = omissions and _put(draft, rule, rest, limits, items_by_row)
    if not omissions:
        omissions = _put(draft, rule, retrieval.neighbours, limits, items_by_row)
    improbable = _put(draft, rule, others, limits, items_by_row, floor)
    take_off_half_pairs(draft)
    draft.omissions.name((*omissions, *omitted, *improbable))
    draft.omissions.name(retrieval.omissions)
    draft.omissions.add(LINE_REASONS["superseded"], outdated)
    for reason, candidates in ((OVER_BUDGET, retrieval.crowded()), (IRRELEVANT, retrieval.irrelevant())):
        draft.omissions.add(reason, candidates.every, candidates.nearest)


def _without_taken(draft: PageDraft, finds: Iterable[Find]) -> tuple[list[Omission], list[Find]]:
    """Results that a limit takes come back as finds only when they are likely answers. Returns omissions, and other finds."""
    limits, view = draft.limits, draft.recall.view
    running = (full.entry for full in draft.full if full.entry and draft.is_running(full))
    reasons = {row: OLDER for entry in running for row in entry.rows}
    reasons |= {row: reason for entry, reason in limits.left_out if reason.startswith(OLD_TURNS) for row in entry.results}
    reasons |= {row: LINE_REASONS["placeholder"] for entry in limits.placeholders for row in entry.results}
    omissions: list[Omission] = []
    others: list[Find] = []
    for find in finds:
        if find.row in reasons and find.probability < MIN_TAKEN_PROBABILITY and not find.is_literal:
            omissions.append(Omission(id=view.breadcrumb(find.row).id, reason=reasons[find.row], tokens=find.tokens))
        else:
            others.append(find)
    return omissions, others


def _put(
    draft: PageDraft,
    rule: SectionRule,
    finds: Iterable[Find],
    limits: dict[str, int],
    items_by_row: dict[int, Item],
    most: float = math.inf,
) -> list[Omission]:
    """Put finds on the page, the best first, as far as there is room; returns those without.

    limits: how many of a schema may be shown. items_by_row: row → the item of its finds, extended. most: tokens of the section.
    """
    view, ledger = draft.recall.view, draft.ledger
    candidates = tuple(news(finds, draft, items_by_row))
    least = tuple(accumulate((find.tokens or MIN_LINE_TOKENS for find in reversed(candidates)), min))[::-1]
    omissions: list[Omission] = []
    for number, find in enumerate(candidates):
        crumb = view.breadcrumb(find.row)
        is_orphan = find.leader >= 0 and not find.is_probable and find.leader not in items_by_row
        if not limits.get(crumb.schema, 1):
            limit = draft.recall.profile.retrieval.per_schema_limit[crumb.schema]
            reason = f"beyond the {limit} most probable of {crumb.schema}"
        elif find.tokens > most - ledger.spent[rule.name] or is_orphan:
            reason = IRRELEVANT
        elif ledger.remaining < least[number] or not _try_first(
            rule.name, find, _likely(candidates[number:], limits, most, rule, draft), draft, items_by_row
        ):
            reason = OVER_BUDGET
        else:
            ledger.probabilities[crumb.id] = min(ledger.probabilities.get(crumb.id, 0.0) + find.probability, 1.0)
            limits.update({crumb.schema: limits[crumb.schema] - 1} if crumb.schema in limits else {})
            continue
        omissions.append(Omission(id=crumb.id, reason=reason, tokens=find.tokens))
    return omissions


def news(finds: Iterable[Find], draft: PageDraft, items_by_row: Mapping[int, Item]) -> Iterator[Find]:
    """What the page does not say yet. items_by_row: row → the item of its finds."""
    writer, now, items = draft.writer, draft.writer.now, tuple(draft.ledger.all_items())
    parts = {part.breadcrumb.id: " ".join(part.text.split()) for item in items for part in item.fragments if part.reduced}
    elsewhere = {item.origin: item.spans for item in items if item.spans and item.origin not in items_by_row}
    for find in finds:
        crumb = writer.view.breadcrumb(find.row)
        remainder = _without_shown_spans(find, elsewhere.get(find.row, ()), crumb.text)
        repeats_trigger = (crumb.speaker, crumb.role) == (now.speaker, now.role) and crumb.text.split() == now.text.split()
        if remainder and not _is_visible(remainder, writer, parts) and not repeats_trigger:
            yield remainder


def _try_first(section: str, find: Find, likely: Iterable[Find], draft: PageDraft, items_by_row: dict[int, Item]) -> bool:
    """Try to add the find. likely: it and those that will follow; raises `FragmentPending` for all, so one start serves them."""
    try:
        return _try_add(section, find, draft, items_by_row)
    except FragmentPending:
        each(_if_added(likely, draft.writer, {row: item.spans for row, item in items_by_row.items()}))
        raise


def _likely(finds: Iterable[Find], limits: Mapping[str, int], most: float, rule: SectionRule, draft: PageDraft) -> Iterator[Find]:
    """The first find, and those after it within the limits of their schemas and the room for all. most: see `_put`."""
    counts, room = dict(limits), min(draft.ledger.remaining, most - draft.ledger.spent[rule.name])
    for number, find in enumerate(finds):
        schema = draft.recall.view.breadcrumb(find.row).schema
        if not counts.get(schema, 1):
            continue
        room -= find.tokens or MIN_LINE_TOKENS
        if number and room < 0:
            return
        counts |= {schema: counts[schema] - 1} if schema in counts else {}
        yield find


def _if_added(finds: Iterable[Find], writer: Writer, spans_by_row: dict[int, Spans]) -> Iterator[Callable[[], Item]]:
    """The making of each find's item, as if those before it were added. spans_by_row: of the items so far, extended."""
    for find in finds:
        before = spans_by_row.get(find.row)
        joined = find if before is None else replace(find, spans=_join_spans(before, find, writer))
        spans_by_row[find.row] = joined.spans
        yield partial(found_item, joined, writer)


def _try_add(section: str, find: Find, draft: PageDraft, items_by_row: dict[int, Item]) -> bool:
    before, ledger = items_by_row.get(find.row), draft.ledger
    if before is None:
        item = replace(found_item(find, draft.writer), reason=reason_of_find(draft, find))
        if not ledger.insert(section, item):
            return False
        items_by_row[find.row] = item
        return True
    joined = replace(find, spans=_join_spans(before.spans, find, draft.writer))
    item = replace(found_item(joined, draft.writer), reason=before.reason)
    if item != before and not ledger.exchange(section, before, item):
        return False
    items_by_row[find.row] = item
    return True


def reason_of_find(draft: PageDraft, find: Find) -> str:
    """Why it was found."""
    leaders = (find.reply_to, find.answer, find.replaces)
    reply_to, answer, replaces = (draft.recall.view.breadcrumb(row).id if row >= 0 else "" for row in leaders)
    reasons = (
        (find.lines, OBSERVED),
        (reply_to, f"what was said in reply to {reply_to}, which was found"),
        (answer, f"the question that {answer} answers, which was found"),
        (replaces, f"what may replace {replaces}, which was found"),
        (find in draft.retrieval.neighbours, "said next to what was found"),
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
        form = RenderForm(spans=spans, times=find.times)
        item = writer.message(crumb, find.row, form if crumb.role != "tool" else _limited_form(find, writer, form))
        return replace(item, spans=find.spans)
    caller = writer.view.row_of(writer.view.breadcrumb(exchange.callers[0]).id)
    call = writer.fragment(writer.view.breadcrumb(caller), RenderForm(call=exchange.request), MAX_CALL_TOKENS)
    result = writer.fragment(crumb, _limited_form(find, writer, RenderForm(spans=find.spans, answer=True)))
    others = len(writer.view.history.exchanges.of_caller.get(caller, ())) - 1
    note = (writer.other_calls(writer.view.breadcrumb(caller), others),) if others > 0 else ()
    return Item(origin=find.row, fragments=(call, result, *note), spans=find.spans)


def _limited_form(find: Find, writer: Writer, form: RenderForm) -> RenderForm:
    rules, crumb = writer.profile.tool_output, writer.view.breadcrumb(find.row)
    form = replace(writer.result_form(crumb), spans=form.spans, times=form.times, answer=form.answer)
    return replace(form, characters=rules.old_characters) if crumb.tool in rules.old_tools and not crumb.failed else form


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
    words = (_WORDS.search(text, start, end) for start, end in rest if start < end)
    spans = tuple(spans_of_words.span() for spans_of_words in words if spans_of_words)
    return replace(find, spans=spans) if spans else None


def _join_spans(spans: Spans, find: Find, writer: Writer) -> Spans:
    if not spans or not find.spans:
        return ()
    every = tuple((passage.start, passage.end) for passage in writer.view.history.rows[find.row].passages)
    joined = tuple(sorted({*spans, *find.spans}))
    return () if joined == every else joined
