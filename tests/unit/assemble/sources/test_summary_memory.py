"""The summaries of a person's other sessions on a page."""

from dataclasses import replace

from builder.domain.profile import Profile
from builder.service import ContextBuilder
from tests.factories import make_breadcrumb, make_place
from tests.summarised import Publishing, make_builder, make_summarising, summing, talk

TITLE = "## Earlier Conversations"
APART = 100


def remembering() -> Profile:
    profile = summing(cap=300)
    return replace(profile, retrieval=replace(profile.retrieval, scope="user"), budget=4_000)


async def session_of(builder: ContextBuilder, profile: Profile, session: str, users: tuple[str, ...], start: int) -> Publishing:
    """A session of twenty messages of these people in turn, and its summary."""
    for number, crumb in enumerate(talk(20)):
        place = make_place(start + number)
        user = users[number % len(users)]
        text = crumb.text if crumb.role != "user" else f"{user.title()} of {session}: {crumb.text}"
        row = replace(
            crumb, id=f"{session}-{number}", session=session, place=place, user_id=user if crumb.role == "user" else "", text=text
        )
        await builder.remember(row)
    publishing = Publishing(builder, make_place(start + 20))
    await make_summarising(builder, publishing, profile).look("acme", session, make_place(start + 19))
    assert publishing.out
    return publishing


async def memory_section(builder: ContextBuilder, profile: Profile, user: str = "ada") -> str:
    built = await builder.build(make_breadcrumb("Hello!", 5_000, session="new", user_id=user), (profile,))
    (context,) = built.contexts
    assert context.tokens <= context.budget
    return context.markdown.partition(TITLE)[2].partition("\n## ")[0]


def narrow(profile: Profile, budget: int = 700, max_share: float = 0.3) -> Profile:
    """A page that has no room for all, with a large section for the memory."""
    sections = tuple(replace(rule, max_share=max_share) if rule.source == "memory" else rule for rule in profile.sections)
    return replace(profile, budget=budget, sections=sections)


async def test_a_memory_that_fits_is_shown_whole_in_its_order_whatever_is_asked() -> None:
    builder, profile = make_builder(), remembering()
    await session_of(builder, profile, "mon", ("ada",), 1)
    await session_of(builder, profile, "tue", ("ada",), 1 + APART)
    await session_of(builder, profile, "bobs", ("bob",), 1 + 2 * APART)
    lines = [line for line in (await memory_section(builder, profile)).split("\n") if line.startswith("- ")]
    assert lines.pop(20) == "- (another conversation)"
    assert len(lines) == 40
    assert ["of mon" in line for line in lines if "Ada of" in line] == [True] * 20 + [False] * 20
    assert not any("Bob of" in line for line in lines)


async def test_one_that_does_not_fit_is_shown_in_its_newest_part_and_in_summaries_of_the_rest() -> None:
    builder, profile = make_builder(), narrow(remembering())
    await session_of(builder, profile, "mon", ("ada",), 1)
    await session_of(builder, profile, "tue", ("ada",), 1 + APART)
    section = await memory_section(builder, profile)
    summaries, _, newest = section.rpartition("\n[8 May 2024]\n")
    assert "Ada of mon" in summaries
    assert "Ada of mon" not in newest
    assert newest.rstrip().endswith(list(talk(20))[-1].text)
    assert "week number 20?" not in summaries


async def test_of_a_session_of_several_people_only_the_persons_own_part_is_shown_whole_or_in_lines() -> None:
    builder, profile = make_builder(), remembering()
    await session_of(builder, profile, "group", ("ada", "ada", "bob", "bob"), 1)
    for page in (profile, narrow(profile, 500)):
        section = await memory_section(builder, page)
        assert "Ada of group" in section
        assert "Bob of group" not in section


async def test_without_a_person_or_in_the_scope_of_the_session_there_is_none() -> None:
    builder, profile = make_builder(), remembering()
    await session_of(builder, profile, "mon", ("ada",), 1)
    assert await memory_section(builder, profile, user="") == ""
    own = replace(profile, retrieval=replace(profile.retrieval, scope="session"))
    assert await memory_section(builder, own) == ""


async def test_beside_a_conversation_that_does_not_fit_only_summaries_have_room() -> None:
    builder, profile = make_builder(), narrow(remembering(), 600, 0.2)
    await session_of(builder, profile, "mon", ("ada",), 1)
    await session_of(builder, profile, "new", ("ada",), 1 + APART)
    for number in range(30):
        await builder.remember(
            make_breadcrumb(f"Step {number} of the long talk about kilns.", 500 + number, session="new", user_id="ada")
        )
    section = await memory_section(builder, profile)
    assert "Ada of mon" in section
    assert "[8 May 2024]\n" not in section
