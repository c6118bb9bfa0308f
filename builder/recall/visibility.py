"""What of a view one consumer may see: its own conversation, nothing that is excluded and nothing that has expired."""

from dataclasses import replace
from datetime import datetime

import numpy as np

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.profile import Profile
from builder.domain.selector import Selector
from builder.domain.summary import SUMMARY
from builder.recall.index.person_table import NOBODY
from builder.recall.index.prefix import Rows
from builder.recall.index.view import View

SUMMARIES = Selector(schemas=(SUMMARY,))
"""Their recipe says whose they are."""


def visible_to(view: View, profile: Profile, trigger: Breadcrumb, excluded: tuple[Selector, ...]) -> View:
    """The view as this consumer sees it at the trigger; the same view when there is nothing to hide.

    A result goes with its call: it is the consumer's if the call is, and with an excluded or expired call go its results. An
    excluded or expired result takes only itself.
    """
    return without_expired(of_consumer(view, profile, trigger), excluded, trigger.received_at)


def of_person(view: View, user: str) -> View:
    """Of other sessions only what was said by and to this person, and nothing that is kept out of the person's memory."""
    table, people = view.history.breadcrumbs, view.history.people
    person = people.codes.get(user, NOBODY)
    own = view.column(table.session) == view.session
    persons = view.column(people.person)
    memory = (persons == person) & (person != NOBODY) & ~view.column(table.private)
    if NO_SESSION in table.sessions:
        memory |= (view.column(table.session) == table.sessions[NO_SESSION]) & (persons == NOBODY)
    summaries = view.current & ~own & table.matching(SUMMARIES, view.size)
    return replace(view, current=view.current & (own | (memory & ~summaries)), person=person, summaries=summaries)


def of_consumer(view: View, profile: Profile, trigger: Breadcrumb) -> View:
    """The conversation that its agent takes part in."""
    task = trigger.task if profile.scope_to_task else None
    return replace(of_audience(view, profile.audience, task), agent=profile.agent)


def of_audience(view: View, audience: Selector | None, task: str | None) -> View:
    """Only what a consumer's `audience` matches, and of one task; None = everything."""
    if audience is None and task is None:
        return view
    table = view.history.breadcrumbs
    rows = np.ones(view.size, np.bool_)
    if audience is not None:
        rows &= table.matching(audience, view.size)
    if task is not None:
        rows &= view.column(table.task) == table.tasks.get(task, -1)
    visible = _with_results(view, rows) | table.matching(SUMMARIES, view.size)
    return replace(view, current=view.current & visible, audience=visible)


def without_expired(view: View, excluded: tuple[Selector, ...], now: datetime) -> View:
    """Without what has expired by now, and what the blacklist names, each selector by itself."""
    table = view.history.breadcrumbs
    rows = np.zeros(view.size, np.bool_)
    if table.can_expire:
        rows |= view.column(table.expires) <= now.timestamp()
    for selector in excluded:
        rows |= table.matching(selector, view.size)
    rows &= view.current  # an older version that has expired takes nothing with it
    return replace(view, current=view.current & ~(rows | _with_results(view, rows))) if rows.any() else view


def _with_results(view: View, rows: Rows) -> Rows:
    """All versions of those of these rows that are words or calls, with the results of the calls and what passes them on."""
    exchanges = view.history.exchanges
    origin, call = view.column(exchanges.origin), view.column(exchanges.call).copy()
    early = {row: exchange for row in exchanges.early if (exchange := exchanges.of_result[row]).callers[0] < view.size}
    call[list(early)] = [exchange.origin for exchange in early.values()]
    follows = call >= 0
    leader = np.where(follows, call, origin)
    leads = np.zeros(view.size, np.bool_)
    leads[leader[rows & ~follows]] = True
    return np.asarray(leads[leader])
