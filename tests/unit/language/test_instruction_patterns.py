"""The cues of instructions are read from one file a language and indexed by their first words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.language.instruction_patterns import ANY_WORD, ANYWHERE, Language, languages
from tests.word_lists import lists_with

LANGUAGE = """
signs = "la kaj estas mi vi ne ĉiam neniam"
openers = "kaj bonvolu"
joints = "kaj"
subjects = "mi"
selves = "mi"
self_objects = "min"
single = ""
reasons = "ĉar {tool}"
leads = ""
leadins = ""
reported = "diris"
pasted = "mesaĝo"
presents = "jen la mesaĝo"
rules = "reguloj"
proverbs = ""
once = ""
stop = "la kaj"
generic = "uzu mal_bone"
both = ""
directions = "al"
others = "li"

[words]
verb = "skribu? {tool}"
tool = "(?:uzu|provu)"

[instructs]
begins = [["ĉiam {verb}", "x{verb}"], ["", "ie"]]
withdraws = [["ĉiam", "forgesu"]]
requests = [["*", "ĉu"]]
"""


@pytest.fixture
def esperanto(tmp_path: Path) -> Iterator[Language]:
    with lists_with(tmp_path, {"instructions/eo.toml": LANGUAGE}):
        yield next(language for language in languages() if language.code == "eo")


def test_the_languages_come_in_the_order_of_their_codes_each_with_its_script() -> None:
    codes = [language.code for language in languages()]
    assert codes == sorted(codes)
    scripts = {language.code: language.script for language in languages()}
    assert (scripts["en"], scripts["ru"], scripts["zh"]) == ("latin", "cyrillic", "han")


def test_only_a_script_with_spaces_has_words_that_tell_a_stemmer_the_language() -> None:
    anchors = {language.code: language.anchor for language in languages()}
    assert anchors["zh"] == ""
    assert len(anchors["en"].split()) == 6


def test_a_cue_is_indexed_by_each_of_its_first_words_and_those_that_withdraw_come_first(esperanto: Language) -> None:
    assert {"ĉiam", "skrib", "skribu", ANYWHERE, ANY_WORD} <= set(esperanto.cues)
    assert [cue.withdraws for cue in esperanto.cues["ĉiam"]] == [True, False]
    assert [cue.source for cue in esperanto.cues[ANYWHERE]] == ["ie"]


def test_lists_may_name_lists(esperanto: Language) -> None:
    (cue,) = esperanto.cues["skribu"]
    assert cue.pattern.match("xprovu")
    assert cue.pattern.match("XSKRIBU")
    assert not cue.pattern.match("xpetu")
    assert esperanto.reasons.search("ĉar uzu")


def test_the_kind_of_a_cue_says_where_it_counts(esperanto: Language) -> None:
    (request,), (begin,) = esperanto.cues[ANY_WORD], esperanto.cues[ANYWHERE]
    assert (request.begins, request.once, request.asks, request.withdraws) == (True, True, True, False)
    assert (begin.begins, begin.once, begin.asks) == (True, False, False)


def test_words_match_as_whole_words_and_an_empty_list_matches_nothing(esperanto: Language) -> None:
    assert esperanto.generic.search("Uzu tion, mal bone.")
    assert not esperanto.generic.search("reuzu")
    assert not esperanto.both.search("kaj")
    assert not esperanto.single.search("")
