"""Places at which a text may be cut."""

from builder.adapters.templates.cuts.passages import back, clip, edges, forward


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
