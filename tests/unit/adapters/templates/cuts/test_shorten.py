"""A long text keeps its head, its tail, and a note of what is missing between them."""

import re

import pytest

from builder.adapters.templates.cuts.shorten import CHARACTERS_PER_TOKEN, shorten
from builder.adapters.tokens import load_counter
from tests.factories import left_out
from tests.growth import LINEAR, growth

count = load_counter("o200k_base")
LETTER = "- " + " ".join(f"Sentence {n} is here." for n in range(400))


def test_a_text_that_fits_is_unchanged() -> None:
    assert shorten("- User: We meet on Friday.", 10, count, left_out) == "- User: We meet on Friday."


def parts(short: str) -> tuple[str, str, str]:
    """Head, number of characters in the note, tail."""
    found = re.fullmatch(r"(.*)\n  \[… ([\d,]+) characters left out …\]\s(.*)", short, re.DOTALL)
    assert found, short
    return found[1], found[2], found[3]


def test_a_long_text_keeps_head_and_tail_and_says_what_is_missing() -> None:
    head, note, tail = parts(shorten(LETTER, 100, count, left_out))
    assert LETTER.startswith(head)
    assert LETTER.endswith(tail)
    assert abs(len(LETTER) - len(head) - len(tail) - int(note.replace(",", ""))) <= 2
    assert len(head) > len(tail) > 0


def test_words_are_not_cut() -> None:
    words = {"-", "Sentence", "is", "here.", *map(str, range(400))}
    head, _, tail = parts(shorten(LETTER, 100, count, left_out))
    assert {*head.split(), *tail.split()} <= words


def test_a_line_that_is_cut_goes_on_behind_the_note_and_a_whole_line_stays_a_line() -> None:
    prose, log = (
        shorten("- User: word # word " * 99, 60, count, left_out),
        shorten("- User: log" + "\n  #warning" * 99, 60, count, left_out),
    )
    assert re.search(r"left out …\] \S", prose)
    assert re.search(r" left out …\](\n  #warning)+$", log)


def test_a_table_row_that_has_room_stays_though_little_is_left_behind_it() -> None:
    text = "- User:\n\n  | cone | degrees |\n  |---|---|\n  | 6 | 1222 |\n  | 10 | 1285 |\n  " + "\N{FIRE}" * 120 + "\n  [image]"
    assert "1285" in shorten(text, count(text) - 20, count, left_out)


@pytest.mark.parametrize("tokens", [14, 15, 30, 100, 1000])
def test_the_room_is_used_and_never_exceeded(tokens: int) -> None:
    short = shorten(LETTER, tokens, count, left_out)
    assert max(tokens - 14, 1) <= count(short + "\n") <= tokens


@pytest.mark.parametrize("tokens", [-1, 0, 1, 5])
def test_where_not_even_the_note_fits_nothing_is_left(tokens: int) -> None:
    assert shorten(LETTER, tokens, count, left_out) == ""


@pytest.mark.parametrize("symbol", ["👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "e\u0301", "❤️", "5️⃣", "दि", "ก้"], ids=ascii)
def test_what_is_one_character_to_the_eye_is_never_cut(symbol: str) -> None:
    for room in range(60, 90):
        head, _, tail = parts(shorten(f"x{symbol}" * 300, room, count, left_out))
        assert set(head.split(symbol)) | set(tail.split(symbol)) <= {"x", ""}


@pytest.mark.parametrize("unit", ["\U0001f1e9\U0001f1ea", "\U0001f1e9", "e\u0301", "\u0301", "```\n", "~~~~ x\n", "a\n"])
def test_a_cut_takes_time_in_proportion_to_the_text_at_most(unit: str) -> None:
    assert growth(lambda size: shorten("- " + unit * size, 200, count, left_out), 2_000) < LINEAR


@pytest.mark.parametrize("unit", ["`", "~", " ", "a", "```\n", "\U0001f1e9"])
def test_no_text_is_counted_that_has_more_characters_than_its_tokens_could_hold(unit: str) -> None:
    lengths: list[int] = []

    def counting(text: str) -> int:
        lengths.append(len(text))
        return count(text)

    shorten("- " + unit * 100_000, 200, counting, left_out)
    assert max(lengths) <= 200 * CHARACTERS_PER_TOKEN + len("\n")


@pytest.mark.parametrize("in_front", ["", "a"])
def test_no_flag_is_split_however_many_stand_in_a_row(in_front: str) -> None:
    flags = in_front + "\U0001f1e9\U0001f1ea" * 5_000
    head, _, tail = parts(shorten("- " + flags, 200, count, left_out))
    assert len(head.removeprefix("- " + in_front)) % 2 == 0
    assert len(tail) % 2 == 0
