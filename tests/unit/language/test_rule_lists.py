"""A list below a heading of rules is told from recipes, from lists of tasks and from the rules of others."""

import pytest

from builder.language.instructions import END_CHARS, instructions
from builder.language.rule_lists import MAX_CHARS, MAX_ITEMS, rule_items
from tests.growth import LINEAR, growth


def rules(text: str) -> list[str]:
    return [text[found.start : found.end] for found in instructions(text)]


@pytest.mark.parametrize(
    ("heading", "language"),
    [
        ("### Conventions", "en"),
        ("**House rules:**", "en"),
        ("Please keep to these rules:", "en"),
        ("Guidelines for this repository", "en"),
        ("📏 Naming conventions —", "en"),
        ("My rules are:", "en"),
        ("Unsere Projektregeln:", "de"),
        ("Nos conventions", "fr"),
        ("Normas de la casa:", "es"),
        ("Le nostre regole:", "it"),
        ("Regras do projeto", "pt"),
        ("Правила проекта:", "ru"),
        ("我们的约定", "zh"),
        ("プロジェクトのルール", "ja"),
    ],
)
def test_what_stands_below_a_heading_of_rules_is_a_rule_whatever_its_words(heading: str, language: str) -> None:
    text = f"Hello.\n\n{heading}\n\n- db2 = staging\n1. nox, pytest\n\nWe fire on Tuesday."
    assert rules(text) == ["db2 = staging", "nox, pytest"]
    assert {found.language for found in instructions(text)} == {language}


OF_NOBODY = """\
## Instructions|Their rules:|The landlord's rules:|The old conventions|
He broke the rules:|We discussed the guidelines|There are no rules|
I hate these rules:|Folders|He broke all the rules, and then:|I forgot the rules|Which of the two guidelines|
Customer preferences|User preferences|Firewall rules|CSS rules|
Grammar rules|Rules of the game|Monopoly rules|Spielregeln:|Verkehrsregeln:|
Reglas del juego|Reglas de ajedrez|Règles des échecs|Правила игры|
Правила шахмат|游戏规则|ゲームのルール|Explain the offside rules:|Compare naming conventions|Write some house rules:|
Draft community guidelines|Schreib mir Hausregeln|Erkläre die Regeln:|Escribe las reglas:|写一份班级规则|rules:|"""


@pytest.mark.parametrize("heading", [each.strip() for each in OF_NOBODY.split("|")])
def test_recipes_games_requests_stories_and_rules_of_others_are_no_rules(heading: str) -> None:
    assert rules(f"{heading}\n- db2 = staging\n- the kiln") == []


@pytest.mark.parametrize(
    "request_for_work",
    [
        "Summarise this style guide:", "Translate into German:", "Review this README for me.", "Fass das bitte zusammen:",
        "Résume ce texte :", "Resume este texto:", "Riassumi:", "Traduza:", "Переведи на английский:", "请总结", "要約して",
    ],
)  # fmt: skip
def test_a_text_to_work_on_has_no_rules(request_for_work: str) -> None:
    assert rules(f"{request_for_work}\n\n## Conventions\n- db2 = staging\n- nox, pytest") == []
    assert rules(f"## Conventions\n- db2 = staging\n- nox, pytest\n\n{request_for_work}") == []


@pytest.mark.parametrize(
    "line",
    [
        "-5 degrees in the freezer", "9.30 is when we meet", "24.12. bin ich nicht da", "5.99 is what the cone costs", "-Tom",
        "e.g. the file main.go", "3.11 is the Python that we run", "-v prints more", "**Folders**\n- src", "*Shopping*\n- milk",
    ],
)  # fmt: skip
def test_a_line_that_begins_like_an_item_and_is_none_ends_the_list_and_keeps_its_words(line: str) -> None:
    assert rules(f"Our rules:\n- db2 = staging\n{line}") == ["db2 = staging"]


@pytest.mark.parametrize(
    "task",
    [
        "Now fix the login bug.", "Please write a function that adds them.", "Explain me how the auth works.",
        "Schreib jetzt den Login.", "Kannst du mir das Angebot prüfen?", "Rédige maintenant le mail.", "Escribe el correo.",
        "请帮我写一个函数", "You got it wrong twice.", "It is comparable to my resume site, revised in May.",
    ],
)  # fmt: skip
def test_a_task_beside_the_list_takes_no_rule_away(task: str) -> None:
    assert "db2 = staging" in rules(f"Our conventions:\n- db2 = staging\n\n{task}")


@pytest.mark.parametrize("question", ["What do you think of our rules?", "Are these too strict?", "Was hältst du davon?"])
def test_rules_that_somebody_asks_about_are_no_rules(question: str) -> None:
    assert rules(f"Rules:\n- db2 = staging\n- nox, pytest\n\n{question}") == []


def test_tasks_questions_and_what_comes_after_the_list_are_no_rules() -> None:
    assert rules("Conventions\n- [ ] rename the kiln\n-  [x] the flag") == []
    assert rules("Rules\n- db2 = staging\n- or is it db1?\n") == ["db2 = staging"]
    assert rules("Rules\n- db2 = staging\n\n### Folders\n- glaze: the glaze\n") == ["db2 = staging"]


def test_an_item_is_one_rule_with_all_its_sentences_and_its_indented_lines() -> None:
    text = "Rules\n- db2 is staging. It is slow,\n  since May.\n    - nox: always\n2) pytest"
    assert rules(text) == ["db2 is staging. It is slow,\n  since May.", "nox: always", "pytest"]


@pytest.mark.parametrize("mark", ["-", "*", "•", "‣", "◦", "・", "1.", "(2)", "3、", "a)"])
def test_an_item_may_have_any_mark_of_lists(mark: str) -> None:
    assert rules(f"Rules\n{mark} db2 = staging\n{mark} the kiln") == ["db2 = staging", "the kiln"]


def test_an_item_that_its_words_make_a_rule_is_told_from_one_that_the_heading_makes() -> None:
    assert [found.is_listed for found in instructions("Rules\n- never use tabs\n- db2 = staging")] == [False, True]


def test_lists_of_a_whole_document_are_none_of_rules() -> None:
    items = "- db2 = staging\n"
    assert rules(f"Rules\n{items * MAX_ITEMS}")
    assert rules(f"Rules\n{items * (MAX_ITEMS + 1)}") == []
    half = items * (MAX_ITEMS // 2 + 1)
    assert rules(f"Rules\n{half}\nConventions\n{half}") == []
    assert rules(f"Rules\n- db2 = {'staging ' * (MAX_CHARS // 8)}\n") == []


def test_a_list_that_is_read_in_part_is_no_list() -> None:
    story = "The clay came late and it was wet.\n"
    before = story * (END_CHARS // len(story)) + "Rules\n- db2 = staging\n"
    assert len(before) > END_CHARS - len(story)
    assert rules(f"{before}{'- nox, pytest' * 3}\n{story * 400}") == []


@pytest.mark.parametrize("piece", ["rules\n", "- a\n", "rules rules ", "rules\n- a\nis it ", "are these ", "our \n", "- [ ] \n"])
def test_texts_made_to_be_slow_take_linear_time(piece: str) -> None:
    assert growth(lambda size: rule_items((piece * size)[:size], 0, size), 500) < LINEAR
