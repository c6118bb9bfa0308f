"""Hints of records go to the languages that are installed, in their order."""

from builder.adapters.templates.hint_languages import Limit, RecordHints
from builder.adapters.templates.sandbox.runtime import Limits
from builder.domain.breadcrumb import Breadcrumb
from tests.factories import make_breadcrumb


class Echo:
    """Repeats hints that begin with its own letter."""

    def __init__(self, letter: str, languages: list[str]) -> None:
        languages.append(letter)
        self.letter = letter
        self.forgotten = 0

    def text(self, hints: str, _crumb: Breadcrumb, _body: object, _values: object, _limit: Limit) -> str:
        return f"- {hints}" if hints.startswith(self.letter) else ""

    def forget(self) -> None:
        self.forgotten += 1


def shown(record_hints: RecordHints, hints: str) -> str:
    return record_hints.text(hints, make_breadcrumb(), {}, {}, lambda value: value)


def test_the_first_language_that_knows_the_hints_shows_the_record() -> None:
    languages: list[str] = []
    record_hints = RecordHints((lambda _: Echo("a", languages), lambda _: Echo("b", languages)), Limits())
    assert languages == []
    assert [shown(record_hints, hints) for hints in ("amber", "blue", "cyan")] == ["- amber", "- blue", ""]
    assert languages == ["a", "b"]


def test_without_a_language_no_hints_are_read() -> None:
    assert shown(RecordHints((), Limits()), "amber") == ""


def test_an_erasure_is_told_to_every_language_and_makes_none() -> None:
    language = Echo("a", [])
    record_hints = RecordHints((lambda _: language,), Limits())
    record_hints.forget()
    assert language.forgotten == 0
    shown(record_hints, "amber")
    record_hints.forget()
    assert language.forgotten == 1
