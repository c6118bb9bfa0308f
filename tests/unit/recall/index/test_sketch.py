"""A sketch gives exactly what comparing every passage gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Place
from builder.domain.stored import PassageFacts
from builder.recall.index.sketch import Filter, Key, Sketches
from tests.examples import examples

WIDTH = 96
WORDS = ("kiln", "glaze", "order", "delft", "oven", "clay")
EVERYTHING = Filter(until=Place(9, 0), schemas=frozenset({"note.v1", "user.message.v1"}))


def vector(seed: int) -> bytes:
    return np.random.default_rng(seed).normal(size=WIDTH).astype("<f2").tobytes()


def fact(
    number: int, words: str = "kiln", *, schema: str = "note.v1", session: str = "mon", has_vector: bool = True
) -> PassageFacts:
    return PassageFacts(session, Place(1, number), 0, schema, words, vector(number) if has_vector else b"")


def sketches(*facts: PassageFacts, page: int = 3) -> Sketches:
    found = Sketches()
    for start in range(0, len(facts), page):
        found.add(facts[start : start + page])
    return found


def signs(of: bytes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.frombuffer(of, "<f2") > 0


@st.composite
def passages(draw: st.DrawFn) -> list[PassageFacts]:
    number = draw(st.integers(1, 40))
    return [
        fact(
            n,
            " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=5))),
            schema=draw(st.sampled_from(("note.v1", "user.message.v1", "tool.response.v1"))),
            session=draw(st.sampled_from(("mon", "tue"))),
            has_vector=draw(st.booleans()),
        )
        for n in range(1, number + 1)
    ]


@examples(100)
@given(passages(), st.integers(0, 50), st.integers(1, 12), st.integers(1, 7))
def test_the_nearest_are_those_with_most_signs_in_common_before_the_place(
    facts: list[PassageFacts], until: int, number: int, page: int
) -> None:
    filtering = Filter(until=Place(1, until), schemas=frozenset({"note.v1"}))
    candidates = [each for each in facts if each.vector and each.schema == "note.v1" and each.place.sequence < until]
    question = vector(99)
    ranked = sorted(candidates, key=lambda each: (int((signs(each.vector) == signs(question)).sum()), each.place), reverse=True)
    found = sketches(*facts, page=page).nearest(question, number, filtering)
    assert list(found) == [Key(each.session, each.place) for each in ranked[:number]]


@examples(100)
@given(passages(), st.integers(1, 7), st.integers(1, 7))
def test_the_order_in_which_pages_were_read_changes_nothing(facts: list[PassageFacts], first: int, second: int) -> None:
    one, other = sketches(*facts, page=first), sketches(*reversed(facts), page=second)
    assert one.holding(("kiln", "oven"), 5, EVERYTHING) == other.holding(("kiln", "oven"), 5, EVERYTHING)
    assert one.nearest(vector(99), 5, EVERYTHING) == other.nearest(vector(99), 5, EVERYTHING)


def test_the_rarest_word_counts_most_and_what_has_none_is_not_found() -> None:
    found = sketches(*(fact(n, "kiln order") for n in range(1, 9)), fact(9, "kiln delft"), fact(10, "clay"))
    keys = found.holding(("kiln", "delft"), 3, EVERYTHING)
    assert keys[0].place == Place(1, 9)
    assert len(keys) == 3
    assert found.holding(("glaze",), 3, EVERYTHING) == found.holding((), 3, EVERYTHING) == ()


def test_a_dropped_session_is_found_no_more_and_its_neighbours_are() -> None:
    found = sketches(fact(1), fact(2, session="tue"), fact(3))
    found.drop(frozenset({"mon"}))
    assert found.holding(("kiln",), 5, EVERYTHING) == (Key("tue", Place(1, 2)),)
    found.add([fact(3)])
    assert [key.place.sequence for key in found.holding(("kiln",), 5, EVERYTHING)] == [3, 2]


def test_passages_with_and_without_vectors_stand_in_one_sketch() -> None:
    found = sketches(fact(1, has_vector=False), fact(2), fact(3, has_vector=False), page=1)
    assert [key.place.sequence for key in found.nearest(vector(2), 5, EVERYTHING)] == [2]
    assert len(found.holding(("kiln",), 5, EVERYTHING)) == 3
    assert sketches(fact(1, has_vector=False)).nearest(vector(2), 5, EVERYTHING) == ()
