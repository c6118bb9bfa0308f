"""A receipt says what its page leaves of the allowance."""

from builder.extras.explain.context_receipt import BudgetReceipt


def test_what_the_page_does_not_use_of_its_allowance_is_left() -> None:
    budget = BudgetReceipt(budget=1000, reserve=100, margin=0.1, allowance=800, tokens=350, is_whole=True, sections=())
    assert budget.unused == 450
