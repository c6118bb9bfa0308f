"""`assemble`: recall → context. Reads top to bottom: rank, dedup, fold, select (rendering lazily), compose."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain

from builder.domain.context import DEGRADED, LATE_MISSING, OVER_BUDGET, VECTORS_MISSING, Context, Omission, Section
from builder.domain.errors import Rejected
from builder.domain.facts import Remembered
from builder.domain.profile import Profile
from builder.pipeline.compose import compose, summarise
from builder.pipeline.draft import Draft, Rendering
from builder.pipeline.exchanges import told
from builder.pipeline.fitting import fitting, reach
from builder.pipeline.fold import fold
from builder.pipeline.hysteresis import steadied
from builder.pipeline.in_force import InForce, in_force
from builder.pipeline.late import Reordered
from builder.pipeline.messages import messages
from builder.pipeline.query import Query
from builder.pipeline.rank import Ranker, rank
from builder.pipeline.reminders import own_texts
from builder.pipeline.retrieve import Found, retrieve
from builder.pipeline.select import Plan, select
from builder.pipeline.summaries import summary_shown
from builder.pipeline.units import Candidate, Unit, hot_units
from builder.pipeline.view import Terms, View


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question of one consumer: everything that assembly needs to know.

    standing: for each of the profile's, what was found, newest first. system_prompt: its own, or its agent definition's.
    model: engine of the vectors.
    reordered: the ranking when late interaction had its say in it, for which token vectors had to be read; None = rank here.
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
    reordered: Reordered | None = None


def assemble(request: Request, rendering: Rendering) -> Context:
    """One page under the budget. Raises `Rejected` when the parts that cannot be dropped do not fit."""
    profile, view = request.profile, request.view
    date = partial(view.date, now=request.trigger.breadcrumb.received_at)
    draft = Draft(profile.allowance, profile.page, profile.sections, rendering, date)
    for name, text in own_texts(profile, request.system_prompt, request.trigger.breadcrumb, view).items():
        draft.pin(name, text)
    standing = _standing(request)
    stands = {view.row_of(item.remembered.breadcrumb.id): item for unit in standing for item in unit}
    far = reach(view, profile)
    hot, older = _hot(view, profile, far.units, stands)
    hot = fitting(hot, far.first, profile.window)
    calls = told(hot, profile, rendering)
    draft.allowance -= calls.tokens
    shown = frozenset(candidate.row for unit in hot for candidate in unit) | {
        view.row_of(row.breadcrumb.id) for row in (*chain(*request.standing), request.trigger)
    }
    scores = request.reordered.scores if request.reordered else rank(request.query, view, request.ranker)
    scores = steadied(scores, view, profile, request.ranker, request.terms)
    found = retrieve(request.query, view, shown, profile, scores)
    wishes = _instructions(request, found)
    planned = Plan(
        trigger=(_whole(request.trigger, _section(profile, "trigger")),),
        hot=hot,
        standing=standing,
        summary=_summary(request, hot, far.moved),
        instructions=wishes.units,
        retrieval=_without(found.units, wishes.outdated),
        neighbours=_without(found.neighbours, wishes.outdated),
    )
    plan, compaction = fold(planned, profile, draft)
    missed = select(plan, profile, draft, older.note)
    page = compose(draft, profile, rendering, date)
    _check_room((*page.dropped, *missed), profile)
    return Context(
        trigger=request.trigger.breadcrumb,
        consumer=profile.consumer,
        assembled_at=request.trigger.breadcrumb.received_at,
        markdown=page.markdown,
        breakpoints=page.breakpoints,
        messages=messages(draft, profile, rendering, date, calls),
        shape=profile.messages,
        tokens=page.tokens,
        budget=profile.budget,
        encoding=profile.encoding,
        profile_revision=profile.revision,
        template_revision=rendering.revision,
        model=request.model,
        flags=_flags(request),
        sections=(sections := summarise(draft, profile)),
        compaction=compaction,
        omissions=_left_out(draft, (*page.dropped, *missed, *older.omissions, *wishes.omissions, *found.omissions), sections),
    )


def _check_room(missed: tuple[Omission, ...], profile: Profile) -> None:
    """A profile may refuse a page on which not everything has room (features C5)."""
    tight = [omission for omission in missed if omission.reason == OVER_BUDGET]
    if profile.over_budget == "fail" and tight:
        raise Rejected(
            f"{len(tight)} of what should be on the page, {tight[0].id} first, have no room in {profile.allowance} tokens; "
            f"raise `budget` in the profile {profile.consumer!r}, or let `over_budget` be fit"
        )


def _flags(request: Request) -> tuple[str, ...]:
    query, view, late, reordered = request.query, request.view, request.profile.retrieval.rerank, request.reordered
    found = {
        DEGRADED: bool(query.text.strip()) and not query.vector,
        VECTORS_MISSING: view.lacks_vectors,
        LATE_MISSING: bool(late and view.passages and query.text.strip()) and not (reordered and reordered.complete),
    }
    return tuple(flag for flag, is_so in found.items() if is_so)


def _instructions(request: Request, found: Found) -> InForce:
    """What holds for every answer; nothing when the profile has no place for it."""
    section = _section(request.profile, "instructions")
    return in_force(request.view, request.trigger, section, found.scores, request.terms) if section else InForce()


def _without(units: tuple[Unit, ...], rows: frozenset[int]) -> tuple[Unit, ...]:
    return tuple(unit for unit in units if not any(candidate.row in rows for candidate in unit))


def _left_out(draft: Draft, omissions: tuple[Omission, ...], sections: tuple[Section, ...]) -> tuple[Omission, ...]:
    """What of a tool's output is not shown, then each breadcrumb once, with its first reason, of which nothing is on the page."""
    on_page = {held for section in sections for held in section.ids}
    first = {omission.id: omission for omission in reversed(omissions) if omission.id not in on_page}
    reduced = (placed.fragment for placed in draft.placed.values() if placed.fragment.reduced)
    return (
        *(Omission(id=fragment.breadcrumb.id, reason=fragment.reduced) for fragment in reduced),
        *(omission for omission in omissions if first.get(omission.id) is omission),
    )


