"""The section of standing instructions: what holds now, once, and nothing that stands elsewhere on the page."""

import pytest

from builder.domain.context import Context
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import conversation
from tests.factories import ids_on_page, make_context, make_profile, make_remembered, make_tombstone, make_turn

TALK = [make_turn(f"Remark number {n} on the weather over there.", n) for n in range(100, 200)]
ASKED = make_remembered("What did the supplier say about the clay?", 900)


PROFILE = make_profile(budget=900)
"""The conversation has no room on it."""


def page(*told: StoredBreadcrumb, asked: StoredBreadcrumb = ASKED) -> Context:
    return make_context(asked, [*told, *TALK], PROFILE)


def instructions(context: Context) -> list[str]:
    return [held for section in context.sections if section.name == "instructions" for held in section.ids]


def omitted(context: Context) -> dict[str, str]:
    return {omission.id: omission.reason for omission in context.omissions}


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (["Always answer in English.", "From now on answer in German."], ["m1", "m2"]),
        (["Keep your answers under 100 words.", "Keep your answers under 60 words."], ["m1", "m2"]),
        (["Call me Sam.", "Call me Alex."], ["m1", "m2"]),
        (["Never call me before 9.", "Never call me after 18."], ["m1", "m2"]),
        (["Always quote prices in euros.", "Never quote prices in euros for US customers."], ["m1", "m2"]),
        (["Never push to main.", "You can push to staging again."], ["m1", "m2"]),
        (["Never delete files.", "You can delete temporary files again."], ["m1", "m2"]),
        (["Never ship anything without a picture.", "You can use emojis again."], ["m1"]),
        (["Never use emojis.", "You can use emojis again."], []),
        (["Never use emojis.", "You can use emojis again.", "Never use emojis."], ["m3"]),
        (["Never use emojis.", "The clay is always from the supplier in Delft.", "Always name its supplier."], ["m1", "m3"]),
    ],
)
def test_what_differs_stands_in_order_and_a_permission_ends_its_rule_or_stands_beside_one_that_it_touches(
    told: list[str], shown: list[str]
) -> None:
    context = page(*(make_remembered(text, n) for n, text in enumerate(told, 1)))
    assert instructions(context) == shown
    assert not set(shown) & omitted(context).keys()


def test_a_trigger_may_take_back_what_held_until_then() -> None:
    asked = make_remembered("You can use emojis again.", 900)
    assert instructions(page(make_remembered("Never use emojis.", 1), asked=asked)) == []


def test_the_rest_of_a_long_message_that_instructs_may_still_be_found_and_nothing_is_said_twice() -> None:
    story = "The supplier of the clay in Höhr said that it comes from the Westerwald and takes nine days to us. "
    context = page(make_remembered(f"{story}Never order there without a sample. {story.upper()}", 1))
    assert context.markdown.count("Never order there without a sample.") == 1
    assert "User: The supplier of the clay in Höhr said" in conversation(context)


def test_a_question_about_what_was_taken_back_shows_the_rule_with_its_permission_and_another_question_neither() -> None:
    told = make_remembered("Never use emojis.", 1), make_remembered("You can use emojis again.", 2)
    asked = page(*told, asked=make_remembered("May I put emojis into the mail on the clay?", 900))
    assert instructions(asked) == ["m1", "m2"]
    assert asked.markdown.index("Never use emojis.") < asked.markdown.index("You can use emojis again.")
    other = make_remembered("What may you use again for the clay?", 900)
    assert {"m1", "m2"}.isdisjoint(ids_on_page(page(*told, asked=other)))


def test_where_room_is_short_a_permission_brings_its_rule() -> None:
    rule, permission = make_remembered("Never ship crates without a picture.", 1), "You can ship crates to Ghent again."
    others = [make_remembered(f"Never show the colour of glaze batch {n} from shelf {n}.", n) for n in range(2, 60)]
    shown = instructions(page(rule, *others, make_remembered(permission, 60)))
    assert len(shown) < len(others)
    assert {"m1", "m60", "m59"} <= set(shown)


def test_a_rule_that_was_taken_back_is_not_found_without_its_permission() -> None:
    rule = (
        "Never put emojis into your answers to me, not in headings, lists or tables, because my reader says each of them aloud."
    )
    permission = "You can put emojis into your answers again, because the new reader is good and skips all of them by itself."
    told, asked = (make_remembered(rule, 1), make_remembered(permission, 20)), make_remembered("Should I see emojis here?", 900)
    pages = [make_context(asked, [*told, *TALK], make_profile(budget=budget)) for budget in range(70, 710, 40)]
    shown = [{"m1", "m20"} & set(ids_on_page(each)) for each in pages]
    assert (shown[0], shown[-1]) == (set(), {"m1", "m20"})
    assert {"m1"} not in shown


