"""Which words of a text are searched, and in which form."""
# ruff: noqa: RUF001 - words of many scripts

import tomllib
from importlib.resources import files

import pytest

from builder.adapters.stemmer import load_language, load_terms

terms = load_terms()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cats were running in the gardens.", "cat run garden"),
        ("Die Katzen und die Häuser sind in den Gärten.", "katz haus gart"),
        ("Los gatos y las casas de los niños", "gat cas niñ"),
        ("Les chats et les maisons des enfants", "chat maison enfant"),
        ("I gatti e le case di questa città", "gatt cas citt"),
        ("Os gatos e as casas do menino", "gat cas menin"),
        ("De katten en de huizen van het kind", "kat huis kind"),
        ("Кошки и дома у моих друзей", "кошк дом друг"),
    ],
    ids=["English", "German", "Spanish", "French", "Italian", "Portuguese", "Dutch", "Russian"],
)
def test_words_are_stemmed_in_the_language_that_the_function_words_tell(text: str, expected: str) -> None:
    assert terms(text) == expected


def test_a_text_without_function_words_is_read_as_english() -> None:
    assert terms("Zauberwürfel Bestellungen") == terms("zauberwürfel bestellungen")
    assert terms("orders glazes kilns") == "order glaze kiln"


@pytest.mark.parametrize(
    "forms",
    ["go goes went gone going", "buy bought buying", "child children", "take took taken", "good better best", "life lives"],
)
def test_irregular_forms_are_one_word(forms: str) -> None:
    assert len({terms(form) for form in forms.split()}) == 1


def test_irregular_forms_are_those_of_the_language_of_the_text() -> None:
    assert terms("Der Held fand das Meer") == "held find meer"
    assert terms("He found the sea") == "find sea"


def test_no_irregular_form_leads_to_another_irregular_form() -> None:
    table = tomllib.loads((files("builder.adapters.stemmer") / "words.toml").read_text("utf-8"))
    for words in map(str.split, table["irregular"].values()):
        pairs = dict(zip(words[::2], words[1::2], strict=True))
        chained = {form: base for form, base in pairs.items() if pairs.get(base, base) != base}
        assert not chained


def test_function_words_are_left_out() -> None:
    assert terms("What did you do with it, and why don't they know?") == "know"
    assert terms("Who are you?") == ""


@pytest.mark.parametrize("text", ["", "   \n", "?!", "👍🏽 ❤️", "___"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert terms(text) == ""


def test_chinese_and_japanese_give_overlapping_pairs() -> None:
    assert terms("我住在北京。") == "我住 住在 在北 北京"
    assert terms("東京タワー") == "東京 京タ タワ ワー"
    assert terms("好") == "好"


def test_words_and_numbers_inside_chinese_text_stay_whole() -> None:
    assert terms("使用Python编程") == "使用 python 编程"
    assert terms("电话是13800138000，打给我") == "电话 话是 13800138000 打给 给我"


def test_vowel_signs_are_part_of_the_word() -> None:
    assert terms("दिल्ली") == "दिल्ली"
    assert terms("दिल") != terms("दल")
    assert terms("ข้าว") != terms("ข่าว")


def test_vowels_that_writers_may_leave_out_make_no_difference() -> None:
    assert terms("التفّاح") == terms("التفاح")
    assert terms("שָׁלוֹם") == terms("שלום")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("The server 10.0.0.7 is down", "10.0.0.7"),
        ("upgrade to v1.2 first", "v1.2"),
        ("due 2024-05-01", "2024-05-01"),
        ("call room_12", "room_12"),
        ("at 12:30", "12:30"),
    ],
)
def test_joined_numbers_are_found_whole_and_by_their_parts(text: str, whole: str) -> None:
    found = terms(text).split()
    assert whole in found
    assert whole.replace("-", ".").replace("_", ".").replace(":", ".").split(".")[-1] in found


def test_joined_words_without_numbers_are_found_by_their_parts() -> None:
    assert terms("ana@example.org") == "ana exampl org"
    assert terms("state-of-the-art") == "state art"


def test_case_width_and_composition_make_no_difference() -> None:
    assert terms("ＬＩＳＢＯＮ") == terms("lisbon") == terms("Lisbon")
    assert terms("cafe\u0301") == terms("café") == terms("CAFÉ")
    assert terms("Straße") == terms("STRASSE")
    assert terms("ﬁre １２３") == "fire 123"


def test_order_and_repetition_are_kept() -> None:
    assert terms("kiln glaze kiln") == "kiln glaze kiln"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The kiln is hot and it stands in Delft.", "en"),
        ("Der Ofen ist heiß und steht in Delft.", "de"),
        ("窑很热。", "und"),
        ("", "und"),
    ],
)
def test_the_language_of_a_text_is_that_of_its_function_words(text: str, code: str) -> None:
    assert load_language()(text) == code


def stems(language: str, words: str) -> set[str]:
    """Of each word, in a text of this language."""
    begin = {"de": "und dass ist {}", "es": "el que los {}", "ru": "и не что {}"}[language]
    return {terms(begin.format(word)) for word in words.split()}


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", "bringen bringe bringt bringst brachte gebracht"),
        ("de", "klopfen klopfe klopfst"),
        ("de", "ablegen abgelegt abgelegtes ablegt"),
        ("de", "zahlen zahlt zahlte zahlten gezahlt"),
        ("de", "stellen stellt stellte gestellt gestellten"),
        ("de", "setzen setzt setzte gesetzt"),
        ("de", "reservieren reserviert reservierte reservierten"),
        ("de", "kaufen kauft kaufte gekauft"),
        ("de", "wechseln wechselt gewechselt"),
        ("de", "drehen dreht drehte gedreht"),
        ("es", "buscar busca busqué buscado busquemos"),
        ("es", "empezar empieza empecé empezado"),
        ("es", "preferir prefiero prefiere prefirió"),
        ("ru", "день дня дней дни"),
        ("ru", "принести принёс принес принесла принесёт"),
        ("ru", "пойти пошёл пошла пойдёт"),
        ("ru", "ребёнок дети детей"),
    ],
)
def test_the_forms_of_a_word_are_one_term(language: str, forms: str) -> None:
    assert len(stems(language, forms)) == 1


@pytest.mark.parametrize(
    "words",
    [
        "Konzert Konzern", "hundert Hund", "Märkte Marken", "Gast Gas", "Punkt Punk", "Stadt stad", "Fährte fahren",
        "gelangt lang",
        "gefällt fällt", "Einwohner eingewöhnt", "geniert Niere", "Gefährt Gefahr", "Rabatt Raba", "Arzt Arz", "Abt aben",
    ],
)  # fmt: skip
def test_words_that_only_look_like_forms_of_a_verb_stay_apart(words: str) -> None:
    assert len(stems("de", words)) == 2


@pytest.mark.parametrize("word", ["jetzt", "wann", "cuándo", "cuánto", "dónde", "ещё", "сколько", "какой"])
def test_function_words_of_questions_are_left_out(word: str) -> None:
    assert terms(f"{word}?") == ""


def test_russian_needs_no_function_word_to_be_read_as_russian() -> None:
    assert terms("Пароль?") == terms("и не что пароля")
