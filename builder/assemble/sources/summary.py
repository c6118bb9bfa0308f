"""Summary of the rest of the session, observations, and the memory of a person from other sessions."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, chain, takewhile

import numpy as np

from builder.assemble.budget.limits import COUNT_TOLERANCE_TOKENS, MAX_STORED_SHARE, limit_conversation
from builder.assemble.draft import PageDraft, limited
from builder.assemble.items.writer import Item, Writer
from builder.domain.breadcrumb import NO_SESSION, SUMMARY
from builder.domain.context import Fragment, Omission
from builder.domain.profile import SectionRule
from builder.domain.summary import KeptLine, read_summary
from builder.recall.index.breadcrumb_table import Ints
from builder.recall.index.conversation import Entry, turns
from builder.recall.index.links import NOBODY
from builder.recall.index.view import View
from builder.recall.search.candidates import Find
from builder.recall.search.retrieval import RetrievalResult
from builder.recall.summaries.lines import PageContent, verbatim_line
from builder.recall.summaries.observations import Observation, Observations
from builder.recall.summaries.page_summary import PageSummary, memory_summaries, page_summary

OF_THE_REST = "a summary of what the page does not show of the session"
KEPT_SHARE = 0.5
"""Largest share of the rest for the lines that a compaction kept word for word."""
MIN_SUMMARY_TOKENS = 100
"""Below which a part of a summary says nothing of a long session."""


def summary_tokens(draft: PageDraft) -> int:
    """Tokens that its lines may have: its share of the page, kept words half of what is left."""
    rule, summary = draft.rule("summary"), _summary(draft)
    if rule is None or summary is None or draft.whole:
        return 0
    share = rule.max_tokens(draft.recall.profile.allowance)
    has_words = any(line.verbatim for line in summary.lines)
    most = max(share, int(KEPT_SHARE * draft.ledger.remaining)) if has_words else share
    heading = draft.ledger.heading(rule.name)
    item, number = fit_lines(draft.writer, summary, by_importance(summary.lines), most - heading)
    return item.tokens + heading if item and number == len(summary.lines) else most


def put_summary(draft: PageDraft, room: int) -> None:
    """Put the newest summary on the page in whole lines, without what the page shows.

    Without room for all, the oldest kept words go, and a note says how many; before them other lines by rank.
    """
    rule, ledger, writer = draft.rule("summary"), draft.ledger, draft.writer
    if rule is None:
        return
    draft.verbatim = frozenset()
    ledger.put(rule.name, (), OF_THE_REST)
    ledger.put_note(rule.name)
    summary = _summary(draft) if room else None
    if summary is None:
        return
    order = by_importance(summary.lines)
    verbatim = sum(line.verbatim for line in summary.lines)
    room = min(room, ledger.remaining) - ledger.heading(rule.name)
    item, number = fit_lines(writer, summary, order, room)
    if number < len(order) and room < MIN_SUMMARY_TOKENS:
        return
    if number < verbatim:
        note_tokens = writer.rendering.count(_note(draft, verbatim) + "\n")
        item, number = fit_lines(writer, summary, order, room - note_tokens)
        ledger.put_note(rule.name, _note(draft, verbatim - number))
    ledger.put(rule.name, (item,) if item else (), OF_THE_REST)
    draft.verbatim = _rows_in_lines(writer.view, summary, order[:number])


def _summary(draft: PageDraft) -> PageSummary | None:
    """One conversation has only one with observations of a model: copies of sentences say what it may show in their place."""
    view = draft.writer.view
    summary = page_summary(view, draft.writer.profile, _page_content(draft), draft.limits.moved_at or view.size)
    is_of_model = summary is not None and any(line.id for line in summary.lines)
    return summary if is_of_model or not draft.ledger.is_one else None


def _page_content(draft: PageDraft) -> PageContent:
    view = draft.recall.view
    parts, rows = defaultdict[int, str](str), set[int]()
    observed = set(draft.observations.replaced)
    for item in (item for source in ("instructions", "retrieval", "window", "turn") for item in draft.items(source)):
        if item.first.schema == SUMMARY:
            observed |= {line.id for part in item.fragments for line in read_summary(part.breadcrumb).lines}
            continue
        texts = [view.breadcrumb(item.origin).text[start:end] for start, end in item.spans]
        rows.update({item.origin} if not (texts or item.is_cut or item.entry) else ())
        parts[item.origin] += "\n".join((*texts, *(part.text for part in item.fragments if part.reduced)))
    return PageContent(
        rows=draft.whole_rows() - draft.verbatim | rows, parts=parts, replaced=frozenset(observed), outdated=draft.active.outdated
    )


def _note(draft: PageDraft, number: int) -> str:
    return draft.writer.rendering.phrases.counted("kept_line_left_out", "kept_lines_left_out", number)


def by_importance(lines: tuple[KeptLine, ...]) -> list[int]:
    """Numbers of the lines: verbatim ones, the newest first, then the others by rank."""
    return sorted(
        range(len(lines)),
        key=lambda number: (not lines[number].verbatim, lines[number].rank * (not lines[number].verbatim), -number),
    )


def fit_lines(writer: Writer, summary: PageSummary, order: list[int], room: int) -> tuple[Item | None, int]:
    """As many lines as `room` tokens hold, the most important first; and how many."""
    words = accumulate(len(summary.lines[number].text.split()) for number in order)
    low, high, best = 0, sum(1 for _ in takewhile(room.__ge__, words)), None  # a word has a token or more
    number = high  # mostly all have room
    while low < high:
        item = _item(writer, summary, order[:number])
        if item.text and item.tokens <= room:
            low, best = number, item
        else:
            high = number - 1
        number = (low + high + 1) // 2
    return best, low


def _item(writer: Writer, summary: PageSummary, numbers: list[int]) -> Item:
    return writer.message(summary.with_lines(summary.lines[number] for number in sorted(numbers)), -1)


def _rows_in_lines(view: View, summary: PageSummary, numbers: list[int]) -> frozenset[int]:
    lines = ((view.row_of(line.ids[0]), line) for number in numbers if (line := summary.lines[number]).verbatim)
    return frozenset(row for row, line in lines if row >= 0 and line == verbatim_line(view, row))


MAX_SESSIONS = 20
OTHER_SESSIONS_SHARE = 0.28
"""Share of the page for the newest part of other sessions beside a conversation that fits."""


def put_memory(draft: PageDraft) -> None:
    """Put other sessions on the page where the profile looks into the memory of a person.

    All of them where they have room, else their newest part and summaries of the rest. Only the room depends on the own session.
    """
    rule, ledger, view = draft.rule("memory"), draft.ledger, draft.recall.view
    if rule is None or view.person == NOBODY:
        return
    items = _all_sessions(draft, rule, max(ledger.remaining - COUNT_TOLERANCE_TOKENS, 0) if draft.whole else 0)
    if items is None:
        newest = _newest_of_sessions(draft, rule)
        rest = ledger.remaining - ledger.heading(rule.name) - sum(item.size for item in newest)
        page_rows = frozenset(chain.from_iterable(item.whole_rows for item in newest))
        items = (*_summaries(draft, min(rule.max_tokens(draft.recall.profile.allowance), rest), page_rows), *newest)
    ledger.put(rule.name, [replace(item, reason=_reason(draft, item)) for item in items], rule.source)


def _reason(draft: PageDraft, item: Item) -> str:
    of_session = f"session {item.first.session} of {draft.recall.scope.user}"
    return f"a summary of {of_session}" if item.first.schema == SUMMARY else f"said in {of_session}"


def _all_sessions(draft: PageDraft, rule: SectionRule, room: int) -> tuple[Item, ...] | None:
    """All other sessions, or None when they have no room."""
    view, rows = draft.recall.view, _memory_rows(draft.recall.view)
    if float(view.tokens[rows].sum()) > MAX_STORED_SHARE * room:
        return None
    items: list[Item] = []
    for session in _sessions(view, rows):
        limits = limit_conversation(session, draft.recall.profile, room, (), folded=False)
        items += [limited(entry, limits, draft.writer) for entry in reversed(limits.entries)]
    extra = sum(max(item.extra, 0) for item in items)
    return tuple(items) if draft.ledger.cost(rule.name, items) + extra <= room else None


def _newest_of_sessions(draft: PageDraft, rule: SectionRule) -> tuple[Item, ...]:
    items: list[Item] = []
    share = int(OTHER_SESSIONS_SHARE * draft.recall.profile.allowance)
    room = share - draft.ledger.heading(rule.name)
    if not draft.whole or share > draft.ledger.remaining - COUNT_TOLERANCE_TOKENS:
        return ()
    date = ""
    for entry in _newest_first(draft.recall.view) if room > 0 else ():
        item = draft.writer.entry(entry, "folded" if entry.results else "")
        line = draft.ledger.date(rule.name, item)
        room -= item.size + (draft.writer.date_tokens(line) if line != date else 0)
        if room < 0:
            break
        items.append(item)
        date = line
    return tuple(reversed(items))


def _newest_first(view: View) -> Iterator[Entry]:
    for session in reversed(_sessions(view, _memory_rows(view))):
        yield from chain.from_iterable(map(reversed, turns(session)))


def _memory_rows(view: View) -> Ints:
    table = view.history.breadcrumbs
    session = view.session_of
    others = view.current & view.dialogue & (session != view.session) & (session != table.sessions.get(NO_SESSION, NOBODY))
    return np.flatnonzero(others)


def _sessions(view: View, rows: Ints) -> list[View]:
    codes = view.session_of[rows].tolist()
    newest_first = dict.fromkeys(reversed(codes))
    return [view.of_session(code) for code in reversed(newest_first)]


def _summaries(draft: PageDraft, room: int, page_rows: frozenset[int]) -> tuple[Item, ...]:
    items: list[Item] = []
    recall = draft.recall
    for summary in memory_summaries(recall.view, recall.profile, MAX_SESSIONS, PageContent(rows=page_rows)):
        item, _number = fit_lines(draft.writer, summary, by_importance(summary.lines), room)
        if item is None:
            break
        items.append(item)
        room -= item.tokens
    return tuple(reversed(items))


OBSERVED = "found; an observation says it"
STOOD_FOR = "an observation stands for it"
"""Why a message that was found is not on the page."""


def with_observations(
    result: RetrievalResult, observations: Observations, draft: PageDraft, page_rows: frozenset[int]
) -> RetrievalResult:
    """The same with observations instead of the messages that they stand for, each once, at the rank of the best.

    page_rows: rows that the page shows; an observation of these alone says nothing new.
    """
    if not observations.summaries:
        return result
    every = (*result.finds, *result.neighbours)
    staying = frozenset(find.row for find in every if _says_more(find, observations.by_row.get(find.row, ()), draft))
    rows_shown = page_rows | staying
    finds = _exchanged(result.finds, observations, staying, rows_shown, draft.writer)
    neighbours = _exchanged(result.neighbours, observations, staying, rows_shown | {find.row for find in finds}, draft.writer)
    rows = (find.row for find in every if find.row in observations.by_row and find.row not in staying)
    omissions = tuple(Omission(id=draft.recall.view.breadcrumb(row).id, reason=STOOD_FOR) for row in rows)
    return replace(result, finds=finds, neighbours=neighbours, omissions=(*omissions, *result.omissions))


def observation_item(find: Find, writer: Writer) -> Item:
    """The lines of a find as an item; with their dates where the section has none."""
    chains, fragments, section = writer.view.history.chains, tuple[Fragment, ...](), writer.profile.section("retrieval")
    is_dated = section is not None and section.dates != "none"
    for row, line in find.lines:
        dated_line = replace(line, day="" if is_dated else line.day)
        body = json.dumps(replace(chains.summary(row), lines=(dated_line,)).body(), ensure_ascii=False)
        fragments += writer.message(replace(writer.view.breadcrumb(row), body=body), find.row).fragments
    return Item(origin=find.row, fragments=fragments)


def _says_more(find: Find, observed: tuple[Observation, ...], draft: PageDraft) -> bool:
    if any(find.row not in each.rows for each in observed):
        return True
    text, terms = draft.recall.view.breadcrumb(find.row).text, draft.recall.terms
    words = " ".join(text[start:end] for start, end in find.spans) or text
    others = " ".join(each.line.text for each in observed)
    return bool(others) and not {*draft.query.terms}.intersection(terms(words).split()) <= {*terms(others).split()}


def _exchanged(
    finds: Iterable[Find], observations: Observations, staying: frozenset[int], page_rows: frozenset[int], writer: Writer
) -> tuple[Find, ...]:
    exchanged: dict[tuple[int, tuple[tuple[int, int], ...]], Find] = {}
    for find in finds:
        for row, observed in _instead_of(find, observations, staying):
            if observed and page_rows.issuperset(observed.rows):
                continue
            key = (row, () if observed else find.spans)
            new = replace(find, row=row, spans=key[1])
            before = exchanged.setdefault(key, new)
            if observed and all(line != observed.line for _, line in before.lines):
                exchanged[key] = replace(before, lines=(*before.lines, (observed.summary, observed.line)))
    return tuple(
        replace(find, tokens=observation_item(find, writer).tokens) if find.lines else find for find in exchanged.values()
    )


def _instead_of(find: Find, observations: Observations, staying: frozenset[int]) -> list[tuple[int, Observation | None]]:
    """The observations for a find; beside a message that stays, only their successors."""
    if find.row in observations.summaries:
        one = observations.by_start.get((find.row, find.spans[0][0] if find.spans else 0))
        return [(one.rows[0], one)] if one else []
    observed = observations.by_row.get(find.row, ())
    pairs: list[tuple[int, Observation | None]] = [
        (each.rows[0], each) for each in observed if find.row not in staying or find.row not in each.rows
    ]
    return [(find.row, None), *pairs] if find.row in staying or not observed else pairs
