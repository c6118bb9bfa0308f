"""What a summary may copy: sentences that are understood where they stand, and answers with their questions."""

from dataclasses import replace

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.extras.summaries.excerpts import (
    CONCLUSION_WEIGHT,
    EXCLAMATION_WEIGHT,
    MAX_EXCERPTS,
    NAME_WEIGHT,
    UNRESOLVED_WEIGHT,
    Excerpt,
    excerpt_of,
    excerpts,
    has_name,
)
from builder.extras.summaries.extraction import extract
from builder.recall.summaries.lines import line_of
from tests.conversations import answered, bash, replied, said
from tests.factories import make_remembered, make_view
from tests.summarised import COUNT, WORDS, extract_lines


def lines_of_ana(*texts: str, cap: int = 400) -> list[str]:
    """The lines made of what Ana says."""
    return extract_lines(*(("Ana", text) for text in texts), cap=cap)


def best(rows: list[StoredBreadcrumb], row: int = -1) -> list[Excerpt]:
    """The excerpts of a row, the last one."""
    view = make_view(rows)
    return excerpts(view, row % view.size, WORDS)


def test_a_greeting_in_front_of_a_fact_is_left_out() -> None:
    assert lines_of_ana("Thanks, Ana! Okay, the kiln stands in Delft.") == ["Ana: the kiln stands in Delft."]


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
    assert lines_of_ana(text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Danke, alles klar! Der Ofen steht seit März in Delft.", "Ana: Der Ofen steht seit März in Delft."),
        ("窑在代尔夫特。谢谢。", "Ana: 窑在代尔夫特。"),
    ],
)
def test_sentences_are_copied_in_their_own_language(text: str, line: str) -> None:
    assert lines_of_ana(text) == [line]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which mug shall I glaze?", "Yes, the red one."),
        ("Shall I delete the staging database of Delft?", "no"),
        ("Soll ich die Testdatenbank in Delft löschen?", "Nein, die lassen wir."),
        ("¿Reservo el hotel Duas Nações en Oporto?", "Sí, para el 7 de junio."),
        ("Who fires the kiln in Delft?", "Nina, on Friday"),
        ("¿Cuál es vuestro presupuesto?", "Unos 1.200 euros para las dos, p. ej. 400 para hoteles."),
    ],
)
def test_an_answer_is_kept_with_its_question_in_one_line_and_neither_alone(question: str, answer: str) -> None:
    assert extract_lines(("A", question), ("U", answer)) == [f"Assistant: {question}\nUser: {answer}"]


def test_a_person_who_is_called_like_a_role_or_an_agent_speaks_as_a_person_in_a_stored_line() -> None:
    text = "The kiln in Delft fires at cone 6."
    rows = [replied(1, "Noted.", speaker="Mira"), said(2, text, "mira"), said(3, text, "Maya"), said(4, text, "\u0410ssistant")]
    view = make_view(rows)
    names = ["Mira", 'User "mira"', "Maya", 'User "\u0410ssistant"']
    assert [view.stored_name(row) for row in range(4)] == names
    assert best(rows)[0].line.text == f"{names[3]}: {text}"


def test_the_line_of_an_answer_names_both_so_it_goes_with_either() -> None:
    rows = [
        make_remembered("Shall I fire the kiln at cone 6?", 1, schema="agent.response.v1", role="assistant", speaker="Assistant"),
        make_remembered("Yes, on Friday.", 2),
    ]
    (line,) = extract(make_view(rows), (), range(2), 400, WORDS)
    assert (line.ids, line.versions) == (("m1", "m2"), (1, 1))


def test_the_answer_of_an_agent_that_asked_a_tool_first_is_kept_with_the_question() -> None:
    assert extract_lines(("U", "How many lines has a.py?"), ("A", "Let me count."), ("T", "42 a.py"), ("A", "It has 42.")) == [
        "User: How many lines has a.py?\nAssistant: It has 42."
    ]


def test_what_does_not_follow_a_question_is_no_answer_to_it() -> None:
    turns = (
        ("A", "Which glaze for Delft?"),
        ("U", "I moved to Lyon in March with two kilns, my brother and all of our 40 old moulds."),
        ("A", "Yes, the red one."),
    )
    assert not [line for line in extract_lines(*turns) if "glaze" in line]


def test_a_sentence_that_points_back_is_kept_with_the_one_in_front_of_it_or_loses_to_others() -> None:
    assert extract_lines(("U", "The kiln stands in Delft. It has 7 shelves of silicon carbide.")) == [
        "User: The kiln stands in Delft. It has 7 shelves of silicon carbide."
    ]
    pointing, plain = "That cost us 900 euros in Delft.", "Nina bought 12 buckets of cobalt."
    assert extract_lines(("U", pointing), ("A", plain), cap=20) == [f"Assistant: {plain}"]


