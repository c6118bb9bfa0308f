"""What a prompt cache may rely on: breakpoints tell the truth, and the beginning of the conversation moves in jumps."""

from dataclasses import replace
from hashlib import blake2b

from hypothesis import given, reject
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.recall import StoredBreadcrumb
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


@examples(40)
@given(lengths, st.integers(200, 2000), st.text(max_size=40), st.text(max_size=40))
def test_what_is_asked_changes_nothing_in_front_of_the_finds(words: list[int], budget: int, one: str, other: str) -> None:
    """Without the fill, which gives the conversation what finds do not use."""
    rows = [make_turn(" ".join(["kiln"] * count) + f" {n}", n) for n, count in enumerate(words, 1)]
    profile = replace(make_profile(budget=budget), fill=False)
    pages = [make_context(make_remembered(text, 900), rows, profile) for text in (f"a{one}", f"a{other}")]
    whole = [len(ids_of(page, "recent")) == len(rows) for page in pages]
    assert whole[0] != whole[1] or conversation(pages[0]) == conversation(pages[1])
