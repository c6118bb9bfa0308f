"""Where sentences end and where they do not, and which line leads a passage."""

# ruff: noqa: RUF001 - words of many scripts

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.language.sentences import MAX_LEAD_CHARS, sentences, with_lead

WHOLE = [
    "Die Garantie läuft bis zum 14. Mai 2028.",
    "Wir sind am 3. und 4. Juni in Bonn.",
    "Der 1. FC Köln spielt am 2. Advent gegen den 2. der Tabelle.",
    "1. FC Köln gegen Mainz",
    "Lindenallee 8 in 04229 Leipzig, 2. Stock links",
    "Im 19. Jahrhundert stand hier das 3. Haus.",
    "Nimm Zimmer Nr. 5 oder z. B. das von Dr. Meier.",
    "Das geht z.B. am Mo. 14 Uhr, d. h. bald.",
    "St. Petersburg liegt nördlich, vgl. Abb. 3 usw. auf der Karte.",
    "Compra fruta, p. ej. peras, en la Av. Colón núm. 12 con la Sra. Ruiz.",
    "Volamos a EE. UU. el 3 de mayo.",
    "It weighs 3.5 kg, e.g. like No. 12 of v1. 2 by Mr. J. R. R. Tolkien.",
    "See https://a.example/x.html?y=1. or b.py and c.tar.gz please",
    "Well... maybe the blue one … or the red one . . . who knows.",
    'She asked "Really?" and left (see p. 3.) at 5 p.m. on Monday.',
    "Open config.yaml and set v to 1.5",
    "3. Preheat the oven to 200 °C.",
    "Это стоит 5 тыс. рублей, т. е. дорого.",
]
CUT = [
    ("It fires at cone 6. Nina brings the glaze.", ["It fires at cone 6.", "Nina brings the glaze."]),
    ("I am 14. My sister is 12.", ["I am 14.", "My sister is 12."]),
    ("Es kostet 14. Danach ist es teurer.", ["Es kostet 14.", "Danach ist es teurer."]),
    ("No. We stay. Bob and I. Then we go.", ["No.", "We stay.", "Bob and I.", "Then we go."]),
    ("It ends at 5 p.m. Bring cups, clay etc. Nina pays.", ["It ends at 5 p.m.", "Bring cups, clay etc.", "Nina pays."]),
    ("Open config.yaml. Then run it!", ["Open config.yaml.", "Then run it!"]),
    ("See https://a.example/x. The rest is here.", ["See https://a.example/x.", "The rest is here."]),
    ("¿Vienes? ¡Sí! Voy el lunes.", ["¿Vienes?", "¡Sí!", "Voy el lunes."]),
    ('She said "no." We left.', ['She said "no."', "We left."]),
    ("窑在代尔夫特。谢谢！“好。”他说", ["窑在代尔夫特。", "谢谢！", "“好。”", "他说"]),
    ("one line\n\n  another line  \n", ["one line", "another line"]),
    ("First mix it. 2. Bake it. 3. Eat it.", ["First mix it.", "2. Bake it.", "3. Eat it."]),
    ("It was a long day... Nina slept.", ["It was a long day...", "Nina slept."]),
    ("", []),
    (" \n ", []),
]


@pytest.mark.parametrize("text", WHOLE)
def test_no_sentence_ends_at_an_ordinal_an_abbreviation_a_number_an_address_or_an_ellipsis(text: str) -> None:
    assert [text[start:end] for start, end in sentences(text)] == [text]


@pytest.mark.parametrize(("text", "found"), CUT)
def test_sentences_end_at_their_marks_and_at_line_ends(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == found


@given(st.text(alphabet="aB1.!?… \n\"'。z", max_size=60))
def test_every_word_is_in_one_span_and_no_span_has_white_space_around_it(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() and start < end for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


ANSWER = "Here is the plan.\n\n## Glaze\nMix it thin.\n\n**Kiln:**\nFire at noon. Open it on Monday."


def lead(text: str, passage: str) -> str:
    """What stands in front of a passage."""
    start = text.index(passage)
    (first, *others) = with_lead(text, ((start, start + len(passage)),))
    return text[slice(*first)] if others else text[first[0] : start]


@pytest.mark.parametrize(
    ("passage", "line"),
    [("Open it on Monday.", "**Kiln:**"), ("Mix it thin.", "## Glaze\n"), ("## Glaze", "Here is the plan.\n\n")],
)
def test_it_is_the_nearest_heading_or_the_first_sentence(passage: str, line: str) -> None:
    assert lead(ANSWER, passage) == line


def test_the_whole_text_its_beginning_and_a_text_without_a_short_line_have_none() -> None:
    assert with_lead(ANSWER, ()) == ()
    assert with_lead(ANSWER, ((0, 9),)) == ((0, 9),)
    long = f"{'clay ' * MAX_LEAD_CHARS}and so on. Fire at noon."
    start = long.index("Fire")
    assert with_lead(long, ((start, len(long)),)) == ((start, len(long)),)
