"""Which passages of a text are near to a question, and at which places it may be cut."""

from functools import partial

from builder.adapters.templates.cuts.passages import back, clip, edges, forward, nearest
from builder.adapters.templates.cuts.shorten import shorten
from builder.assemble.items.forms import WHOLE
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


def test_a_cut_is_made_between_lines_or_words_where_one_is_near() -> None:
    text = "one two\nthree four five"
    assert (text[: back(text, 12)], text[forward(text, 2) :]) == ("one two", "three four five")
    assert (text[: back(text[8:], 12)], text[forward(text, 10) :]) == ("one two\nth", "four five")


def test_no_cut_splits_what_is_one_character_to_the_eye() -> None:
    family = "👨‍👩‍👧"
    text = "x" * 50 + family * 2
    assert edges(text, 52) == (50, 50 + len(family))
    assert edges(text, 50) == (50, 50)
    assert edges("one\r\ntwo", 4) == (3, 5)
    assert edges("o\u0301ne", 1) == (0, 2)
    assert edges("one", 1) == (1, 1)


def test_a_clipped_text_ends_with_an_ellipsis() -> None:
    assert (clip("short", 5), clip("a long text", 8)) == ("short", "a long …")
