"""A new language is a new file of word lists, and one of instructions: no code names a language."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.adapters.stemmer import load_terms
from builder.language.dates import mentioned
from builder.language.follow_ups import is_follow_up
from builder.language.instructions import instructions
from builder.language.sentences import sentences
from builder.language.traits import Trait, traits
from builder.language.word_lists import any_of, has_word, opens_with, words
from builder.language.wording import fingerprint
from builder.language.words import is_filler
from tests.unit.language.test_instruction_patterns import LANGUAGE
from tests.word_lists import lists_with

LISTS = """
months = [
    "januaro", "februaro", "marto", "aprilo", "majo", "junio", "julio", "aŭgusto", "septembro", "oktobro", "novembro", "decembro",
]
filler = ["jes", "dankon", "bone"]
small_talk = ["kiel vi fartas?"]
references = ["ĝi"]
answers = ["verŝajne"]
greetings = ["saluton"]
conclusions = ["decidita"]
asides = ["cetere"]
abbreviations = ["ktp", "s-ro"]
times = ["hieraŭ"]
numbers = ["dekdu"]
place_prepositions = ["al"]
continuations = ["kaj"]
follow_up_questions = ["kial"]
pronouns = ["tio"]
mail_headers = ["de", "al", "temo"]
when_questions = ["kiam"]
where_questions = ["kie"]
"""
INSTRUCTIONS = LANGUAGE.replace('"x{verb}"', '"ĉiam {verb}"')


@pytest.fixture
def esperanto(tmp_path: Path) -> Iterator[None]:
    with lists_with(tmp_path, {"eo.toml": LISTS, "instructions/eo.toml": INSTRUCTIONS}):
        yield


def findings() -> dict[str, object]:
    terms = load_terms()
    return {
        "filler": (is_filler("Jes, dankon!"), is_filler("Kiel vi fartas?")),
        "dates": (mentioned("la 3 marto").months, mentioned("en aŭgusto 2024").months),
        "roles": (
            opens_with("references", "Ĝi brulas."),
            opens_with("answers", "Verŝajne."),
            opens_with("greetings", "Saluton, Ana"),
            has_word("conclusions", "Tio estas decidita."),
        ),
        "sentences": len(sentences("S-ro Ek ktp. Vidu la domon.")),
        "repeats": fingerprint("Cetere, la forno estas ruĝa.") == fingerprint("La forno estas ruĝa."),
        "traits": traits("Ni iris hieraŭ al Romo. Ĉiam skribu."),
        "follow-up": is_follow_up("Kaj tio?", terms),
        "questions": (has_word("when_questions", "Kiam ĝi brulas?"), has_word("where_questions", "Kie estas Ana?")),
        "instructions": [instruction.language for instruction in instructions("Ĉiam skribu al mi.")],
    }


@pytest.mark.usefixtures("esperanto")
def test_a_language_is_added_by_its_files_alone() -> None:
    assert findings() == {
        "filler": (True, True),
        "dates": (((3, 3),), ((8, 0),)),
        "roles": (True, True, True, True),
        "sentences": 1,
        "repeats": True,
        "traits": Trait.TIME | Trait.PLACE,
        "follow-up": True,
        "questions": (True, True),
        "instructions": ["eo"],
    }


def test_without_its_files_nothing_of_it_is_recognised() -> None:
    assert findings() == {
        "filler": (False, False),
        "dates": ((), ()),
        "roles": (False, False, False, False),
        "sentences": 2,
        "repeats": False,
        "traits": Trait(0),
        "follow-up": False,
        "questions": (False, False),
        "instructions": [],
    }


def test_other_languages_are_as_before_beside_a_new_one(esperanto: None) -> None:
    assert esperanto is None
    assert (is_filler("okay, thanks"), mentioned("5 May").months, opens_with("answers", "Noch nicht")) == (True, ((5, 5),), True)
    assert [found.language for found in instructions("Always answer in German.")] == ["en"]


def test_a_list_that_no_language_has_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="colours"):
        words("colours")


def test_the_longest_entry_of_a_list_comes_first() -> None:
    lengths = list(map(len, words("greetings")))
    assert lengths == sorted(lengths, reverse=True)


def test_entries_of_scripts_without_spaces_match_inside_a_run_of_letters() -> None:
    pattern = any_of("conclusions")
    assert "决定" in pattern.rpartition("(?:")[2]
    assert "decided" not in pattern.rpartition("(?:")[2]
