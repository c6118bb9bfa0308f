"""A page explained as a whole, why something is not on it, and receipts in sentences."""

from datetime import timedelta
from typing import Any

from builder.domain.context import IRRELEVANT
from builder.domain.profile import Profile
from builder.domain.selector import Selector
from builder.domain.stored import StoredBreadcrumb
from builder.extras.explain.context_receipt import AbsentSource, Evidence, PagePart, PageSource, SignalValue
from builder.extras.explain.explanation import absent_sentence, evidence_words, present_sentence
from tests.explanations import make_explanation
from tests.factories import MORNING, make_profile, make_remembered, make_tombstone
from tests.property.sessions import hear
from tests.two_sections import make_two_sections

ROWS = [make_remembered(f"Number {n}: the blue kiln and the weather.", n) for n in range(1, 120)]
QUESTION = make_remembered("Where is the blue kiln?", 900)


def test_the_most_relevant_of_what_is_not_on_the_page_come_first_and_all_are_counted() -> None:
    _, explanation = make_explanation(QUESTION, ROWS, make_profile(budget=500))
    all_of_it, some = explanation.receipt(), explanation.receipt(most=3)
    assert some.absent == all_of_it.absent[:3]
    assert some.by_reason == all_of_it.by_reason
    probabilities = [absent.evidence.probability for absent in all_of_it.absent if absent.evidence]
    assert probabilities == sorted(probabilities, reverse=True)


def test_the_ledger_of_the_budget_adds_up_to_the_page() -> None:
    context, explanation = make_explanation(QUESTION, ROWS, make_profile(budget=500, reserve=40))
    budget = explanation.receipt().budget
    assert (budget.budget, budget.reserve, budget.allowance, budget.tokens) == (500, 40, 460, context.tokens)
    spent = {row.name: row.tokens for row in budget.sections if row.tokens}
    assert spent == {each.name: each.tokens for each in context.sections}
    assert not budget.is_whole


def test_what_was_never_recalled_is_not_known() -> None:
    _, explanation = make_explanation(QUESTION, ROWS)
    assert explanation.knows("m900")
    assert explanation.knows("m5")
    assert not explanation.knows("m4711")


def why(
    name: str, *rows: StoredBreadcrumb, trigger: StoredBreadcrumb = QUESTION, over: str | Profile = "default", **profile: Any
) -> str:
    _, explanation = make_explanation(trigger, rows, make_profile(over, **({"budget": 600} | profile)))
    return explanation.why(name)


def session(*special: StoredBreadcrumb) -> list[StoredBreadcrumb]:
    """Far more than fits, behind what is looked for."""
    return [*special, *(make_remembered(f"Number {n}: the weather was fine and nobody came by.", n) for n in range(10, 200))]


def test_what_is_no_answer_has_its_probability_and_the_limit() -> None:
    rows = session(make_remembered("Somebody bought a teapot.", 1))
    sentence = why("m1", *rows, over=make_two_sections(), retrieval={"min_probability": 0.2})
    assert sentence.startswith("m1 v1 (user.message.v1, User) is not on the page: not near enough to the question, which asks ")
    assert "for a probability of at least 0.2 (probability 0.0" in sentence


def test_what_is_not_worth_its_tokens_says_how_many_a_message_may_cost() -> None:
    sentence = why("m1", *session(make_remembered("Somebody bought a teapot.", 1)), worth=1000)
    assert "not near enough to the question, and worth less than `worth` asks" in sentence
    assert "a message that the answer needs may cost 1,000 tokens (probability 0.0" in sentence


def test_small_talk_says_that_it_holds_nothing_to_find() -> None:
    assert why("m1", *session(make_remembered("ok", 1))) == (
        "m1 v1 (user.message.v1, User) is not on the page: older than the newest part of the conversation, which is shown; "
        "it is small talk, which holds nothing to find."
    )


def test_a_schema_that_is_not_searched_is_named() -> None:
    note = make_remembered("The blue kiln is a gas kiln.", 1, schema="note.v1", role="other")
    assert "the profile searches user.message.v1, not note.v1" in why(
        "m1", *session(note), retrieval={"schemas": ["user.message.v1"]}
    )


def test_what_was_deleted_or_replaced_says_so() -> None:
    gone = make_remembered("The blue kiln is broken.", 1)
    assert "it was replaced by a later version, or deleted" in why("m1", gone, make_tombstone("m1", 2))


def test_what_had_expired_says_when() -> None:
    gone = make_remembered("The blue kiln is broken.", 1, expires_at=MORNING)
    late = make_remembered("Where is the blue kiln?", 900, received_at=MORNING + timedelta(hours=2))
    assert f"it had expired at {MORNING:%Y-%m-%d %H:%M}Z" in why("m1", gone, trigger=late)


def test_what_the_audience_does_not_match_says_so() -> None:
    aside = make_remembered("The blue kiln is broken.", 1, tags=("team:other",))
    audience = Selector(any_tags=("team:mine",))
    mine = make_remembered("Where is the blue kiln?", 900, tags=("team:mine",))
    assert "the audience of profile 'default' does not match it" in why("m1", aside, trigger=mine, audience=audience)


def test_a_record_that_passes_a_call_on_is_on_the_page_with_the_message_that_made_it() -> None:
    call = {"content": "", "tool_requests": [{"tool": "search", "input": {"q": "kiln"}, "requestId": "r1"}]}
    rows = (
        hear(1, "agent.response.v1", call),
        hear(2, "tool.request.v1", {"tool": "search", "input": {"q": "kiln"}, "requestId": "r1"}),
        hear(3, "tool.response.v1", {"tool": "search", "output": "three", "request_id": "r1", "status": "success"}),
    )
    context, explanation = make_explanation(QUESTION, rows, make_profile())
    assert "its call is on the page with the message that made it" in explanation.why("m2")
    assert context.left_out == {}


def test_a_message_that_asks_for_nothing_searches_nothing() -> None:
    thanks = make_remembered("thanks!", 900)
    rows = session(make_remembered("The blue kiln is a gas kiln.", 1))
    assert "the message asks for nothing, so nothing was searched" in why("m1", *rows, trigger=thanks)


SOURCE = PageSource(id="m7", version=2, schema="note.v1", session="s42", speaker="Note")
SIGNALS = tuple(SignalValue(name=f"s{n}", value=None if n == 2 else n / 3, points=3.0 - n) for n in range(1, 5))
EVIDENCE = Evidence(probability=0.31415, rank=2, candidates=5120, signals=SIGNALS)
RULES = {rule.name: rule for rule in make_two_sections().sections}


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
    profile = make_two_sections(retrieval={"min_probability": 0.4})
    absent = AbsentSource(source=SOURCE, reason=IRRELEVANT, tokens=9, evidence=EVIDENCE)
    assert absent_sentence(absent, profile) == (
        "m7 v2 (note.v1, Note) is not on the page: not near enough to the question, which asks for a probability of at least 0.4 "
        f"({evidence_words(EVIDENCE)})."
    )
    plain = AbsentSource(source=SOURCE, reason="over budget", tokens=9)
    assert absent_sentence(plain, profile) == "m7 v2 (note.v1, Note) is not on the page: over budget."


def test_signals_that_decide_nothing_are_not_named() -> None:
    evidence = Evidence(probability=0.2, rank=1, candidates=1, signals=(SignalValue(name="asks", value=0.0, points=0.0),))
    assert evidence_words(evidence) == "probability 0.2, rank 1 of 1"
