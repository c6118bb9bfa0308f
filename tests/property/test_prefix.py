"""What a prompt cache may rely on: breakpoints tell the truth, and the beginning of the conversation moves in jumps."""

from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise

from hypothesis import given, reject
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from tests.conversations import conversation, ids_of
from tests.examples import examples
from tests.factories import make_context, make_profile, make_remembered, make_turn
from tests.property.sessions import Session, catalogs, sessions
from tests.property.test_budget import profiles


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


def growing(words: list[int], profile: Profile) -> list[Context]:
    """The page after each message."""
    rows = [make_turn(" ".join(["kiln"] * count) + f" {n}", n) for n, count in enumerate(words, 1)]
    return [make_context(make_remembered("And now?", n + 1), rows[:n], profile) for n in range(1, len(words) + 1)]


def plain(budget: int, keep_share: float) -> Profile:
    """Nothing but the conversation and the current message."""
    profile = make_profile(budget=budget, summaries=None, retrieval={"schemas": ()}, window={"keep_share": keep_share})
    return replace(profile, sections=tuple(rule for rule in profile.sections if rule.source in {"window", "trigger"}))


def begins(pages: list[Context]) -> list[int]:
    """Number of the first message that each page shows; every page shows all from there on."""
    found = []
    for number, page in enumerate(pages, 1):
        shown = [int(name[1:]) for name in ids_of(page, "recent")]
        assert shown == list(range(number + 1 - len(shown), number + 1))
        found.append(shown[0] if shown else number + 1)
    return found


@examples(40)
@given(lengths, st.integers(200, 2000), st.sampled_from((0.25, 0.5, 0.75, 1)))
def test_the_conversation_never_goes_back_to_what_it_has_left(words: list[int], budget: int, keep_share: float) -> None:
    pages = growing(words, plain(budget, keep_share))
    assert all(page.tokens <= budget for page in pages)
    first = begins(pages)
    assert first == sorted(first)


@examples(12)
@given(st.integers(5, 30), st.integers(400, 1200))
def test_between_two_jumps_the_front_of_the_page_is_the_same_bytes(words: int, budget: int) -> None:
    pages = growing([words] * 60, plain(budget, 0.5))
    first = begins(pages)
    for (before, start), (after, then) in pairwise(zip(map(conversation, pages), first, strict=True)):
        assert start != then or after.startswith(before)
    jumps = sum(before != after for before, after in pairwise(first))
    share = next(rule.max_share for rule in plain(budget, 0.5).sections if rule.source == "window")
    assert jumps <= 2 + 60 * (words + 10) / (0.5 * share * budget)


@examples(40)
@given(lengths, st.integers(200, 2000), st.text(max_size=40), st.text(max_size=40))
def test_what_is_asked_changes_nothing_in_front_of_the_finds(words: list[int], budget: int, one: str, other: str) -> None:
    rows = [make_turn(" ".join(["kiln"] * count) + f" {n}", n) for n, count in enumerate(words, 1)]
    profile = make_profile(budget=budget)
    pages = [make_context(make_remembered(text, 900), rows, profile) for text in (f"a{one}", f"a{other}")]
    whole = [len(ids_of(page, "recent")) == len(rows) for page in pages]
    assert whole[0] != whole[1] or conversation(pages[0]) == conversation(pages[1])
