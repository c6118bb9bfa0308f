"""Which sentences a summary keeps, in several languages and without vectors."""

import pytest

from builder.recall.summaries.extract import extract, tokens_of
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


def prose_sentences(*said: tuple[str, str], cap: int = 400) -> list[str]:
    """The lines made of what a person (U), an agent (A) and tools (T) said in turn."""
    kinds = {
        "U": {"schema": "user.message.v1", "role": "user", "speaker": "User"},
        "A": {"schema": "agent.response.v1", "role": "assistant", "speaker": "Assistant"},
        "T": {"schema": "tool.response.v1", "role": "tool", "speaker": "bash"},
    }
    rows = [make_remembered(text, n, **kinds[who]) for n, (who, text) in enumerate(said, 1)]
    return [line.text for line in extract(make_view(rows), (), range(len(said)), cap, WORDS)]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which mug shall I glaze?", "Yes, the red one."),
        ("Shall I delete the staging database of Delft?", "no"),
        ("Soll ich die Testdatenbank in Delft löschen?", "Nein, die lassen wir."),
        ("¿Reservo el hotel Duas Nações en Oporto?", "Sí, para el 7 de junio."),
        ("Who fires the kiln in Delft?", "Nina, on Friday"),
    ],
)
def test_an_answer_is_kept_with_its_question_in_one_line_and_neither_alone(question: str, answer: str) -> None:
    assert prose_sentences(("A", question), ("U", answer)) == [f"Assistant: {question}\nUser: {answer}"]


def test_the_line_of_an_answer_names_both_so_it_goes_with_either() -> None:
    rows = [
        make_remembered("Shall I fire the kiln at cone 6?", 1, schema="agent.response.v1", role="assistant", speaker="Assistant"),
        make_remembered("Yes, on Friday.", 2),
    ]
    (line,) = extract(make_view(rows), (), range(2), 400, WORDS)
    assert (line.ids, line.versions) == (("m1", "m2"), (1, 1))


def test_the_answer_of_an_agent_that_asked_a_tool_first_is_kept_with_the_question() -> None:
    assert prose_sentences(("U", "How many lines has a.py?"), ("A", "Let me count."), ("T", "42 a.py"), ("A", "It has 42.")) == [
        "User: How many lines has a.py?\nAssistant: It has 42."
    ]


def test_what_does_not_follow_a_question_is_no_answer_to_it() -> None:
    said = (
        ("A", "Which glaze for Delft?"),
        ("U", "I moved to Lyon in March with two kilns, my brother and all of our 40 old moulds."),
        ("A", "Yes, the red one."),
    )
    assert not [line for line in prose_sentences(*said) if "glaze" in line]


def test_what_an_agent_concluded_is_kept_before_what_tools_said_and_tools_are_kept_where_nobody_else_speaks() -> None:
    result = "The invoice 4711 of Delft is unpaid since 3 March."
    assert prose_sentences(("T", result), ("A", "The reminder for Limoges went out today.")) == [
        "Assistant: The reminder for Limoges went out today."
    ]
    assert prose_sentences(("T", result)) == [f"bash: {result}"]


@pytest.mark.parametrize(
    "block",
    [
        "from datetime import datetime",
        "def fire(kiln):\n    kiln.heat = 1222\n    return kiln",
        "2026-03-02 02:00:07 ERROR canceling statement due to timeout in Delft",
        'Traceback (most recent call last):\n  File "run.py", line 88, in main\nKeyError: Delft has no kiln',
        "https://delft.example/kilns and https://lyon.example/kilns",
        "kiln | cone | place\nblue | 6 | Delft",
        '{"kiln": "blue", "cone": 6, "place": "Delft"}',
        "1 failed, 312 passed in 12.4s",
        "kiln,cone,place,price\nblue,6,Delft,900",
    ],
)
def test_code_logs_traces_tables_data_and_addresses_are_no_lines(block: str) -> None:
    assert prose_sentences(("A", f"{block}\nThe blue kiln in Delft is broken since March.")) == [
        "Assistant: The blue kiln in Delft is broken since March."
    ]


def test_prose_that_names_code_is_a_line() -> None:
    said = "The bug is in `fetch_page()`: retry_after in http/client.py:12 is read twice."
    assert prose_sentences(("A", said)) == [f"Assistant: {said}"]


@pytest.mark.parametrize(
    "text",
    [
        "Die Garantie läuft bis zum 14. Mai 2028.",
        "Lindenallee 8 in Leipzig, 2. Stock links.",
        "Nimm Nr. 5 von Dr. Meier in Bonn.",
    ],
)
def test_no_line_ends_at_an_ordinal_or_an_abbreviation(text: str) -> None:
    assert prose_sentences(("U", text)) == [f"User: {text}"]


def test_a_sentence_that_points_back_is_kept_with_the_one_in_front_of_it_or_loses_to_others() -> None:
    assert prose_sentences(("U", "The kiln stands in Delft. It has 7 shelves of silicon carbide.")) == [
        "User: The kiln stands in Delft. It has 7 shelves of silicon carbide."
    ]
    pointing, plain = "That cost us 900 euros in Delft.", "Nina bought 12 buckets of cobalt."
    assert prose_sentences(("U", pointing), ("A", plain), cap=20) == [f"Assistant: {plain}"]


def test_decisions_are_kept_before_remarks() -> None:
    remark, decision = "we talked about tiles from Limoges", "we decided on tiles from Lyon"
    assert prose_sentences(("U", f"{remark}."), ("A", f"{decision}."), cap=22) == ["Assistant: We decided on tiles from Lyon."]


def test_lines_are_ranked_by_how_much_they_tell() -> None:
    rows = [make_remembered(f"Crate {n} holds {n * 7} cups for Delft.", n) for n in range(1, 9)]
    few = {line.text for line in extract(make_view(rows), (), range(8), 40, WORDS)}
    many = extract(make_view(rows), (), range(8), 400, WORDS)
    assert {line.text for line in sorted(many, key=lambda line: line.rank)[: len(few)]} == few
    assert sorted(line.rank for line in many) == list(range(len(many)))


def test_what_an_agent_asked_for_stands_in_front_of_an_answer_that_is_no_whole_sentence() -> None:
    question, answer = "¿Cuál es vuestro presupuesto?", "Unos 1.200 euros para las dos, p. ej. 400 para hoteles."
    assert prose_sentences(("A", question), ("U", answer)) == [f"Assistant: {question}\nUser: {answer}"]
