"""An inverted index as of any passage."""

from builder.recall.index.breadcrumb_table import Postings


def make_postings() -> Postings:
    postings = Postings()
    for row, terms in enumerate(("kiln hot kiln", "glaze", "kiln glaze")):
        postings.add(row, terms.split())
    return postings


def test_a_term_has_its_passages_with_how_often_each_has_it() -> None:
    rows, counts = make_postings().of("kiln", 3)
    assert (rows.tolist(), counts.tolist()) == ([0, 2], [2.0, 1.0])


def test_later_passages_are_unknown_as_of_an_earlier_one() -> None:
    postings = make_postings()
    assert [postings.of("glaze", end)[0].tolist() for end in range(4)] == [[], [], [1], [1, 2]]
    assert [postings.holding("glaze", end) for end in range(4)] == [0, 0, 1, 2]


def test_a_term_that_no_passage_has_is_in_none() -> None:
    rows, counts = make_postings().of("wheel", 3)
    assert (len(rows), len(counts)) == (0, 0)
    assert make_postings().holding("wheel", 3) == 0


def test_the_index_grows_while_an_answer_is_in_use_and_the_answer_stays() -> None:
    postings = make_postings()
    rows, counts = postings.of("kiln", 3)
    for row in range(3, 50):
        postings.add(row, ["kiln"])
    assert (rows.tolist(), counts.tolist()) == ([0, 2], [2.0, 1.0])
    assert postings.holding("kiln", 50) == 49
