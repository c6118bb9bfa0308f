"""What of a summary a page shows: whole lines, and nothing that it says anyway."""

from dataclasses import replace

from builder.domain.profile import Profile
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
    profile = replace(profile, window=replace(profile.window, max_units=4, trim_to=2), budget=300)
    shown = (await page(builder, profile, 1900)).partition("## Recent")[0]
    there = [line for line in made if line["text"] in shown]
    assert 2 < len(there) < len(made)
    assert "left out" not in shown
    assert sorted(line["rank"] for line in there) == list(range(len(there)))


async def test_what_is_kept_word_for_word_has_room_on_the_page_uncut() -> None:
    builder, profile = make_builder(), replace(summing(cap=60, keep=4), budget=4_000)
    said = [f"Wish {n}: crate {n} shall hold {n * 7} blue cups, wrapped in paper, for the shop in Delft." for n in range(1, 41)]
    await remember(builder, [*(make_breadcrumb(text, n) for n, text in enumerate(said[:36], 1)), report(37)])
    await remember(builder, [make_breadcrumb(text, n) for n, text in enumerate(said[36:], 38)])
    await make_summarising(builder, Publishing(builder, BEHIND), profile).compact("acme", "s42", profile)
    shown = await summary(builder, profile)
    assert all(f"User: {text}\n" in shown for text in said[:36])
    assert "left out" not in shown


async def test_what_is_kept_word_for_word_and_has_no_room_is_left_out_in_whole_lines_with_a_note() -> None:
    builder, profile = make_builder(), replace(summing(cap=60, keep=4), budget=700)
    said = [f"Wish {n}: crate {n} shall hold {n * 7} blue cups, wrapped in paper, for the shop in Delft." for n in range(1, 41)]
    await remember(builder, [*(make_breadcrumb(text, n) for n, text in enumerate(said[:36], 1)), report(37)])
    await remember(builder, [make_breadcrumb(text, n) for n, text in enumerate(said[36:], 38)])
    await make_summarising(builder, Publishing(builder, BEHIND), profile).compact("acme", "s42", profile)
    shown = await summary(builder, profile)
    kept = [text for text in said[:36] if f"User: {text}\n" in shown]
    assert kept == said[36 - len(kept) : 36]
    assert len(kept) > 3
    assert f"({36 - len(kept)} earlier messages kept word for word have no room here)" in shown
