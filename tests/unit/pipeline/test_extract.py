"""Which sentences a summary keeps, in several languages and without vectors."""

import pytest

from builder.pipeline.extract import extract, tokens_of
from tests.factories import bare, make_remembered, make_view
from tests.summarised import COUNT, WORDS


def kept(*texts: str, cap: int = 400, vectors: bool = True) -> list[str]:
    """The lines made of what Ana said."""
    rows = [make_remembered(text, n, speaker="Ana") for n, text in enumerate(texts, 1)]
    view = make_view(rows if vectors else [bare(row) for row in rows])
    return [line.text for line in extract(view, (), range(len(texts)), cap, WORDS)]


def test_a_greeting_in_front_of_a_fact_is_left_out() -> None:
    assert kept("Thanks, Ana! Okay, the kiln stands in Delft.") == ["Ana: The kiln stands in Delft."]


@pytest.mark.parametrize(
    "text",
    [
        "Where does the kiln stand?",
        "Okay, thanks!",
        "",
        "```\nkiln = Kiln(cone=6)\n```",
        "if (kiln.hot) { glaze_all(); }",
        "Kiln.",
    ],
)
def test_questions_small_talk_and_code_are_no_lines(text: str) -> None:
    assert kept(text) == []


def test_names_and_numbers_are_kept_before_mere_words() -> None:
    plain, telling = "it was a rather pleasant quiet evening", "the rent is 900 euros"
    (line,) = kept(f"{plain}.", f"{telling}.", cap=22)
    assert line == "Ana: The rent is 900 euros."


def test_what_was_said_twice_is_kept_once() -> None:
    assert kept("The kiln stands in Delft.", "So the kiln stands in Delft.") == ["Ana: The kiln stands in Delft."]


@pytest.mark.parametrize("cap", [1, 10, 20, 40])
def test_the_cap_is_never_passed(cap: int) -> None:
    rows = [make_remembered(f"Crate {n} holds {n * 7} cups for Delft.", n) for n in range(1, 30)]
    lines = extract(make_view(rows), (), range(29), cap, WORDS)
    assert tokens_of(lines, COUNT) <= cap


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("Danke, alles klar! Der Ofen steht seit März in Delft.", "Ana: Der Ofen steht seit März in Delft."),
        ("窑在代尔夫特。谢谢。", "Ana: 窑在代尔夫特。"),
    ],
)
def test_sentences_are_copied_in_their_own_language(said: str, line: str) -> None:
    assert kept(said) == [line]


def test_it_works_by_words_alone() -> None:
    assert kept("The kiln stands in Delft.", "Bob brings clay on 3 June.", vectors=False) == [
        "Ana: The kiln stands in Delft.",
        "Ana: Bob brings clay on 3 June.",
    ]


def test_earlier_lines_compete_with_new_ones() -> None:
    rows = [make_remembered("It was nice weather outside again.", 1), make_remembered("Bob pays 900 euros for 3 kilns.", 2)]
    view = make_view(rows)
    old = extract(view, (), (0,), 30, WORDS)
    assert [line.ids for line in extract(view, old, (1,), 26, WORDS)] == [("m2",)]


def test_of_a_long_report_no_sentence_counts_as_much_as_a_short_message() -> None:
    report = " ".join(f"Part {n} of the kiln report lists {n} broken shelves." for n in range(60))
    (line,) = kept(report, "Ana moved to Delft in March.", cap=22)
    assert line == "Ana: Ana moved to Delft in March."
