"""Small talk, exact repeats, contradictions."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.pipeline.words import contradict, fingerprint, is_filler


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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The rent is 900 a month", "The rent is 950 a month"),
        ("It is -5 outside", "It is 5 outside"),
        ("We fly on 2024-05-01", "We fly on 2024-05-02"),
        ("We meet in May", "We meet in June"),
        ("the call is at 10:30", "the call is at 10:45"),
        ("I told Ana about it", "I told Bob about it"),
        ("I eat meat", "I never eat meat"),
        ("Restart it", "Don't restart it"),
        ("Restart it", "Don’t restart it"),
        ("Ich mag das", "Ich mag das nicht"),
        ("Me gusta", "No me gusta"),
        ("C'est bon", "C'est pas bon"),
        ("Я люблю это", "Я не люблю это"),
        ("我喜欢咖啡", "我不喜欢咖啡"),
        ("食べます", "食べません"),
    ],
)
def test_different_numbers_dates_names_or_negation_contradict(first: str, second: str) -> None:
    assert contradict(first, second)
    assert contradict(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We meet Ana at 5 in Rome.", "So we meet Ana at 5 in Rome!"),
        ("Please restart it", "Restart it please"),
        ("I never eat meat", "I do not eat meat"),
        ("It is not untrue that nobody came", "somebody came"),
    ],
)
def test_the_same_said_in_other_words_does_not_contradict(first: str, second: str) -> None:
    assert not contradict(first, second)
