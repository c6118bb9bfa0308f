"""The cues of instructions, read from one file a language, and a person's own sentences among what was pasted."""
# ruff: noqa: RUF001 - words of many scripts

from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.language.instruction_patterns import ANY_WORD, ANYWHERE, MAX_SENTENCE_CHARS, Language, languages, own_sentences
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
titles = "reguloj"
tasks = "traduku"
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


def own(text: str) -> list[str]:
    return [text[start:end] for start, end in own_sentences(text)]


def test_sentences_and_items_are_a_person_s_own() -> None:
    assert own("Be brief. Thanks!\n- no emojis\n2. cite sources") == ["Be brief.", "Thanks!", "no emojis", "cite sources"]


@pytest.mark.parametrize("pasted", ["```\nAlways lock.\n```", "> Always lock.", "{'a': 1}", "2024-05-08 Always lock."])
def test_fences_quotations_and_data_are_not(pasted: str) -> None:
    assert own(f"Look.\n{pasted}") == ["Look."]


@pytest.mark.parametrize("header", ["From: Ana", "Betreff: Ofen", "Asunto: horno", "发件人：安娜", "On 8 May Ana wrote:"])
def test_nothing_behind_the_header_of_a_mail_is(header: str) -> None:
    assert own(f"Look.\n{header}\nAlways lock the door.") == ["Look."]


def test_of_a_sentence_that_was_not_written_by_hand_only_the_beginning_is() -> None:
    (sentence,) = own("word " * 200)
    assert len(sentence) <= MAX_SENTENCE_CHARS


def test_a_part_of_a_text_is_read_by_its_offsets() -> None:
    text = "One. Two. Three."
    assert [text[start:end] for start, end in own_sentences(text, 5, 9)] == ["Two."]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Look. Here is the mail from Tom: Hi. Always lock.\nNever knock.", ["Look.", "Here is the mail from Tom:"]),
        ("Tom wrote: Hi. Always lock.", ["Tom wrote:"]),
        ("I wrote: always lock.", ["I wrote: always lock."]),
        ("Here are the rules of our mails: always lock.", ["Here are the rules of our mails: always lock."]),
    ],
)
def test_what_stands_behind_a_colon_after_an_announcement_is_not(text: str, sentences: list[str]) -> None:
    assert own(text) == sentences
