"""Whatever the settings: folding moves, splits, repeats and drops nothing, and touches nothing but results."""

from dataclasses import replace
from itertools import chain

from hypothesis import given, settings

from builder.domain.profile import Profile
from builder.pipeline.draft import Draft
from builder.pipeline.fold import fold, is_result
from builder.pipeline.hot import hot_window
from builder.pipeline.select import Plan
from builder.pipeline.units import WHOLE, Candidate
from tests.factories import make_rendering, make_view
from tests.property.sessions import Session, sessions
from tests.property.test_budget import profiles


@settings(max_examples=80, deadline=None)
@given(sessions(most=40), profiles())
def test_units_keep_their_candidates_and_only_results_change_their_form(session: Session, profile: Profile) -> None:
    view = make_view(session.rows)
    hot = hot_window(view, profile, {}).units
    current = (Candidate(section="current", row=-1, remembered=session.trigger),)
    found = tuple(tuple(replace(item, section="relevant") for item in unit) for unit in hot[3:])
    plan = Plan(trigger=current, hot=hot[:3], standing=(), summary=(), instructions=(), retrieval=found, neighbours=())
    draft = Draft(profile.allowance, profile.page, profile.sections, make_rendering(profile.encoding), lambda *_: "")
    folded, compaction = fold(plan, profile, draft)
    assert rows(folded.hot) == rows(plan.hot)
    assert rows(folded.retrieval) == rows(plan.retrieval)
    assert all(item.form == WHOLE for item in chain(*folded.hot, *folded.retrieval) if not is_result(item))
    newest = folded.hot[: profile.tool_output.fold_keep]
    assert not any(item.form.line == "folded" for item in chain(*newest, *folded.retrieval))
    lines = [item.remembered.breadcrumb.id for item in chain(*folded.hot) if item.form.line == "folded"]
    if compaction is None:
        assert not lines
    else:
        assert sorted(compaction.folded) == sorted(lines)
        assert compaction.original > compaction.compacted
        assert compaction.original > (profile.tool_output.fold_at or 1) * profile.allowance - 1


def rows(units: tuple[tuple[Candidate, ...], ...]) -> list[list[tuple[str, int]]]:
    """Sections and rows, unit by unit."""
    return [[(item.section, item.row) for item in unit] for unit in units]
