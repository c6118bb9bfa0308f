"""The memory of a person: what was said in other sessions."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from builder.assemble.budget.limits import MAX_STORED_SHARE, limit_conversation
from builder.assemble.budget.shares import COUNT_TOLERANCE_TOKENS, Shares
from builder.assemble.draft import Draft, limited
from builder.assemble.items.writer import Item
from builder.assemble.sources.summary import by_importance, fit_lines
from builder.domain.breadcrumb import NO_SESSION
from builder.domain.profile import SectionRule
from builder.domain.summary import SUMMARY
from builder.recall.index.conversation import Entry, turns
from builder.recall.index.person_table import NOBODY
from builder.recall.index.prefix import Ints
from builder.recall.index.view import View
from builder.recall.summaries.lines import PageContent
from builder.recall.summaries.plan import memory_summaries

MAX_SESSIONS = 20
"""Newest summarised sessions that are looked at."""


def put_memory(draft: Draft, shares: Shares) -> None:
    """Fill the section; nothing unless the profile looks into the memory of a person.

    Where they have room, the other sessions are whole, as a conversation that fits is. Else there are their newest part and the
    summaries of the rest, beside an own conversation that does not fit the summaries alone. None of it depends on the own session
    but for the room, so the page begins with the same words until the room is used up.
    """
    rule, ledger, view = draft.rule("memory"), draft.ledger, draft.recall.view
    if rule is None or view.person == NOBODY:
        return
    items = _whole(draft, rule, max(ledger.remaining - COUNT_TOLERANCE_TOKENS, 0) if shares.whole else 0)
    if items is None:
        newest = _newest(draft, rule, shares.other_sessions(ledger))
        rest = ledger.remaining - ledger.heading(rule.name) - sum(item.size for item in newest)
        page_rows = frozenset(chain.from_iterable(item.whole_rows for item in newest))
        items = (*_summaries(draft, min(rule.max_tokens(draft.recall.profile.aim), rest), page_rows), *newest)
    ledger.put(rule.name, [replace(item, reason=_reason(draft, item)) for item in items], rule.source)


def _reason(draft: Draft, item: Item) -> str:
    of_session = f"session {item.first.session} of {draft.recall.scope.user}"
    return f"a summary of {of_session}" if item.first.schema == SUMMARY else f"said in {of_session}"


def _whole(draft: Draft, rule: SectionRule, room: int) -> tuple[Item, ...] | None:
    """All other sessions, or None when they have no room."""
    view, rows = draft.recall.view, _rows(draft.recall.view)
    if float(view.column(view.history.breadcrumbs.tokens)[rows].sum()) > MAX_STORED_SHARE * room:
        return None
    items: list[Item] = []
    for session in _sessions(view, rows):
        limits = limit_conversation(session, draft.recall.profile, room, (), folded=False)
        items += [limited(entry, limits, draft.writer) for entry in reversed(limits.entries)]
    extra = sum(max(item.extra, 0) for item in items)
    return tuple(items) if draft.ledger.cost(rule.name, items) + extra <= room else None


def _newest(draft: Draft, rule: SectionRule, room: int) -> tuple[Item, ...]:
    """The newest messages and calls of the other sessions, whole, each result in a line; in page order."""
    items: list[Item] = []
    room -= draft.ledger.heading(rule.name)
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
    for session in reversed(_sessions(view, _rows(view))):
        yield from chain.from_iterable(map(reversed, turns(session)))


def _rows(view: View) -> Ints:
    """What may be shown of conversations in other sessions."""
    table = view.history.breadcrumbs
    session = view.column(table.session)
    others = view.current & view.dialogue & (session != view.session) & (session != table.sessions.get(NO_SESSION, NOBODY))
    return np.flatnonzero(others)


def _sessions(view: View, rows: Ints) -> list[View]:
    """The sessions of these rows, as seen from each, in the order of their last words."""
    codes = view.column(view.history.breadcrumbs.session)[rows].tolist()
    newest_first = dict.fromkeys(reversed(codes))
    return [replace(view, session=code) for code in reversed(newest_first)]


def _summaries(draft: Draft, room: int, page_rows: frozenset[int]) -> tuple[Item, ...]:
    """The summaries of the sessions in whole lines, without what the page shows, the newest session first into `room` tokens."""
    items: list[Item] = []
    recall = draft.recall
    for summary in memory_summaries(recall.view, recall.profile, MAX_SESSIONS, PageContent(rows=page_rows)):
        item, _number = fit_lines(draft.writer, summary, by_importance(summary.lines), room)
        if item is None:
            break
        items.append(item)
        room -= item.tokens
    return tuple(reversed(items))
