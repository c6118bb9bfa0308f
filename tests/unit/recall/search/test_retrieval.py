"""What is found among older messages: each thing once, nothing stale, nothing empty."""

from builder.domain.stored import StoredBreadcrumb
from tests.conversations import answered, bash, replied, said
from tests.factories import make_remembered, make_turn
from tests.searches import BLAND, Search, best, find


def omitted(search: Search) -> dict[str, str]:
    return {omission.id: omission.reason for omission in search.found.omissions}


def test_exact_repeats_are_shown_once_with_the_newest_and_their_number() -> None:
    rows = [
        make_remembered(text, n)
        for n, text in enumerate(["The kiln is hot.", "Heavy rain fell on the roof.", "the kiln is hot", "The kiln is hot!"], 1)
    ]
    found = find("kiln", rows)
    assert best(found) == ["m4", "m2"]
    assert [each.times for each in found.found.finds] == [3, 1]
    assert omitted(found) == {"m1": "repeat", "m3": "repeat"}


def test_copies_that_have_other_passages_are_one_thing() -> None:
    words = " ".join(f"kiln{number}" for number in range(90))
    rows = [make_remembered(f"Okay, {words}", 1), make_remembered(words, 2)]
    assert len(rows[0].passages) > len(rows[1].passages)
    assert "m2" in best(find("kiln7", rows))


def test_the_same_in_other_words_is_two_things() -> None:
    rows = [make_remembered("The kiln is hot today.", 1), make_remembered("Today the kiln is very hot!", 2)]
    found = find("kiln", rows)
    assert sorted(best(found)) == ["m1", "m2"]
    assert [each.times for each in found.found.finds] == [1, 1]


def test_the_same_words_in_two_sessions_are_one_only_when_the_sender_s_id_is() -> None:
    def twice(**user: str) -> list[str]:
        rows = [make_remembered("The kiln is hot.", n, session=session, **user) for n, session in enumerate(("s1", "s2"), 1)]
        return sorted(best(find("kiln", rows)))

    assert twice() == ["m1", "m2"]
    assert twice(user_id="u1") == ["m2"]


def test_the_same_words_of_two_people_are_two_things() -> None:
    rows = [make_remembered("I love sushi.", n, speaker=name) for n, name in enumerate(("Ana", "Bob", "Ana"), 1)]
    found = find("Who loves sushi?", rows)
    assert sorted(best(found)) == ["m2", "m3"]
    speakers = [crumb.speaker for crumb in found.crumbs(found.found.finds)]
    assert dict(zip(speakers, (each.times for each in found.found.finds), strict=True)) == {"Ana": 2, "Bob": 1}


def test_what_is_on_the_page_is_not_found_again_and_neither_are_its_repeats() -> None:
    rows = [
        make_remembered(text, n) for n, text in enumerate(["The kiln is hot.", "The kiln stands here.", "The kiln is hot."], 1)
    ]
    found = find("kiln", rows, 2)
    assert best(found) == ["m2"]
    assert omitted(found) == {"m1": "repeat"}


def test_ties_go_to_the_later_one() -> None:
    rows = [make_remembered("The kiln is hot.", n, speaker=name) for n, name in enumerate(("Ana", "Bob", "Cem"), 1)]
    assert best(find("zeppelin", rows)) == ["m3", "m2", "m1"]


def test_a_result_is_found_by_itself_whatever_its_call_says() -> None:
    rows: list[StoredBreadcrumb | str] = [
        make_remembered("weather in Delft", 1, schema="tool.request.v1", calls=("r1",), call_signatures=("{}",)),
        make_remembered("Sunny and calm", 2, schema="tool.response.v1", calls=("r1",)),
        make_remembered("Sunny and wild", 3, schema="tool.response.v1", calls=("lost",)),
        *map(make_turn, BLAND, range(9, 19)),
    ]
    assert best(find("Is it sunny and calm?", rows))[0] == "m2"
    assert best(find("Is it wild and sunny?", rows))[0] == "m3"


def test_the_answer_to_a_question_that_is_found_comes_along() -> None:
    found = find("Where did we buy the kiln?", [*BLAND[:2], "Where did we buy the kiln?", "From Joost, in Gouda.", *BLAND[2:]])
    assert best(found)[:2] == ["m3", "m4"]


def test_what_the_same_person_says_next_is_no_answer() -> None:
    said = [make_remembered(text, n) for n, text in enumerate(["Where is the kiln?", "Nobody in Gouda knows."], 50)]
    assert best(find("Where is the kiln?", [*said, *BLAND, "It rains on the kiln."]))[:2] != ["m50", "m51"]


def test_an_answer_that_is_told_elsewhere_on_the_page_is_not_told_again() -> None:
    place = "Under the blue mat at the wooden door of the shed."
    rows = ["Where is the key?", place, *BLAND[:4], "It was heavy.", place, *BLAND[4:]]
    assert best(find("Where is the key?", rows)).count("m2") == 0
    assert best(find("Where is the key?", rows)).count("m8") == 1
    assert not {"m2", "m8"} & set(best(find("Where is the key?", rows, 7)))


