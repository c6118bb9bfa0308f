"""What of summaries a page shows: whole lines, nothing that it says anyway, and those of a person's other sessions."""

from dataclasses import replace

from builder.domain.profile import Profile
from builder.service import ContextBuilder
from tests.factories import make_breadcrumb, make_place
from tests.summarised import (
    BEHIND,
    Publishing,
    lines,
    make_builder,
    make_summarising,
    page,
    remember,
    report,
    summary,
    summing,
    talk,
)


def with_few_units(profile: Profile, max_results: int) -> Profile:
    """The conversation on the page begins late, and so much is found of the rest."""
    retrieval = replace(profile.retrieval, max_results=max_results, min_probability=None)
    return replace(profile, window=replace(profile.window, max_units=4, trim_to=2), retrieval=retrieval)


async def test_a_line_that_the_instructions_show_is_not_shown_in_the_summary_too() -> None:
    builder, profile = make_builder(), summing(cap=300)
    rule = "Always quote prices of Delft kilns in 2 currencies."
    await remember(builder, [make_breadcrumb(rule, 1), *[replace(crumb, id=f"x{crumb.id}") for crumb in talk(20)[1:]]])
    publishing = Publishing(builder, BEHIND)
    await make_summarising(builder, publishing, profile).look("acme", "s42", make_place(20))
    assert any(rule in line["text"] for line in lines(publishing.out[-1]))
    shown = await page(builder, with_few_units(profile, max_results=0), 1900)
    above, instructions = shown.partition("## Standing Instructions")[::2]
    assert "## Earlier in this conversation" in above
    assert rule in instructions
    assert rule not in above


async def test_a_line_whose_words_are_found_or_stand_in_a_cut_message_is_not_shown_in_the_summary_too() -> None:
    """Finds are put once the summary is on the page."""
    builder, profile = make_builder(), summing(cap=300)
    facts = ("The blue kiln is K-4711.", "Bob brings the clay from Limoges.", "The rent of the studio is 900 euros.")
    await remember(builder, [make_breadcrumb(facts[n // 9] if n % 9 == 0 else f"And week {n}?", n + 1) for n in range(27)])
    await make_summarising(builder, Publishing(builder, BEHIND), profile).look("acme", "s42", make_place(27))
    without = await page(builder, with_few_units(profile, max_results=0), 1900, "What is the rent of the studio?")
    assert all(f"User: {fact}" in without for fact in facts)
    found = await page(builder, with_few_units(profile, max_results=1), 1900, "What is the rent of the studio?")
    assert [found.count(fact) for fact in facts] == [1, 1, 1]
    assert facts[2] in found.partition("## Recent")[2]


async def test_a_page_without_room_for_all_shows_whole_lines_and_the_most_telling_ones() -> None:
    builder, profile = make_builder(), summing(cap=400, keep=2)
    await remember(builder, [make_breadcrumb(f"Crate {n} holds {n * 7} cups for Delft, says Nina {n}.", n) for n in range(1, 41)])
    publishing = Publishing(builder, BEHIND)
    await make_summarising(builder, publishing, profile).look("acme", "s42", make_place(40))
    made = lines(publishing.out[-1])
    shown = await summary(builder, replace(profile, budget=2400))
    there = [line for line in made if line["text"] in shown]
    assert 2 < len(there) < len(made)
    assert "left out" not in shown
    assert sorted(line["rank"] for line in there) == list(range(len(there)))


async def compacted_wishes(budget: int) -> tuple[list[str], str]:
    """Wishes that are kept word for word, and the summary on a page of this budget."""
    builder, profile = make_builder(), replace(summing(cap=60, keep=4), budget=budget)
    said = [f"Wish {n}: crate {n} shall hold {n * 7} blue cups, wrapped in paper, for the shop in Delft." for n in range(1, 41)]
    await remember(builder, [*(make_breadcrumb(text, n) for n, text in enumerate(said[:36], 1)), report(37)])
    await remember(builder, [make_breadcrumb(text, n) for n, text in enumerate(said[36:], 38)])
    await make_summarising(builder, Publishing(builder, BEHIND), profile).compact("acme", "s42", profile)
    return said[:36], await summary(builder, profile)


async def test_what_is_kept_word_for_word_has_room_on_the_page_uncut() -> None:
    wishes, shown = await compacted_wishes(4_000)
    assert all(f"User: {text}\n" in shown for text in wishes)
    assert "left out" not in shown


async def test_what_is_kept_word_for_word_and_has_no_room_is_left_out_in_whole_lines_with_a_note() -> None:
    wishes, shown = await compacted_wishes(700)
    kept = [text for text in wishes if f"User: {text}\n" in shown]
    assert kept == wishes[36 - len(kept) :]
    assert len(kept) > 3
    assert f"({36 - len(kept)} earlier messages kept word for word have no room here)" in shown


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
    for each in (profile, narrow(profile, 500)):
        section = await memory_section(builder, each)
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
