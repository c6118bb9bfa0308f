"""Whatever was said, in whatever script: the page fits, tears nothing apart, and its breakpoints and its front tell the truth."""

import re
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b

from hypothesis import assume, example, given, reject
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.domain.tool_output import Cut, ToolOutput
from builder.extras.chat_formats.formats import FORMATS
from tests.examples import examples
from tests.factories import ids_on_page, make_context, make_profile, make_remembered, make_rendering, make_turn
from tests.property.sessions import Session, catalogs, hear, sentences, sessions
from tests.two_sections import two_sections

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
        fold_keep=draw(st.sampled_from((None, 1, 4))),
        newest_only=draw(st.booleans()),
    )


@st.composite
def profiles(draw: st.DrawFn, budget: st.SearchStrategy[int] = budgets) -> Profile:
    """Bundled profiles and one of two sections, any tokenizer, page, budget, limit and share, with messages or without."""
    profile = draw(st.sampled_from((make_profile(), two_sections(), make_profile("recall"))))
    most_of = draw(st.sampled_from((0, 0.1, 0.4, 1)))
    shares = {source: draw(st.sampled_from(((0, 1), (0, most_of), (most_of / 2, 1)))) for source in ("window", "retrieval")}
    most = draw(st.sampled_from((None, None, 0, 3, 12)))
    window = replace(
        profile.window,
        max_units=most,
        trim_to=most // 2 if most else 0,
        max_tool_turns=draw(st.sampled_from((None, None, 0, 1, 3))),
    )
    retrieval = replace(
        profile.retrieval,
        min_probability=draw(st.sampled_from((None, profile.retrieval.min_probability))),
        per_schema_limit=draw(st.sampled_from(({}, {"user.message.v1": 2, "tool.response.v1": 0}))),
        neighbours=draw(st.sampled_from((0, 2))),
    )
    return replace(
        profile,
        budget=draw(budget),
        page=draw(st.sampled_from(("default", "default", "xml"))),
        tool_output=draw(outputs()),
        encoding=draw(st.sampled_from(("o200k_base", "cl100k_base"))),
        window=window,
        retrieval=retrieval,
        system_prompt=draw(st.sampled_from(("", "", "Be brief.", "Never guess. " * 60))),
        chat_format=draw(st.sampled_from((None, None, *FORMATS.values()))),
        worth=draw(st.sampled_from((None, profile.worth, 2000))),
        fill=draw(st.booleans()),
        sections=tuple(
            replace(rule, min_share=shares[rule.source][0], max_share=shares[rule.source][1]) if rule.source in shares else rule
            for rule in profile.sections
        ),
    )


def built(session: Session, profile: Profile, standing: tuple[StoredBreadcrumb, ...] = ()) -> Context:
    """The page; a budget that is too small for it is none of these tests'."""
    try:
        return make_context(session.trigger, session.rows, profile, standing)
    except Rejected:
        assume(False)
        raise


@examples(40)
@given(sentences(), profiles(st.integers(1, 60)))
def test_a_budget_in_which_nothing_fits_is_refused_and_never_exceeded(text: str, profile: Profile) -> None:
    with suppress(Rejected):
        context = make_context(hear(1, "user.message.v1", {"content": text}), [], profile)
        assert load_counter(profile.encoding)(context.markdown) <= profile.budget


@examples(75)
@given(sessions(), catalogs(), profiles())
def test_the_page_fits_ends_with_the_current_message_and_tells_what_is_on_it_apart_from_what_is_not(
    session: Session, standing: tuple[StoredBreadcrumb, ...], profile: Profile
) -> None:
    context = built(session, profile, standing)
    assert load_counter(profile.encoding)(context.markdown) == context.tokens <= profile.budget
    check_end(context, session, profile)
    shown, omitted = set(ids_on_page(context)), [omission.id for omission in context.omissions]
    assert len(set(omitted)) == len(omitted) <= 50
    assert {part.id for part in context.partial} <= shown
    assert all(0 < part.tokens_shown <= part.tokens for part in context.partial)
    assert shown.isdisjoint(omitted)
    assert len(omitted) <= sum(context.left_out.values())
    assert {omission.reason for omission in context.omissions} <= set(context.left_out)


def check_end(context: Context, session: Session, profile: Profile) -> None:
    """The current message is on the page, and last."""
    crumb = session.trigger.breadcrumb
    assert context.sections[-1].ids == (crumb.id,)
    before, heading, last = context.markdown.rpartition("<current>" if profile.page == "xml" else "## Current User Message")
    assert heading
    assert not before or before.endswith("\n\n")
    assert re.match(rf"\n(\[\d+ \w+ \d{{4}}\]\n)?- {crumb.speaker}:", last)
    assert "characters left out" in last or all(word in last for word in crumb.text.split())


@examples(60)
@given(
    st.lists(sentences() | st.text(max_size=30) | st.sampled_from(("- ", "#", "[", "<", "\n", "\n\n", "  - x", "\r", "\t"))),
    st.booleans(),
)
def test_any_text_is_counted_by_its_lines_as_it_is_counted_whole(parts: list[str], dense: bool) -> None:
    text = ("" if dense else "\n").join(parts)
    for encoding in ("o200k_base", "cl100k_base"):
        assert make_rendering(encoding).page_tokens(text) == load_counter(encoding)(text)


@examples(40)
@given(sessions(), catalogs(), profiles())
def test_the_tokens_of_a_breakpoint_are_the_true_count_of_the_text_in_front_of_it(
    session: Session, standing: tuple[StoredBreadcrumb, ...], profile: Profile
) -> None:
    try:
        context = make_context(session.trigger, session.rows, profile, standing)
    except Rejected:
        reject()  # the current message has no room
    for cut in context.breakpoints:
        front = context.markdown[: cut.characters]
        assert cut.tokens == load_counter(context.encoding)(front)
        assert cut.prefix == blake2b(front.encode(), digest_size=8).hexdigest()
    assert [cut.characters for cut in context.breakpoints] == sorted({cut.characters for cut in context.breakpoints})


lengths = st.lists(st.integers(1, 60), min_size=1, max_size=60)


@examples(40)
@given(lengths, st.integers(200, 2000), st.text(max_size=40), st.sampled_from(("default", "two sections")))
@example([20] * 40, 1000, "", "default")
@example([20] * 40, 1000, "", "two sections")
def test_without_the_fill_a_conversation_that_does_not_fit_has_no_more_than_its_least_share(
    words: list[int], budget: int, text: str, layout: str
) -> None:
    """But for the heading, a date and a note, which are no part of it."""
    rows = [make_turn(" ".join(["kiln"] * count) + f" {n}", n) for n, count in enumerate(words, 1)]
    profile = make_profile(two_sections() if layout == "two sections" else layout, budget=budget, fill=False)
    context = make_context(make_remembered(f"a{text}", 900), rows, profile)
    newest = [section for section in context.sections if section.name in {"recent", "conversation"}]
    if sum(len(section.ids) for section in context.sections) <= len(rows):
        assert sum(section.tokens for section in newest) <= 0.14 * budget + 40