def test_a_name_a_conclusion_and_an_emphasis_are_worth_more_and_what_points_nowhere_less() -> None:
    def worth(text: str) -> float:
        (excerpt,) = best([said(1, text)])
        return excerpt.worth

    plain = worth("we talked about pleasant quiet tiles.")
    assert worth("we talked about pleasant tiles from Lyon.") == NAME_WEIGHT * plain
    assert worth("we decided on pleasant quiet tiles.") == CONCLUSION_WEIGHT * plain
    assert worth("we talked about pleasant quiet tiles!") == EXCLAMATION_WEIGHT * plain
    assert worth("they talked about pleasant quiet tiles.") == UNRESOLVED_WEIGHT * plain


def test_a_long_text_has_a_few_excerpts_each_worth_less() -> None:
    report = " ".join(f"Part {n} of the kiln report lists {n} broken shelves." for n in range(60))
    long, short = best([said(1, report)]), best([said(1, "Part 7 of the kiln report lists 7 broken shelves.")])
    assert len(long) == MAX_EXCERPTS
    assert max(excerpt.worth for excerpt in long) < short[0].worth


def test_an_excerpt_knows_where_its_sentences_stand_and_what_its_line_costs() -> None:
    (excerpt,) = best([said(1, "Okay. The kiln stands in Delft.", "Ana")])
    assert excerpt.parts == {(0, 6)}
    assert (excerpt.order, excerpt.passage, excerpt.by_tool) == ((0, 6), 0, False)
    assert excerpt.cost == COUNT(f"{excerpt.line.text}\n")
    assert excerpt.line.sources == (("m1", 1),)


@pytest.mark.parametrize(
    "text", ["lru_cache drops 40 entries.", "k8s-node-3 is full.", "ok, iPhone orders go to Lyon.", "ßtest läuft 3 s."]
)
def test_no_letter_of_a_line_is_altered(text: str) -> None:
    (line,) = lines_of_ana(text)
    assert text.endswith(line.removeprefix("Ana: "))


@pytest.mark.parametrize(
    "text",
    [
        "Check 5.", "Looking at pods.", "Let me open the logs of checkout-api for the last 15 minutes.",
        "Ich schaue mir die 12 Rechnungen an.", "Voy a mirar los 3 vuelos a Lisboa.", "Сейчас посмотрю заказ 4711.",
    ],
)  # fmt: skip
def test_what_an_agent_says_in_front_of_its_calls_and_only_announces_is_no_line(text: str) -> None:
    rows = [replied(1, text, bash("a", "ls")), answered(2, "a", 1), replied(3, "The disk of node 3 has 40 MB left.")]
    assert best(rows, 0) == []
    (result,), (alone,) = best(rows, 2), best([replied(1, "The disk of node 3 has 40 MB left.")])
    assert result.worth == CONCLUSION_WEIGHT * alone.worth


def test_what_an_agent_found_out_is_a_line_also_where_it_calls_again() -> None:
    found = "All 40 connections of the pool orders are in use."
    rows = [replied(1, "Check 1.", bash("a", "ls")), answered(2, "a", 1), replied(3, f"{found} Check 2.", bash("b", "ls"))]
    (line,) = best(rows, 2)
    assert line.line.text == f"Assistant: {found}"


def test_below_a_question_that_stays_word_for_word_its_answer_stands_alone() -> None:
    view = make_view([replied(1, "Which mug shall I glaze?"), said(2, "Yes, the red one of Delft, please.")])
    with_question, alone = excerpts(view, 1, WORDS)[0], excerpts(view, 1, WORDS, frozenset({0}))[0]
    assert with_question.line.ids == ("m1", "m2")
    assert alone.line.ids == ("m2",)


def test_an_earlier_line_is_an_excerpt_again_unless_a_source_is_out_of_view() -> None:
    view = make_view([said(1, "Okay. The kiln stands in Delft.", "Ana")])
    line = line_of(view, 0, "The kiln stands in Delft.")
    again = excerpt_of(view, line, WORDS)
    assert again is not None
    assert (again.line, again.parts) == (line, frozenset({(0, 6)}))
    assert excerpt_of(view, replace(line, ids=("m1", "m9"), versions=(1, 1)), WORDS) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in Delft", True),
        ("Delft", False),
        ("GitHub", True),
        ("for 900 euros", True),
        ("some cups", False),
    ],
)
def test_a_name_is_a_capital_inside_of_a_sentence_or_a_number(text: str, expected: bool) -> None:
    assert has_name(text) is expected
