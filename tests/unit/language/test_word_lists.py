"""What a sentence does by its first words, and what a question is for."""

# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.language.word_lists import has_word, opens_with


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
