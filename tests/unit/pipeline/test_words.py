"""Small talk and exact repeats."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.pipeline.words import fingerprint, is_filler


@pytest.mark.parametrize(
    "text",
    [
        "okay", "Thanks!", "You're welcome", "sounds good to me", "Yes.", "no problem", "👍", "...", "",
        "Danke!", "Vielen Dank", "Alles klar, danke", "¡Gracias!", "muchas gracias", "De nada", "Sí, claro",
        "Merci beaucoup", "D’accord", "va bene, grazie", "obrigada", "Спасибо!", "большое спасибо", "Ок, понятно",
        "好的，谢谢", "没问题。", "はい、ありがとう", "네", "ＯＫ",
    ],
)  # fmt: skip
def test_small_talk_is_filler(text: str) -> None:
    assert is_filler(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok?", "The code is 4711", "Yes, on Friday", "Thanks, the glaze worked", "Danke, um acht Uhr", "Gracias, hasta el lunes",
        "Merci, à demain", "Спасибо, в пятницу", "谢谢，明天见", "ok " * 7, "!" * 81,
    ],
)  # fmt: skip
def test_what_says_something_is_no_filler(text: str) -> None:
    assert not is_filler(text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Okay, we meet at noon.", "okay we meet at NOON"),
        ("Don’t do it", "don't do it!"),
        ("ＡＢＣ １２３", "abc 123"),
        ("cafe\u0301", "Café"),
        ("one\n\n  two", "One, two."),
        ("التفّاح", "التفاح"),
    ],
)
def test_texts_that_differ_in_case_width_spaces_or_punctuation_are_repeats(first: str, second: str) -> None:
    assert fingerprint(first) == fingerprint(second)
    assert len(fingerprint(first)) == 16


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We meet at 5", "We meet at 6"),
        ("It is -5 outside", "It is 5 outside"),
        ("It costs 1.50", "It costs 15.0"),
        ("👍", "👎"),
        ("?", "!"),
        ("दिल", "दल"),
        ("ข้าว", "ข่าว"),
        ("", "x"),
    ],
)
def test_texts_that_say_different_things_are_no_repeats(first: str, second: str) -> None:
    assert fingerprint(first) != fingerprint(second)


def test_half_a_surrogate_pair_has_a_fingerprint() -> None:
    assert len(fingerprint("half \ud83d")) == 16
