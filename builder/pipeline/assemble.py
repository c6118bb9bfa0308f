"""`assemble`: recall → context. Reads top to bottom: rank, dedup, fold, select (rendering lazily), compose."""

from dataclasses import dataclass
from functools import partial
from itertools import chain

from builder.domain.context import (
    DEGRADED,
    HINT_FAILED,
    OVER_BUDGET,
    PAGE_FAILED,
    VECTORS_MISSING,
    Context,
    Omission,
    Section,
)
from builder.domain.errors import Rejected
from builder.domain.facts import Remembered
from builder.domain.profile import Profile, Source
from builder.pipeline.compose import Page, compose, summarise
from builder.pipeline.draft import Draft, Rendering
from builder.pipeline.exchanges import told
from builder.pipeline.fold import fold
from builder.pipeline.hot import Hot, hot_window
from builder.pipeline.in_force import InForce, in_force
from builder.pipeline.messages import messages
from builder.pipeline.query import Query
from builder.pipeline.rank import Ranker, rank
from builder.pipeline.reminders import own_texts
from builder.pipeline.retrieve import Found, retrieve
from builder.pipeline.select import Plan, select
from builder.pipeline.summaries import summary_shown
from builder.pipeline.units import Candidate, Unit
from builder.pipeline.view import Terms, View


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question of one consumer: everything that assembly needs to know.

    standing: for each of the profile's, what was found, newest first. system_prompt: its own, or its agent definition's.
    model: engine of the vectors.
    """

    trigger: Remembered
    query: Query
    view: View
    standing: tuple[tuple[Remembered, ...], ...]
    system_prompt: str
    profile: Profile
    ranker: Ranker
    terms: Terms
    model: str


def assemble(request: Request, rendering: Rendering) -> Context:
    """One page under the budget. Raises `Rejected` when the parts that cannot be dropped do not fit."""
    profile, view = request.profile, request.view
    date = partial(view.date, now=request.trigger.breadcrumb.received_at)
    draft = Draft(profile.allowance, profile.page, profile.sections, rendering, date)
    for name, text in own_texts(profile, request.system_prompt, request.trigger.breadcrumb, view).items():
        draft.pin(name, text)
    standing = _standing(request)
    stands = {view.row_of(item.remembered.breadcrumb.id): item for unit in standing for item in unit}
    hot = hot_window(view, profile, stands)
    calls = told(hot.units, profile, rendering)
    draft.allowance -= calls.tokens
    shown = hot.rows | {view.row_of(row.breadcrumb.id) for row in (*chain(*request.standing), request.trigger)}
    scores = rank(request.query, view, request.ranker)
    found = retrieve(request.query, view, shown, profile, scores)
    wishes = _instructions(request, found)
    planned = Plan(
        trigger=(_whole(request.trigger, _section(profile, "trigger")),),
        hot=hot.units,
        standing=standing,
        summary=_summary(request, hot),
        instructions=wishes.units,
        retrieval=_without(found.units, wishes.outdated),
        neighbours=_without(found.neighbours, wishes.outdated),
    )
    plan, compaction = fold(planned, profile, draft)
    missed = select(plan, profile, draft, hot.note)
    page = compose(draft, profile, rendering, date)
    _check_room((*page.dropped, *missed), profile)
    return Context(
        trigger=request.trigger.breadcrumb,
        consumer=profile.consumer,
        assembled_at=request.trigger.breadcrumb.received_at,
        markdown=page.markdown,
        breakpoints=page.breakpoints,
        messages=messages(draft, profile, rendering, date, calls),
        chat_format=profile.chat_format,
        tokens=page.tokens,
        budget=profile.budget,
        margin=profile.margin,
        encoding=profile.encoding,
        profile_revision=profile.revision,
        template_revision=rendering.revision,
        model=request.model,
        flags=_flags(request, draft, page),
        sections=(sections := summarise(draft, profile)),
        compaction=compaction,
        omissions=_left_out(draft, (*page.dropped, *missed, *hot.omissions, *wishes.omissions, *found.omissions), sections),
    )


def _check_room(missed: tuple[Omission, ...], profile: Profile) -> None:
    """A profile may refuse a page on which not everything has room (features C5)."""
    tight = [omission for omission in missed if omission.reason == OVER_BUDGET]
    if profile.on_overflow == "reject" and tight:
        raise Rejected(
            f"{len(tight)} of what should be on the page, {tight[0].id} first, have no room in {profile.allowance} tokens; "
            f"raise `budget` in the profile {profile.consumer!r}, or let `on_overflow` be trim"
        )


def _flags(request: Request, draft: Draft, page: Page) -> tuple[str, ...]:
    query, view = request.query, request.view
    found = {
        DEGRADED: bool(query.text.strip()) and not query.vector,
        VECTORS_MISSING: view.lacks_vectors,
        HINT_FAILED: any(placed.fragment.failed for placed in draft.placed.values()),
        PAGE_FAILED: page.failed,
    }
    return tuple(flag for flag, is_so in found.items() if is_so)


def _instructions(request: Request, found: Found) -> InForce:
    """What holds for every answer; nothing when the profile has no place for it."""
    section = _section(request.profile, "instructions")
    return in_force(request.view, request.trigger, section, found.scores, request.terms) if section else InForce()


def _without(units: tuple[Unit, ...], rows: frozenset[int]) -> tuple[Unit, ...]:
    return tuple(unit for unit in units if not any(candidate.row in rows for candidate in unit))


def _left_out(draft: Draft, omissions: tuple[Omission, ...], sections: tuple[Section, ...]) -> tuple[Omission, ...]:
    """What is shown otherwise than it came, then each breadcrumb once, with its first reason, of which nothing is on the page."""
    on_page = {held for section in sections for held in section.ids}
    first = {omission.id: omission for omission in reversed(omissions) if omission.id not in on_page}
    shown = [placed.fragment for placed in draft.placed.values()]
    return (
        *(Omission(id=fragment.breadcrumb.id, reason=fragment.failed) for fragment in shown if fragment.failed),
        *(Omission(id=fragment.breadcrumb.id, reason=fragment.reduced) for fragment in shown if fragment.reduced),
        *(omission for omission in omissions if first.get(omission.id) is omission),
    )


def _standing(request: Request) -> tuple[Unit, ...]:
    """What stands, in the profile's order, of each kind the newest first; what is of two kinds stands with the first."""
    default = _section(request.profile, "pinned")
    kinds = list(zip(request.profile.pinned, request.standing, strict=True))
    placed = {row.breadcrumb.id: (_whole(row, wanted.section or default),) for wanted, rows in reversed(kinds) for row in rows}
    return tuple(placed[name] for name in dict.fromkeys(row.breadcrumb.id for _, rows in kinds for row in rows) if default)


def _summary(request: Request, hot: Hot) -> tuple[Unit, ...]:
    """The newest summary, without what the hot window tells itself; nothing while there is none, or no place for it."""
    section = _section(request.profile, "summary")
    summary = summary_shown(request.view, request.profile, hot.rows, hot.moved) if section else None
    if summary is None:
        return ()
    return ((_whole(Remembered(breadcrumb=summary, passages=(), model="", fingerprint=b""), section),),)


def _section(profile: Profile, source: Source) -> str:
    """Name of the first section that this source fills, empty when there is none."""
    rule = profile.section(source)
    return rule.name if rule else ""


def _whole(remembered: Remembered, section: str) -> Candidate:
    return Candidate(section=section, row=-1, remembered=remembered)
