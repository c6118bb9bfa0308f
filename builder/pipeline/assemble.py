"""`assemble`: recall → context. Reads top to bottom: rank, dedup, select (rendering lazily), compose."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from builder.domain.context import DEGRADED, LATE_MISSING, VECTORS_MISSING, Context, Omission, Section
from builder.domain.facts import Remembered
from builder.domain.profile import Profile
from builder.pipeline.compose import compose, summarise
from builder.pipeline.draft import Draft, Rendering
from builder.pipeline.in_force import InForce, in_force
from builder.pipeline.late import Reordered
from builder.pipeline.query import Query
from builder.pipeline.rank import Ranker, rank
from builder.pipeline.retrieve import Found, retrieve
from builder.pipeline.select import Plan, select
from builder.pipeline.summaries import summary_shown
from builder.pipeline.units import Candidate, Unit, hot_units
from builder.pipeline.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question of one consumer: everything that assembly needs to know.

    standing: for each of the profile's, what was found, newest first.
    terms: text → stemmed terms joined by spaces. model: engine of the vectors.
    reordered: the ranking when late interaction had its say in it, for which token vectors had to be read; None = rank here.
    """

    trigger: Remembered
    query: Query
    view: View
    standing: tuple[tuple[Remembered, ...], ...]
    profile: Profile
    ranker: Ranker
    terms: Callable[[str], str]
    model: str
    reordered: Reordered | None = None


def assemble(request: Request, rendering: Rendering) -> Context:
    """One page under the budget. Raises `Rejected` when the parts that cannot be dropped do not fit."""
    profile, view = request.profile, request.view
    draft = Draft(profile.allowance, profile.page, profile.sections, rendering, view.date)
    hot, folded = _hot(view, profile)
    shown = frozenset(candidate.row for unit in hot for candidate in unit) | {
        view.row_of(row.breadcrumb.id) for row in (*chain(*request.standing), request.trigger)
    }
    scores = request.reordered.scores if request.reordered else rank(request.query, view, request.ranker)
    found = retrieve(request.query, view, shown, profile, scores)
    told = _instructions(request, found)
    plan = Plan(
        trigger=(_whole(request.trigger, _section(profile, "trigger")),),
        hot=hot,
        standing=_standing(request),
        summary=_summary(request, hot),
        instructions=told.units,
        retrieval=_without(found.units, told.outdated),
        neighbours=_without(found.neighbours, told.outdated),
    )
    missed = select(plan, profile, draft)
    page = compose(draft, profile, rendering, view.date)
    return Context(
        trigger=request.trigger.breadcrumb,
        consumer=profile.consumer,
        assembled_at=request.trigger.breadcrumb.received_at,
        markdown=page.markdown,
        prefix_end=page.prefix_end,
        tokens=page.tokens,
        budget=profile.budget,
        encoding=profile.encoding,
        profile_revision=profile.revision,
        template_revision=rendering.revision,
        model=request.model,
        flags=_flags(request),
        sections=(sections := summarise(draft, profile)),
        omissions=_left_out((*page.dropped, *missed, *folded, *told.omissions, *found.omissions), sections),
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


def _left_out(omissions: tuple[Omission, ...], sections: tuple[Section, ...]) -> tuple[Omission, ...]:
    """Each breadcrumb once, with its first reason, and none of which anything is on the page."""
    on_page = {held for section in sections for held in section.ids}
    first = {omission.id: omission for omission in reversed(omissions) if omission.id not in on_page}
    return tuple(omission for omission in omissions if first.get(omission.id) is omission)


def _hot(view: View, profile: Profile) -> tuple[tuple[Unit, ...], tuple[Omission, ...]]:
    """The hot window newest first, repeats shown once, tool output only of the newest turns (features A7)."""
    sections = {rule.source: rule.name for rule in profile.sections}
    windows = hot_units(view, profile.window)
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
            remembered, tool = view.history.rows[row], _is_tool(view, row)
            saying = _saying(view, row)
            if tool and old:
                reason = f"older than the last {profile.window.max_tool_turns} tool turns"
                omissions.append(Omission(id=remembered.breadcrumb.id, reason=reason))
            elif saying in shown:
                omissions.append(Omission(id=remembered.breadcrumb.id, reason="repeat"))
            else:
                section = sections.get("tools" if tool else "hot", "")
                kept.append(Candidate(section=section, row=row, remembered=remembered, said=said[saying]))
                shown.update(() if tool else {saying})
        units += [tuple(kept)] if kept else []
    return tuple(units), tuple(omissions)


def _is_tool(view: View, row: int) -> bool:
    return view.history.rows[row].breadcrumb.role == "tool"


def _saying(view: View, row: int) -> tuple[str, bytes, int]:
    """Who said what: the same word of two people is two things, and a call belongs to its result whatever was said with it."""
    remembered = view.history.rows[row]
    return remembered.breadcrumb.speaker, remembered.fingerprint, row if remembered.breadcrumb.calls else -1


def _standing(request: Request) -> tuple[Unit, ...]:
    """What stands, in the profile's order, of each kind the newest first."""
    default = _section(request.profile, "standing")
    kinds = zip(request.profile.standing, request.standing, strict=True)
    return tuple((_whole(row, wanted.section or default),) for wanted, rows in kinds for row in rows)


def _summary(request: Request, hot: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """The newest summary, without what the hot window tells itself; nothing while there is none, or no place for it."""
    section = _section(request.profile, "summary")
    told = frozenset(candidate.row for unit in hot for candidate in unit)
    summary = summary_shown(request.view, request.profile, told) if section else None
    if summary is None:
        return ()
    return ((_whole(Remembered(breadcrumb=summary, passages=(), model="", fingerprint=b""), section),),)


def _section(profile: Profile, source: str) -> str:
    """The first section that this source fills."""
    return next((rule.name for rule in profile.sections if rule.source == source), "")


def _whole(remembered: Remembered, section: str) -> Candidate:
    return Candidate(section=section, row=-1, remembered=remembered)