@dataclass(frozen=True, slots=True)
class _Older:
    """What of the hot window is left out. turns: tool turns that are too old."""

    omissions: tuple[Omission, ...]
    turns: int

    @property
    def note(self) -> str:
        """How many are left out, for the page (features A7)."""
        return f"({self.turns:,} earlier tool {'turn' if self.turns == 1 else 'turns'} left out)" if self.turns else ""


def _hot(view: View, profile: Profile, wanted: int, standing: Mapping[int, Candidate]) -> tuple[tuple[Unit, ...], _Older]:
    """The hot window newest first, repeats shown once, tool output only of the newest turns (features A7).

    wanted: most units of it. standing: rows that stand in a section of their own: an anchor is not said twice, and takes its
    place with its results.
    """
    sections = {rule.source: rule.name for rule in profile.sections}
    windows = hot_units(view, wanted)
    said = Counter(_saying(view, row) for rows in windows for row in rows)
    shown: set[tuple[str, bytes, int]] = set()
    turns = 0
    units: list[Unit] = []
    omissions: list[Omission] = []
    for rows in reversed(windows):
        turns += any(_is_tool(view, row) for row in rows)
        old = profile.window.max_tool_turns is not None and turns > profile.window.max_tool_turns
        kept: list[Candidate] = []
        for row in rows:
            if row in standing:
                continue
            remembered, tool = view.history.rows[row], _is_tool(view, row)
            saying = _saying(view, row)
            if old and (tool or _only_calls(view, row)):
                reason = f"older than the last {profile.window.max_tool_turns} tool turns"
                omissions.append(Omission(id=remembered.breadcrumb.id, reason=reason))
            elif saying in shown:
                omissions.append(Omission(id=remembered.breadcrumb.id, reason="repeat"))
            else:
                section = sections.get("tools" if tool else "hot", "")
                kept.append(Candidate(section=section, row=row, remembered=remembered, said=said[saying]))
                shown.update(() if tool else {saying})
        anchors = [standing[row] for row in rows if row in standing]
        units += [(*kept, *(anchors if any(candidate.remembered.breadcrumb.calls for candidate in kept) else ()))] if kept else []
    most = profile.window.max_tool_turns
    return tuple(units), _Older(tuple(omissions), 0 if most is None else max(turns - most, 0))


def _only_calls(view: View, row: int) -> bool:
    """Whether it says nothing but its calls."""
    crumb = view.history.rows[row].breadcrumb
    return bool(crumb.calls) and not crumb.text.strip()


def _is_tool(view: View, row: int) -> bool:
    return view.history.rows[row].breadcrumb.role == "tool"


def _saying(view: View, row: int) -> tuple[str, bytes, int]:
    """Who said what: the same word of two people is two things, and a call belongs to its result whatever was said with it."""
    remembered = view.history.rows[row]
    return remembered.breadcrumb.speaker, remembered.fingerprint, row if remembered.breadcrumb.calls else -1


def _standing(request: Request) -> tuple[Unit, ...]:
    """What stands, in the profile's order, of each kind the newest first; what is of two kinds stands with the first."""
    default = _section(request.profile, "standing")
    kinds = list(zip(request.profile.standing, request.standing, strict=True))
    placed = {row.breadcrumb.id: (_whole(row, wanted.section or default),) for wanted, rows in reversed(kinds) for row in rows}
    return tuple(placed[name] for name in dict.fromkeys(row.breadcrumb.id for _, rows in kinds for row in rows) if default)


def _summary(request: Request, hot: tuple[Unit, ...], moved: int) -> tuple[Unit, ...]:
    """The newest summary, without what the hot window tells itself; nothing while there is none, or no place for it."""
    section = _section(request.profile, "summary")
    told = frozenset(candidate.row for unit in hot for candidate in unit)
    summary = summary_shown(request.view, request.profile, told, moved) if section else None
    if summary is None:
        return ()
    return ((_whole(Remembered(breadcrumb=summary, passages=(), model="", fingerprint=b""), section),),)


def _section(profile: Profile, source: str) -> str:
    """The first section that this source fills."""
    return next((rule.name for rule in profile.sections if rule.source == source), "")


def _whole(remembered: Remembered, section: str) -> Candidate:
    return Candidate(section=section, row=-1, remembered=remembered)
