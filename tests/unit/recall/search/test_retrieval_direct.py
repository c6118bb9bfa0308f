"""A question that is asked by itself: no gate of the page holds an answer back."""

from collections.abc import Iterable

from builder.domain.stored import StoredBreadcrumb
from builder.recall.search.retrieval import search
from tests.factories import BY_HAND, make_profile, make_query, make_remembered, make_view


def found(question: str, rows: Iterable[StoredBreadcrumb | str], limit: int = 10, **rules: object) -> list[str]:
    profile, view = make_profile(retrieval=rules), make_view(rows)
    return [view.breadcrumb(each.row).text for each in search(make_query(question), view, profile.retrieval, BY_HAND, limit)]


def test_a_fact_of_few_words_that_shares_none_with_the_question_is_found() -> None:
    facts = ["I hate coriander.", "My dog is called Bello.", "The tap drips."]
    assert {*found("diet", facts)} == {*facts}


def test_a_question_that_is_small_talk_finds_what_there_is_and_small_talk_is_never_found() -> None:
    assert found("thanks!", ["The kiln is hot.", "okay, thanks", "sure"]) == ["The kiln is hot."]


def test_no_least_probability_holds_for_a_search() -> None:
    assert found("Where is the kiln?", ["It rains in Delft today again."], min_probability=1.0)


def test_what_one_person_said_in_two_sessions_is_listed_once_and_what_two_said_twice() -> None:
    said = "The kiln needs two cones."
    twice = [make_remembered(said, number, session=f"s{number}", user_id="ada") for number in (1, 2)]
    assert found("kiln", twice, scope="workspace") == [said]
    of_two = [make_remembered(said, number, session=f"s{number}", user_id=user) for number, user in enumerate(("ada", "ben"), 1)]
    assert found("kiln", of_two, scope="workspace") == [said, said]


def test_no_more_than_the_limit_is_listed_and_the_best_comes_first() -> None:
    rows = ["The kiln is in the yard.", "The van is red and old.", "We glaze on Friday at noon."]
    assert found("Where is the kiln?", rows, limit=2)[0] == rows[0]
    assert len(found("Where is the kiln?", rows, limit=2)) == 2
