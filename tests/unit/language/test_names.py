"""Names by their looks."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.language.names import is_plain, look, looks, parts, quoted, skeleton
from builder.language.word_lists import UNSPACED

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
