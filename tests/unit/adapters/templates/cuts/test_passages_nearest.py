"""Which passages of a text are near to a question."""

from functools import partial

from builder.adapters.templates.cuts.passages import nearest
from builder.adapters.templates.cuts.shorten import shorten
from builder.assemble.items.rendering import WHOLE
from tests.factories import left_out, make_breadcrumb, make_rendering
from tests.growth import LINEAR, growth

FILLER = [f"The bus number {n} leaves at noon." for n in range(100)]


def found(lines: list[str], question: str, most: int = 200) -> list[str]:
    text = "\n".join(lines)
    return [text[start:end] for start, end in nearest(text, question, most)]


def test_identifiers_are_split_into_their_parts_and_words_may_have_other_endings() -> None:
    for line, question in (
        ("moved shelf_77 away", "Where is Shelf 77?"),
        ("moved Shelf 77 away", "Where is shelf_77?"),
        ("getShelfLoad() is called", "What is the shelf load?"),
        ("zwei Häuser", "Welches Haus?"),
        ("they configured it", "Which configuration?"),
    ):
        assert found([*FILLER, line, *FILLER], question)[0] == line


def test_a_rare_word_weighs_more_than_a_frequent_one_and_a_wording_comes_once() -> None:
    lines = [*FILLER, "The vault opens.", "The vault opens.", *FILLER]
    assert found(lines, "Does the bus leave when the vault opens?")[0] == "The vault opens."
    assert found(lines, "vault") == ["The vault opens."]


def test_without_a_question_only_a_log_has_near_passages_its_errors() -> None:
    log = [f"2026-03-10 15:40:{n % 60:02} INFO request {n} served" for n in range(300)]
    log[100], log[200] = "2026-03-10 15:42:00 ERROR no answer", "ValueError: no such cone"
    assert sorted(found(log, "")) == sorted((log[100], log[200]))
    assert log[100] in found([*log, "the vault opens"], "vault")
    assert found([*FILLER, "an error of mine"], "") == []


def test_a_long_question_is_read_at_its_ends() -> None:
    question = "Who has the vault's key? " + "thanks " * 100 + "quinces " + "thanks " * 100 + "And the ladder?"
    assert set(found([*FILLER, "the vault's key", "a quince tart", "a ladder"], question)) == {"the vault's key", "a ladder"}


def test_of_a_message_that_asks_at_its_end_the_lines_near_to_that_stay() -> None:
    lines = [f"Guest {n} comes from village {n % 7}." for n in range(900)]
    lines[450] = "Guest Marguerite brings the samovar."
    message = "\n".join([*lines, "Who brings the samovar?"])
    cut = make_rendering().fragment(make_breadcrumb(message), WHOLE, "User", cap=200, question=message)
    assert lines[450] in cut.text
    assert cut.text.endswith("Who brings the samovar?")
    assert cut.text.startswith("- User: Guest 0 comes from village 0.")


def test_the_work_grows_with_the_text_and_no_faster() -> None:
    def work(unit: str, size: int) -> None:
        shorten(unit * size, size // 4, len, left_out, question=f"what is ab {size} 好")

    for unit in ("ab cd ", "x", "a.b,c;", "\u0301", "{[", "好", "A", "| ", "ab\n", "🇩🇪"):
        assert growth(partial(work, unit), 2_000) < LINEAR
