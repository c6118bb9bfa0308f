"""The word that was probably meant."""

from builder.domain.lint_finding import advice, nearest


def test_a_slip_of_the_pen_has_the_word_that_was_meant() -> None:
    assert nearest("retreival", ("retrieval", "trigger")) == "retrieval"
    assert nearest("DEFAULT", ("default",)) == "default"
    assert nearest("xyz", ("retrieval", "trigger")) == ""


def test_what_is_like_nothing_is_answered_with_all_that_there_is() -> None:
    assert advice("triger", ("window", "trigger")) == "write trigger"
    assert advice("xyz", ("window", "trigger")) == "use one of trigger, window"
