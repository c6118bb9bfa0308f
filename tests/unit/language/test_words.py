"""Small talk, what a sentence does by its first words and its end, and names by their look."""
# ruff: noqa: RUF001 - words of many scripts

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.language.names import is_plain, look, looks, parts, quoted, skeleton
from builder.language.questions import asks, asks_within
from builder.language.word_lists import UNSPACED, has_word, opens_with
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


@pytest.mark.parametrize("sentence", ["He said so.", '"It\'s red."', "Das ist gut.", "Eso no.", "Это она.", "它很好。"])
def test_a_sentence_that_begins_with_a_reference_refers(sentence: str) -> None:
    assert opens_with("references", sentence)


@pytest.mark.parametrize("sentence", ["Hebrew is old.", "Itemise it.", "The kiln is hot.", "窑很热。"])
def test_a_word_that_only_begins_like_a_reference_does_not(sentence: str) -> None:
    assert not opens_with("references", sentence)


@pytest.mark.parametrize("sentence", ["Yes, the red one.", "Noch nicht.", "Sí, claro.", "Да.", "是的，红色的。", "no"])
def test_answers_are_recognised_by_their_beginning(sentence: str) -> None:
    assert opens_with("answers", sentence)
    assert not opens_with("answers", f"They said {sentence}")


def test_greetings_and_conclusions_are_recognised() -> None:
    assert opens_with("greetings", "Good morning, all.")
    assert has_word("conclusions", "So we decided on red.")
    assert has_word("conclusions", "我们决定用红色。")
    assert not has_word("conclusions", "The undecided voters wait.")


@pytest.mark.parametrize(
    ("text", "at_end", "within"),
    [
        ("Red?", True, True),
        ('"Red?"', True, True),
        ("Red? Blue.", False, True),
        ("红色吗？蓝色。", False, True),
        ("a?b.", False, False),
    ],
)
def test_a_question_is_seen_at_the_end_and_within(text: str, at_end: bool, within: bool) -> None:
    assert (asks(text), asks_within(text)) == (at_end, within)


@pytest.mark.parametrize(
    ("text", "time", "place"),
    [
        ("When does the kiln cool?", True, False),
        ("On what day, and in which town?", True, True),
        ("Seit wann steht er dort, und wo?", True, True),
        ("¿Cuánto tiempo tarda?", True, False),
        ("Где печь?", False, True),
        ("请问窑在哪里", False, True),
        ("What town hall?", False, True),
        ("Whenever it rains, the elsewhere of a woman.", False, False),
        ("What colour is it, and which one?", False, False),
    ],
)
def test_questions_for_a_time_and_for_a_place_are_recognised_by_whole_words(text: str, time: bool, place: bool) -> None:
    assert (has_word("when_questions", text), has_word("where_questions", text)) == (time, place)


TABLE = {
    chr(code): "".join(chr(int(sign, 16)) for sign in target.split())
    for target, sources in (
        line.split("\t")
        for line in (files("builder.language") / "data" / "confusables.tsv").read_text("utf-8").splitlines()
        if line[0] != "#"
    )
    for source in sources.split()
    for code in range(int(source.split("-")[0], 16), int(source.split("-")[-1], 16) + 1)
}
"""As the file says it, read here once more."""
ROLES = ("Assistant", "USER", "System", "Tool", "Call", "Developer", "Failed", "RESULT")


@pytest.mark.parametrize("role", ROLES)
def test_no_letter_of_a_role_can_be_exchanged_for_one_that_unicode_calls_confusable(role: str) -> None:
    alike = [
        role[:at] + sign + role[at + 1 :]
        for at, letter in enumerate(role)
        for sign, target in TABLE.items()
        if target == TABLE.get(letter, letter)
    ]
    assert len(alike) > 50
    assert [name for name in alike if is_plain(name)] == []


def test_the_skeleton_is_that_of_the_table_and_looks_at_decomposed_text() -> None:
    assert skeleton("\u0420\u0430ypal \u212b") == "Paypal A\u030a"
    assert {skeleton(sign) for sign, target in TABLE.items() if target == "a"} == {"a"}


def test_a_capital_i_may_be_read_as_an_l_in_every_place() -> None:
    assert looks("Iris") == {"lrls", "lris", "irls", "iris"}
    assert look("ASSISTANT") in looks("assistant")


def test_words_side_by_side_are_read_as_one() -> None:
    assert {"assistant", "theassistant", "the"} <= parts("The Ass.istant")


def test_a_quoted_name_is_one_line_without_quotation_marks_of_its_own() -> None:
    assert quoted('a"\n b') == '"a\' b"'


@given(st.text(st.characters(categories=("L", "N")), min_size=1, max_size=12))
def test_the_look_of_a_look_is_itself_for_what_a_name_is_made_of(text: str) -> None:
    seen = look(text)
    assert UNSPACED.search(text) or look(seen) == look(look(seen))
