"""Small talk, and identifiers."""

# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.language.words import identifiers, is_filler


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


def test_identifiers_are_numbers_ids_dates_and_file_names() -> None:
    text = "Is INC-4471 in src/app.py, v2.3.1 or 3? And e.g. and/or getName, 14:30, 12.5%."
    assert identifiers(text) == ("INC-4471", "app.py", "v2.3.1", "getName", "14:30", "12.5%")