def answer(text: str, sequence: int, to: str, **changes: object) -> StoredBreadcrumb:
    return make_remembered(text, sequence, schema="agent.response.v1", answers=to, **changes)


def test_the_response_that_names_a_found_message_comes_along_however_late_it_came() -> None:
    rows = [make_remembered("Order 7 needs the blue glaze.", 1), *(make_remembered(text, n) for n, text in enumerate(BLAND, 2))]
    found = best(find("Which glaze does order 7 need?", [*rows, answer("It went out on Monday.", 40, "m1")]))
    assert found[:2] == ["m1", "m40"]


def test_of_a_response_that_was_edited_only_the_new_version_comes_along() -> None:
    rows = [
        make_remembered("Order 7 needs the blue glaze.", 1),
        answer("It went out on Monday.", 2, "m1"),
        answer("It went out on Tuesday.", 3, "m1", id="m2", version=2),
    ]
    search = find("Which glaze does order 7 need?", rows)
    assert [crumb.version for crumb in search.crumbs(search.found.finds)[:2]] == [1, 2]


def test_a_neighbour_that_says_what_is_on_the_page_already_stays_away() -> None:
    rows = [make_turn("We open at nine.", 1), make_turn("The kiln is in the yard.", 3), make_turn("We open at nine.", 5)]
    around = find("Where is the kiln?", rows, 2, neighbours=2, min_probability=0.3).found.neighbours
    assert around == ()
    assert len(find("Where is the kiln?", rows, neighbours=2, min_probability=0.3).found.neighbours) == 1


def test_the_neighbours_of_the_best_finds_are_named_nearest_first() -> None:
    rows = [*BLAND[:5], "The kiln is in Delft.", *BLAND[5:], "okay"]
    search = find("Where is the kiln?", rows, neighbours=2)
    around = [crumb.id for crumb in search.crumbs(search.found.neighbours)]
    assert around[:4] == ["m5", "m7", "m4", "m8"]
    assert find("Where is the kiln?", rows, neighbours=0).found.neighbours == ()


def test_what_is_on_the_page_or_says_nothing_is_no_neighbour() -> None:
    rows = ["Remark on rain.", "The kiln is in Delft.", "okay"]
    assert find("Where is the kiln?", rows, 0, neighbours=1, min_probability=0.3).found.neighbours == ()


def test_what_is_less_probable_than_asked_is_left_out() -> None:
    rows = [*BLAND, "The kiln is in Delft."]
    assert best(find("Where is the kiln?", rows, min_probability=0.3)) == ["m11"]


def test_of_a_long_message_only_the_passage_that_answers_is_found() -> None:
    filling = "The weather was fine and we walked along the river. " * 20
    found = find("What does the kiln cost?", [f"{filling}The kiln costs ninety coins. {filling}", *BLAND])
    first, (crumb, *_) = found.found.finds[0], found.crumbs(found.found.finds)
    ((start, end),) = first.spans
    assert "kiln costs ninety" in crumb.text[start:end]
    assert end - start < len(crumb.text) / 2
    assert 0 < first.tokens < 200


def test_what_is_not_near_enough_is_counted_with_the_score_of_its_best_passage() -> None:
    search = find("Where is the kiln?", [*BLAND, "The kiln is in Delft.", "It rains."], min_probability=0.3)
    assert search.found.irrelevant.rows.tolist() == [*range(10), 11]
    filling = "The weather was fine and we walked along the river. " * 20
    long = find("Where is the kiln?", [f"{filling}We lit the kiln. {filling}", "We lit the kiln.", filling], min_probability=1.0)
    assert len(long.found.irrelevant.rows) == len(long.found.irrelevant.scores) == 3
    assert long.found.irrelevant.scores[2] < min(long.found.irrelevant.scores[:2])


def test_an_agent_s_message_that_is_found_brings_what_its_calls_answered() -> None:
    rows: list[StoredBreadcrumb | str] = [
        said(1, "Schau bitte beim Hafenamt nach."),
        replied(2, "Ich frage das Hafenamt.", bash("a", "x"), bash("b", "y")),
        answered(3, "b", "Liegeplatz 14"),
        answered(4, "a", "77 Euro"),
        *map(make_turn, BLAND, range(9, 19)),
    ]
    found = find("Was sagte das Hafenamt?", rows, max_results=2)
    assert set(best(found)) == {"m1", "m2", "m3", "m4"}
    assert {each.reply_to for each in found.found.finds if each.row in {2, 3}} == {1}


def test_a_call_without_words_in_reply_to_a_find_brings_its_results() -> None:
    call = {"schema": "agent.response.v1", "role": "assistant", "calls": ("a",), "call_signatures": ('"x"',)}
    rows: list[StoredBreadcrumb | str] = [
        make_remembered("Frag das Hafenamt.", 1),
        make_remembered("", 2, answers="m1", **call),
        make_remembered("Liegeplatz 14", 3, schema="tool.response.v1", role="tool", calls=("a",)),
        *map(make_turn, BLAND, range(9, 19)),
    ]
    assert best(find("Hafenamt?", rows, max_results=1)) == ["m1", "m3"]
