"""Long texts are searched in stretches of about ninety words."""

import json

import pytest

from builder.remember.memory import MAX_PASSAGE_CHARS, MAX_PASSAGES, PASSAGE_WORDS, lines, passages


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in passages(text)]


def test_a_short_text_is_one_passage() -> None:
    assert passages("We meet on Friday.\nBring the glaze.") == ((0, 35),)


def test_an_empty_text_is_one_empty_passage() -> None:
    assert passages("") == ((0, 0),)
    assert passages("\n" * 5_000) == ((0, 0),)


@pytest.mark.parametrize("beginning", ["", "See [1], [2]. It is a letter. "])
def test_a_long_text_is_cut_at_sentence_ends(beginning: str) -> None:
    sentences = [f"This is sentence number {n} of the whole letter." for n in range(30)]
    found = pieces(beginning + " ".join(sentences))
    assert len(found) > 1
    assert [piece.endswith("letter.") for piece in found] == [True] * len(found)
    assert all(len(piece.split()) <= PASSAGE_WORDS for piece in found)


def test_lines_are_ends_too() -> None:
    lines = [f"item {n} costs {n} coins" for n in range(60)]
    assert all(line in lines for piece in pieces("\n".join(lines)) for line in piece.split("\n"))


def test_a_list_of_records_is_cut_between_them_whatever_their_sentences() -> None:
    records = [{"id": f"D-{n}", "note": f"Liv called. She wants {n} seats. Meera agreed.", "tags": ["new"]} for n in range(30)]
    found = pieces(f"crm_list {json.dumps({'deals': records})}")
    assert len(found) > 1
    assert all(piece.startswith('{"id"') for piece in found[1:])


@pytest.mark.parametrize("text", ["[" + "{}," * 340_000 + "{}]", "好。" * 300_000])
def test_pieces_without_spaces_are_bounded_too(text: str) -> None:
    assert len(passages(text)) <= 2 * MAX_PASSAGES


def test_passages_are_filled_before_the_next_one_begins() -> None:
    found = pieces("One two three four five. " * 100)
    assert [len(piece.split()) for piece in found] == [90, 90, 90, 90, 90, 50]


def test_chinese_is_cut_at_its_own_full_stop() -> None:
    found = pieces("我昨天在上海买了一张去北京的火车票。" * 200)
    assert len(found) > 1
    assert all(piece.endswith("。") and len(piece) <= MAX_PASSAGE_CHARS for piece in found)


def test_a_text_without_any_place_to_cut_is_cut_by_length() -> None:
    assert [len(piece) for piece in pieces("x" * 3000)] == [1200, 1200, 600]


def test_blank_space_in_front_makes_no_passage_longer() -> None:
    found = pieces("\n" * 5_000 + "The kiln is hot. " * 300)
    assert found[0].startswith("The kiln")
    assert max(map(len, found)) <= MAX_PASSAGE_CHARS


def test_each_line_of_a_summary_is_a_passage() -> None:
    text = "rent: 950 euros\nclay: from Limoges"
    assert [text[start:end] for start, end in lines(text)] == ["rent: 950 euros", "clay: from Limoges"]
    assert lines("") == ((0, 0),)


def test_a_log_has_passages_of_a_line_and_code_of_the_same_length_has_not() -> None:
    lines = [f"2026-05-11T02:{n:02}:07Z ERROR pool {n} timed out after five seconds of waiting" for n in range(40)]
    assert pieces("\n".join(lines)) == lines
    assert len(pieces("\n".join(f"def step_{n}(rows): return [row for row in rows if row.sheet == {n}]" for n in range(40)))) < 10
