"""Small talk."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.language.words import has_word, identifiers, is_filler


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
    ("name", "yes", "no"),
    [
        (
            "own_words_questions",
            ("What did you recommend?", "Was hast du gesagt?", "¿Qué propusiste?", "你建议什么？"),
            "What did she say?",
        ),
        ("broad_questions", ("Give me a summary.", "In welcher Reihenfolge?", "Resúmeme todo", "По порядку?"), "When is it?"),
        ("failures", ("What went wrong?", "Welcher ist fehlgeschlagen?", "¿Qué falló?", "Где ошибка?"), "What is it?"),
    ],
)
def test_what_a_question_is_for(name: str, yes: tuple[str, ...], no: str) -> None:
    assert all(has_word(name, text) for text in yes)
    assert not has_word(name, no)


def test_identifiers_are_numbers_ids_dates_and_file_names() -> None:
    text = "Is INC-4471 in src/app.py, v2.3.1 or 3? And e.g. and/or getName, 14:30, 12.5%."
    assert identifiers(text) == ("INC-4471", "app.py", "v2.3.1", "getName", "14:30", "12.5%")
