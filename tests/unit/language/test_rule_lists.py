"""A list below a heading of rules is told from recipes, from lists of tasks and from the rules of others."""

import pytest

from builder.language.instructions import instructions
from builder.language.rule_lists import MAX_ITEMS, rule_lists
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


@pytest.mark.parametrize(
    "heading",
    [
        "## Instructions",
        "Their rules:",
        "The landlord's rules:",
        "The old conventions",
        "Folders",
        "He broke all the rules, and then:",
        "",
    ],
)
def test_a_recipe_and_the_rules_of_others_are_no_rules(heading: str) -> None:
    assert rules(f"{heading}\n- db2 = staging\n- the kiln") == []


def test_tasks_questions_and_what_comes_after_the_list_are_no_rules() -> None:
    assert rules("Conventions\n- [ ] rename the kiln\n- [x] the flag") == []
    assert rules("Rules\n- db2 = staging\n- or is it db1?\n") == ["db2 = staging"]
    assert rules("Rules\n- db2 = staging\n\n### Folders\n- glaze: the glaze\n") == ["db2 = staging"]


def test_indented_lines_below_an_item_do_not_end_the_list() -> None:
    (found,) = rule_lists("Rules\n- db2 = staging\n  since May\n- nox")
    assert (found.start, found.end) == (6, 39)


def test_a_list_of_a_whole_document_is_none_of_rules() -> None:
    items = "- db2 = staging\n"
    assert rules(f"Rules\n{items * MAX_ITEMS}")
    assert rules(f"Rules\n{items * (MAX_ITEMS + 1)}") == []


@pytest.mark.parametrize("piece", ["rules\n", "- a\n", "rules rules ", "our \n", "- [ ] \n"])
def test_texts_made_to_be_slow_take_linear_time(piece: str) -> None:
    assert growth(lambda size: [*rule_lists((piece * size)[:size])], 500) < LINEAR
