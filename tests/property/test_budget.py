"""Whatever was said, in whatever script: the page fits, ends with the current message, and tears nothing apart."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.assemble.forms import REDUCED
from builder.domain.errors import Rejected
from builder.domain.facts import Remembered
from builder.domain.profile import Cut, Profile, ToolOutput
from builder.rendering.results import CUT, SHRUNK
from tests.factories import ids_on_page, make_context, make_profile, make_view
from tests.property.sessions import Session, catalogs, hear, sentences, sessions

REASONS = {*REDUCED.values(), CUT, SHRUNK}
budgets = st.one_of(st.integers(60, 400), st.integers(60, 4000))


@st.composite
def outputs(draw: st.DrawFn) -> ToolOutput:
    """Every setting of tool output, also the strange ones."""
    cuts = st.builds(Cut, results=st.sampled_from((None, 1, 4)), characters=st.sampled_from((None, 1, 30, 500)))
    return ToolOutput(
        cut=draw(cuts),
        per_tool={"search": draw(cuts)} if draw(st.booleans()) else {},
        old_tools=draw(st.sampled_from(((), ("search",)))),
        old_characters=draw(st.sampled_from((1, 80, 1500))),
        placeholder_after=draw(st.sampled_from((None, 0, 1, 3))),
        fold_at=draw(st.sampled_from((None, 0.01, 0.3, 0.7, 1))),
        fold_keep=draw(st.sampled_from((0, 1, 4))),
        newest_only=draw(st.booleans()),
    )


@st.composite
def profiles(draw: st.DrawFn, budget: st.SearchStrategy[int] = budgets) -> Profile:
    """Both bundled profiles, both tokenizers and pages, any budget, every setting of tool output, any number of tool turns."""
    profile = make_profile(draw(st.sampled_from(("default", "recall"))))
    turns = draw(st.sampled_from((None, 0, 1, profile.window.max_tool_turns)))
    relevance = draw(st.sampled_from((None, profile.retrieval.relevance_threshold)))
    return replace(
        profile,
        budget=draw(budget),
        page=draw(st.sampled_from(("default", "default", "xml"))),
        tool_output=draw(outputs()),
        encoding=draw(st.sampled_from(("o200k_base", "cl100k_base"))),
        window=replace(profile.window, max_tool_turns=turns),
        retrieval=replace(profile.retrieval, relevance_threshold=relevance),
    )


@settings(max_examples=150, deadline=None)
@given(sessions(), catalogs(), profiles())
def test_the_final_markdown_never_exceeds_the_budget(
    session: Session, standing: tuple[Remembered, ...], profile: Profile
) -> None:
    context = make_context(session.trigger, session.rows, profile, standing)
    assert load_counter(profile.encoding)(context.markdown) == context.tokens <= profile.budget


@settings(max_examples=150, deadline=None)
@given(sentences(), profiles(st.integers(1, 60)))
def test_a_budget_in_which_nothing_fits_is_refused_and_never_exceeded(text: str, profile: Profile) -> None:
    with suppress(Rejected):
        context = make_context(hear(1, "user.message.v1", {"content": text}), [], profile)
        assert load_counter(profile.encoding)(context.markdown) <= profile.budget


@settings(max_examples=100, deadline=None)
@given(sessions(), catalogs(), profiles())
def test_the_current_message_is_always_on_the_page_and_last(
    session: Session, standing: tuple[Remembered, ...], profile: Profile
) -> None:
    context = make_context(session.trigger, session.rows, profile, standing)
    crumb = session.trigger.breadcrumb
    assert context.sections[-1].ids == (crumb.id,)
    before, heading, last = context.markdown.rpartition("<current>" if profile.page == "xml" else "## Current User Message")
    assert heading
    assert not before or before.endswith("\n\n")
    assert last.startswith(f"\n- {crumb.speaker}:")
    assert "characters left out" in last or all(word in last for word in crumb.text.split())


@settings(max_examples=100, deadline=None)
@given(sessions(), catalogs(), profiles())
def test_nothing_is_on_the_page_twice_or_both_there_and_left_out(
    session: Session, standing: tuple[Remembered, ...], profile: Profile
) -> None:
    context = make_context(session.trigger, session.rows, profile, standing)
    shown, omitted = ids_on_page(context), [omission.id for omission in context.omissions]
    assert len(set(shown)) == len(shown)
    assert len(set(omitted)) == len(omitted)
    reduced = {omission.id for omission in context.omissions if omission.reason in REASONS}
    assert reduced <= set(shown)
    assert set(shown).isdisjoint(set(omitted) - reduced)


@settings(max_examples=150, deadline=None)
@given(sessions(most=40), profiles())
def test_a_tool_exchange_is_whole_or_absent(session: Session, profile: Profile) -> None:
    context = make_context(session.trigger, session.rows, profile)
    shown = set(ids_on_page(context))
    told = {omission.id for omission in context.omissions if omission.reason == "repeat"}  # its words are on the page
    for unit in exchanges(session.rows):
        whole = {row.breadcrumb.id for row in unit}
        tools = {row.breadcrumb.id for row in unit if row.breadcrumb.role == "tool"}
        if profile.window.max_tool_turns is None and profile.consumer == "default":
            assert whole <= shown | told or whole.isdisjoint(shown)
        assert (whole <= shown | told and tools <= shown) or tools.isdisjoint(shown)


def exchanges(rows: tuple[Remembered, ...]) -> list[list[Remembered]]:
    """Current rows that share a request id or are versions of one another, directly or through others: by brute force.

    What was recalled of no session has joined none here.
    """
    current = make_view(rows).current
    crumbs = [row.breadcrumb for row in rows]
    marks = [{f"{crumb.session} {held}" for held in (f"id {crumb.id}", *crumb.calls)} for crumb in crumbs]
    groups: list[list[int]] = []
    for n, mine in enumerate(marks):
        linked = [group for group in groups if any(mine & marks[m] for m in group)]
        groups = [group for group in groups if group not in linked]
        groups.append([*(m for group in linked for m in group), n])
    return [[rows[m] for m in group if current[m]] for group in groups]


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_more_budget_never_shows_less_of_a_plain_conversation(encoding: str) -> None:
    rows = [hear(n, "user.message.v1", {"content": f"Remark number {n} about the garden."}) for n in range(1, 15)]
    trigger = hear(99, "user.message.v1", {"content": "And now?"})
    lengths = [
        len(ids_on_page(make_context(trigger, rows, make_profile(budget=budget, encoding=encoding, window={"keep_share": 1}))))
        for budget in range(60, 500, 20)
    ]
    assert lengths == sorted(lengths)
    assert lengths[-1] == 15
