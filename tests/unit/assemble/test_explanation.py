"""A page explained as a whole."""

from tests.explanations import make_explanation
from tests.factories import make_profile, make_remembered

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
