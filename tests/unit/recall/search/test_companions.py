"""What comes along with a find: the other half of question and answer, and what changes it later."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.domain.stored import StoredBreadcrumb
from tests.conversations import replied, said
from tests.factories import make_remembered
from tests.searches import BLAND, Search, best, find


def found(question: str, *rows: StoredBreadcrumb | str, **rules: object) -> Search:
    return find(question, [*BLAND, *rows], **{"min_probability": 0.05} | rules)


def ids(search: Search, kind: str) -> list[str]:
    """The breadcrumbs that come along in this way."""
    finds = search.found.finds
    return [crumb.id for each, crumb in zip(finds, search.crumbs(finds), strict=True) if getattr(each, kind) >= 0]


def test_a_short_answer_brings_its_question() -> None:
    rows = [replied(80, "Which colour for the tiles of the bathroom?"), said(81, "Sage, like the sample of Ronja.")]
    search = found("What did the sample of Ronja look like?", *rows)
    assert ids(search, "answer") == ["m80"]


def test_an_answer_to_nothing_and_one_that_is_long_bring_no_question() -> None:
    plain = [replied(80, "I ordered the tiles."), said(81, "Sage, like the sample of Ronja.")]
    assert ids(found("What did the sample of Ronja look like?", *plain), "answer") == []
    long = [replied(80, "Which colour?"), said(81, "Sage, like the sample of Ronja. " + "And more of it, on and on. " * 30)]
    assert ids(found("What did the sample of Ronja look like?", *long), "answer") == []


def test_a_question_that_nobody_answered_is_no_find_and_one_that_was_answered_is() -> None:
    asked = said(80, "Where is the sample of Ronja?")
    assert "m80" not in [crumb.id for crumb in found("The sample of Ronja, where?", asked).crumbs(found("x", asked).found.finds)]
    search = found("The sample of Ronja, where?", asked, replied(81, "In the blue drawer."))
    assert {"m80", "m81"} <= {crumb.id for crumb in search.crumbs(search.found.finds)}


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("Dinner with the Okonkwos is on Friday at the harbour.", "Okonkwos can't make it on Friday, Monday instead."),
        (
            "Das Treffen mit Frau Wieczorek ist am Freitag im Rathaus.",
            "Frau Wieczorek kann Freitag doch nicht, also Montag.",
        ),
        ("La cena con los Etxeberria es el viernes en el puerto.", "Al final los Etxeberria no vienen el viernes sino el lunes."),
        ("Встреча с Кузнецовой в пятницу в ратуше.", "Кузнецова перенесла пятницу, теперь понедельник."),
    ],
)
def test_what_changes_a_find_later_comes_along(first: str, later: str) -> None:
    search = found(first, said(80, first), said(81, "The bread is in the oven."), said(82, later), min_probability=0.2)
    assert "m82" in [crumb.id for crumb in search.crumbs(search.found.finds)]


def test_what_was_said_before_it_or_on_something_else_replaces_nothing() -> None:
    rows = [
        said(80, "The Okonkwos can't come on Friday, Monday instead."),
        said(81, "Dinner with the Okonkwos is on Monday at the harbour."),
        said(82, "The oven is broken, we take the other one instead."),
    ]
    assert ids(found("When is dinner with the Okonkwos at the harbour?", *rows, min_probability=0.3), "replaces") == []


def test_another_number_for_what_is_asked_comes_along_without_a_word_of_change() -> None:
    rows = [said(80, "The deposit for the Limoges kiln is 450 euros."), said(82, "Limoges kiln: deposit 620 euros, they wrote.")]
    search = found("What deposit does the Limoges kiln need, 450 euros?", *rows, min_probability=0.5)
    assert {"m80", "m82"} <= {crumb.id for crumb in search.crumbs(search.found.finds)}


def answers(*rows: StoredBreadcrumb | str) -> list[str]:
    """What is found for a question about nuts, in the order of the page."""
    search = find("Do you eat nuts?", [*BLAND, *rows])
    return [crumb.text for crumb in search.crumbs(search.found.finds)][:2]


def test_small_talk_is_shown_when_it_is_the_whole_answer() -> None:
    assert answers("Do you eat nuts at all?", "No.", "The harbour is open on Sundays.") == ["Do you eat nuts at all?", "No."]


def test_small_talk_that_answers_nothing_takes_no_place() -> None:
    rows = [make_remembered(text, 90 + n, schema="agent.response.v1") for n, text in enumerate(("Hm!", "Only almonds."))]
    asked = make_remembered("Do you eat nuts at all?", 80)
    assert answers(asked, *rows) == ["Do you eat nuts at all?", "Only almonds."]


def test_a_yes_comes_along_with_what_the_same_one_adds_to_it() -> None:
    asked = make_remembered("Do you eat nuts at all?", 80)
    rows = [make_remembered(text, 90 + n, schema="agent.response.v1") for n, text in enumerate(("Sure!", "Only almonds."))]
    found = find("Do you eat nuts?", [*BLAND, asked, *rows])
    assert best(found)[:3] == ["m80", "m90", "m91"]


def test_what_somebody_says_behind_a_yes_is_no_part_of_it() -> None:
    asked = make_remembered("Do you eat nuts at all?", 80)
    yes = make_remembered("No.", 81, schema="agent.response.v1")
    found = find(
        "Do you eat nuts?", [*BLAND, asked, yes, make_remembered("The harbour is open on Sundays.", 82)], min_probability=0.1
    )
    assert best(found) == ["m80", "m81"]


def test_what_was_merely_said_next_never_comes_before_a_better_find() -> None:
    rows = ["Where is the kiln?", "Lovely weather today.", "The kiln is in the yard, the kiln stands there.", *BLAND]
    found = find("Where is the kiln?", rows)
    probability = [each.probability for each in found.found.finds]
    assert probability == sorted(probability, reverse=True)
    assert best(found).index("m3") < best(found).index("m2")


def test_the_askers_own_small_talk_hides_no_answer() -> None:
    asked = make_remembered("Do you eat nuts at all?", 80)
    please, conversation_rows = make_remembered("please!", 81), make_remembered("Only almonds.", 82, schema="agent.response.v1")
    assert answers(asked, please, conversation_rows) == ["Do you eat nuts at all?", "Only almonds."]


def test_what_nobody_said_or_may_not_be_found_is_no_answer() -> None:
    asked = make_remembered("Do you eat nuts at all?", 80)
    typing = make_remembered("", 81, schema="typing.v1", body="{}")
    assert answers(asked, typing)[0] == "Do you eat nuts at all?"
    assert "" not in answers(asked, typing)


def found_of(question: str, *answers: tuple[str, str]) -> list[str]:
    """Ids of what is found of a question (m80) and what others say behind it (m81, …): speaker and text."""
    asked = make_remembered(question, 80, speaker="Bob")
    rows = [make_remembered(text, 81 + n, speaker=speaker) for n, (speaker, text) in enumerate(answers)]
    return best(find(question, [*BLAND, asked, *rows], min_probability=0.05))


def test_short_words_answer_and_the_next_line_takes_not_their_place() -> None:
    for short in ("later", "sounds good", "do it", "passt", "genial", "oui", "👍"):
        assert "m81" in found_of("Shall we sell the old boiler?", ("Ana", short), ("Bob", "The cat was ill.")), short


def test_a_question_mark_in_an_address_asks_nothing() -> None:
    found = found_of("The manual is at https://x.example/doc?id=77 for the boiler.", ("Cleo", "My dentist moved to Graz."))
    assert found == ["m80"]


def test_who_says_yes_or_no_answers_before_who_speaks_first() -> None:
    dog = "Bob, the dog ate the whole supper of the neighbours again."
    found = found_of("Is the boiler fixed?", ("Cleo", dog), ("Ana", "Yes, since Monday."))
    assert found.index("m82") < found.index("m81")
