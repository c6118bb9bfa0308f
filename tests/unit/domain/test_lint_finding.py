"""Findings as people read them, with the word that was probably meant."""

from builder.domain.lint_finding import LintFinding, advice, nearest

FINDING = LintFinding(file="profiles/mine.yaml", line=4, place="section `recent`", problem="it is empty", fix="write one")


def test_a_finding_is_one_line_with_file_line_place_problem_and_fix() -> None:
    assert str(FINDING) == "profiles/mine.yaml line 4: section `recent`: it is empty; write one"


def test_a_note_is_told_apart_and_a_finding_of_a_whole_file_has_neither_line_nor_place() -> None:
    note = LintFinding(file="hint/", place="", problem="it is not read", fix="call it hints/", severity="note")
    assert str(note) == "hint/: note: it is not read; call it hints/"


def test_a_slip_of_the_pen_has_the_word_that_was_meant() -> None:
    assert nearest("retreival", ("retrieval", "trigger")) == "retrieval"
    assert nearest("DEFAULT", ("default",)) == "default"
    assert nearest("xyz", ("retrieval", "trigger")) == ""


def test_what_is_like_nothing_is_answered_with_all_that_there_is() -> None:
    assert advice("triger", ("window", "trigger")) == "write trigger"
    assert advice("xyz", ("window", "trigger")) == "use one of trigger, window"