@pytest.mark.parametrize(
    "wish",
    [
        "Until Friday, always answer in Dutch.",
        "Antworte bis Freitag immer auf Deutsch.",
        "Esta semana, responde siempre en inglés.",
        "Never order clay before 3 June.",
    ],
)
def test_an_instruction_that_depends_on_its_day_has_the_day_once_it_was_another(wish: str) -> None:
    context = page(make_remembered(wish, 1))
    assert f"## Standing Instructions\n[8 May 2024]\n- User: {wish}" in context.markdown
    today = make_remembered(wish, 1, created_at=ASKED.breadcrumb.created_at)
    assert f"## Standing Instructions\n- User: {wish}" in page(today).markdown


def test_an_instruction_holds_again_once_what_took_it_back_is_deleted() -> None:
    told = make_remembered("Never use emojis.", 1), make_remembered("You can use emojis again.", 2)
    assert instructions(page(*told)) == []
    assert page(*told).left_out["superseded by m2"] == 1
    assert instructions(page(*told, make_tombstone("m2", 3))) == ["m1"]


def test_the_same_words_again_are_shown_once_in_their_newest_place() -> None:
    context = page(make_remembered("Never use emojis.", 1), make_remembered("never use emojis", 2))
    assert instructions(context) == ["m2"]
    assert context.left_out["repeat"] == 1


def test_what_the_hot_window_tells_is_not_told_twice() -> None:
    told = make_remembered("Always answer in English.", 500)
    context = make_context(ASKED, [*TALK, told])
    assert instructions(context) == []
    assert ids_on_page(context).count("m500") == 1


def test_an_instruction_of_the_hot_window_that_found_no_room_there_is_shown() -> None:
    told = make_remembered("Always answer in English.", 500)
    noise = [make_turn(f"{n} " + "Long remarks on clay and glaze and weather. " * 80, n) for n in range(501, 516)]
    assert instructions(make_context(ASKED, [*TALK, told, *noise])) == ["m500"]


@pytest.mark.parametrize("schema", ["agent.response.v1", "tool.response.v1", "note.v1"])
def test_only_people_instruct(schema: str) -> None:
    assert instructions(page(make_remembered("Always answer in English.", 1, schema=schema))) == []


def test_the_newest_come_first_when_there_is_no_room_for_all_whatever_is_asked_and_the_others_are_counted() -> None:
    told = [make_remembered(f"Never show the colour of glaze batch {n} from shelf {n}.", n) for n in range(1, 60)]
    context = page(*told)
    shown = instructions(context)
    assert shown == [f"m{n}" for n in range(60 - len(shown), 60)]
    (section,) = (section for section in context.sections if section.name == "instructions")
    assert 0.1 * context.budget < section.tokens <= 0.2 * context.budget
    newest = 59 - len(shown)
    nearest = ", ".join(f"m{number}" for number in range(newest, newest - 5, -1))
    assert f"## Standing Instructions\n({newest} older instructions have no room here: {nearest}, …)\n" in context.markdown


def test_an_older_one_has_the_room_that_is_too_small_for_a_newer_one() -> None:
    told = make_remembered("Never use emojis.", 1), make_remembered(f"Always answer in English{' or in plain words' * 30}.", 2)
    context = make_context(ASKED, [*told, *TALK], make_profile(budget=360))
    assert instructions(context) == ["m1"]
    assert "(1 older instruction has no room here: m2)" in context.markdown


@pytest.mark.parametrize("code", ["```\nx = 1\n```", "ERROR 17: the kiln is cold"])
def test_what_is_pasted_behind_an_instruction_is_not_shown_with_it(code: str) -> None:
    context = page(make_remembered(f"Always answer briefly:\n{code}", 1))
    assert instructions(context) == ["m1"]
    (line,) = [line for line in context.markdown.splitlines() if "briefly" in line]
    assert line == "- User: Always answer briefly:"


def test_a_rule_of_few_words_does_not_lose_its_room_to_the_list_below_it() -> None:
    items = "\n".join(f"- shelf {number} = glaze batch {number} of the supplier" for number in range(20))
    context = page(make_remembered(f"Always answer in French.\n\nOur rules:\n{items}", 1))
    assert "(1 older instruction has no room here: m1)\n- User: Always answer in French.\n" in context.markdown
    few = page(make_remembered("Always answer in French.\n\nOur rules:\n- shelf 1 = batch 7\n- nox, pytest. It is slow.", 1))
    assert "Instructions\n- User: Always answer in French.\n  shelf 1 = batch 7\n  nox, pytest. It is slow.\n" in few.markdown


def test_a_rule_of_words_does_not_lose_its_room_to_a_newer_list() -> None:
    items = "\n".join(f"- shelf {number} = glaze batch {number} of the supplier" for number in range(12))
    rule = "Always answer in French, with the metric units, and never use emojis or tables or a link in an answer."
    context = page(make_remembered(rule, 1), make_remembered(f"Our rules:\n{items}", 2))
    assert instructions(context)[:1] == ["m1"]
    assert f"- User: {rule}" in context.markdown
