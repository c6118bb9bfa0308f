"""Receipts in sentences."""

from builder.assemble.explanation import absent_sentence, evidence_words, present_sentence
from builder.domain.context import IRRELEVANT
from builder.domain.reports import AbsentSource, Evidence, PagePart, PageSource, SignalValue
from tests.factories import make_profile

SOURCE = PageSource(id="m7", version=2, schema="note.v1", session="s42", speaker="Note")
SIGNALS = tuple(SignalValue(name=f"s{n}", value=None if n == 2 else n / 3, points=3.0 - n) for n in range(1, 5))
EVIDENCE = Evidence(probability=0.31415, rank=2, candidates=5120, signals=SIGNALS)
RULES = {rule.name: rule for rule in make_profile().sections}


def part(**changes: object) -> PagePart:
    values = {"first": 4, "last": 6, "section": "relevant", "source": SOURCE, "tokens": 20, "reason": "found"} | changes
    return PagePart(**values)  # type: ignore[arg-type]


def test_a_sentence_names_version_lines_section_tokens_reason_and_the_strongest_signals() -> None:
    assert present_sentence([part(evidence=EVIDENCE)], RULES) == (
        "m7 v2 (note.v1, Note) is on the page, lines 4 to 6 in 'Relevant Earlier Messages', with 20 tokens: found "
        "(probability 0.31, rank 2 of 5,120, most points: s1 +2.00 from 0.333, s2 +1.00)."
    )


def test_what_stands_in_two_places_names_both_and_why_not_all_of_it_is_shown() -> None:
    parts = [part(section="instructions", first=2, last=2, reason="an instruction that still holds", reduced="a part"), part()]
    sentence = present_sentence(parts, RULES)
    assert "line 2 in 'Standing Instructions', lines 4 to 6 in 'Relevant Earlier Messages', with 40 tokens" in sentence
    assert sentence.endswith(": an instruction that still holds; found; not all of it is shown: a part.")


def test_lines_that_a_template_moves_are_not_named() -> None:
    assert "is on the page, in 'Relevant Earlier Messages', with" in present_sentence([part(first=0, last=0)], RULES)


def test_an_absence_names_the_limit_only_where_that_is_the_reason() -> None:
    profile = make_profile(retrieval={"min_probability": 0.4})
    absent = AbsentSource(source=SOURCE, reason=IRRELEVANT, tokens=9, evidence=EVIDENCE)
    assert absent_sentence(absent, profile) == (
        "m7 v2 (note.v1, Note) is not on the page: not near enough to the question, which asks for a probability of at least 0.4 "
        "or for room in the floor "
        f"({evidence_words(EVIDENCE)})."
    )
    plain = AbsentSource(source=SOURCE, reason="over budget", tokens=9)
    assert absent_sentence(plain, profile) == "m7 v2 (note.v1, Note) is not on the page: over budget."


def test_signals_that_decide_nothing_are_not_named() -> None:
    evidence = Evidence(probability=0.2, rank=1, candidates=1, signals=(SignalValue(name="asks", value=0.0, points=0.0),))
    assert evidence_words(evidence) == "probability 0.2, rank 1 of 1"
