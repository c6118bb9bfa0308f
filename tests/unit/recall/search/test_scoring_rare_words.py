"""Rare words and keywords: found before all that shares no word, in every language."""

from dataclasses import replace

import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.recall.search.query import MAX_WORDS, content_words
from tests.factories import make_query, make_remembered, make_terms, make_turn
from tests.searches import BLAND, best, find, searched

NOISE = {
    "de": "Am Vormittag lieferte die Spedition {} wieder drei Paletten, und der Hof war nass.",
    "fr": "Le matin la camionnette {} a livré trois palettes, et la cour était mouillée.",
    "es": "Por la mañana el camión {} trajo tres palés, y el patio estaba mojado.",
    "en": "In the morning van {} brought three pallets, and the yard was wet.",
    "zh": "早上{}号货车送来三个托盘。院子是湿的。",
    "nl": "In de ochtend bracht wagen {} weer drie pallets, en het erf was nat.",
}


def chatter(language: str, number: int = 60) -> list[StoredBreadcrumb | str]:
    return [make_turn(NOISE[language].format(n), n) for n in range(100, 100 + number)]


@pytest.mark.parametrize(
    ("language", "fact", "question"),
    [
        ("de", "Beschlossen wurde: das Losungswort der Garage heißt Zaunkönig.", "Wie war nochmal das Losungswort?"),
        ("de", "Die Garantieurkunden liegen bei Frau Brandl.", "Garantieurkunde?"),
        ("fr", "La consigne de la chaudière est réglée sur 61.", "Quelle est la consigne ?"),
        ("es", "El albarán de la imprenta lleva el número 8802.", "¿Y el número 8802?"),
        ("en", "The escrow agent of the barn sale is Mr Tull.", "Who handles escrow?"),
        ("zh", "车库的暗号是喜鹊。", "暗号是什么"),
        ("nl", "De verhuisdozen staan bij Sanne op zolder.", "Waar zijn de verhuisdozen?"),
        ("de", "The badge of the courier is QX-7731.", "Wofür steht QX-7731?"),
    ],
)
def test_the_only_place_with_a_word_of_the_question_comes_first_however_improbable(
    language: str, fact: str, question: str
) -> None:
    rows = [make_remembered(fact, 1), *chatter(language)]
    found = find(question, rows, min_probability=0.99)
    assert best(found) == ["m1"]
    assert found.found.finds[0].is_literal


def test_a_passage_of_a_long_pasted_text_is_found_by_its_only_such_word() -> None:
    minutes = " ".join(f"Tagesordnung {n}: Halle {n % 7} wurde mit Lager {n % 5} besprochen." for n in range(240))
    pasted = f"{minutes} Der Notfallkoffer steht hinter Tor 4. {minutes}"
    found = find("Wo steht der Notfallkoffer?", [make_remembered(pasted, 1), *chatter("de")], min_probability=0.99)
    (only,) = found.found.finds
    assert "Notfallkoffer" in pasted[only.spans[0][0] : only.spans[0][1]]


def test_a_question_that_the_page_shows_already_hides_no_answer() -> None:
    rows = [
        make_remembered("Das Losungswort heißt Zaunkönig.", 1),
        *chatter("de"),
        make_remembered("Kennst du das Losungswort?", 300),
    ]
    assert best(find("Wie war das Losungswort?", rows, 61, min_probability=0.99)) == ["m1"]


def test_of_several_the_one_with_more_rare_words_comes_first() -> None:
    rows = [
        make_remembered("Der Schlosser hat Zeit.", 1),
        make_remembered("Der Tresen braucht Politur und eine Messingleiste.", 2),
        *chatter("de"),
    ]
    assert best(find("Schlosser, Messingleiste und Politur?", rows, min_probability=0.99)) == ["m2", "m1"]


@pytest.mark.parametrize("question", ["Was ist das?", "Tell me more, please.", "Thanks, that was great!", "¿Y tú qué dices?"])
def test_function_words_and_small_talk_are_no_evidence(question: str) -> None:
    rows: list[StoredBreadcrumb | str] = [
        make_remembered("Was it? Qué sería, please tell that you. Great thanks, was ist das mehr?", 1),
        *BLAND,
    ]
    assert not any(each.is_literal for each in find(question, rows).found.finds)


def test_a_word_that_several_say_is_left_to_the_learned_order() -> None:
    rows = [make_remembered("Der Hof ist trocken.", 1), *chatter("de")]
    assert not find("Hof?", rows, min_probability=0.99).found.finds


@pytest.mark.parametrize(
    ("question", "keywords"),
    [("influxdb?", ("influxdb",)), ("influxdb", ("InfluxDB", "metrics")), ("Wo ist die Wasser-Uhr?", ("wasser uhr",))],
)
@pytest.mark.parametrize("text", ["It listens on 8086.", "Sie lauscht auf 8086."])
def test_every_record_with_a_keyword_that_the_question_names_is_found(
    question: str, keywords: tuple[str, ...], text: str
) -> None:
    rows = [make_remembered(f"{text} {n}", n, pointers=keywords) for n in (1, 2, 3)]
    assert sorted(best(find(question, [*rows, *chatter("de")], min_probability=0.99))) == ["m1", "m2", "m3"]


def test_the_probability_of_all_others_stays_the_same() -> None:
    rows = [make_remembered("Das Losungswort heißt Zaunkönig.", 1), *chatter("de", 9)]
    with_words, without = (
        {each.row: each.probability for each in searched(asked, rows).found.finds}
        for question in [make_query("Losungswort der Spedition?")]
        for asked in (question, replace(question, content=()))
    )
    assert with_words.keys() == without.keys()
    assert {row for row in without if with_words[row] != pytest.approx(without[row])} <= {0}


def test_a_very_long_question_is_looked_at_in_part() -> None:
    words = " ".join(f"wort{n}" for n in range(3 * MAX_WORDS))
    assert len(content_words(words, make_terms)) == MAX_WORDS
