"""What comes along with a find: the other half of question and answer, and what changes it later."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.domain.recall import StoredBreadcrumb
from tests.conversations import replied, said
from tests.searches import BLAND, Search, find


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
