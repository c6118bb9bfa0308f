"""A receipt accounts for every line of its page, every token of a breadcrumb, and every breadcrumb that is not on it."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from builder.domain.reports import ContextReceipt
from tests.examples import examples
from tests.explanations import make_explanation
from tests.factories import make_profile
from tests.property.sessions import MESSAGES, Session, sessions

PAGES = ("default", "xml")


def check_lines(receipt: ContextReceipt, markdown: str) -> None:
    """Each line that is not empty belongs to one part, and parts come in page order."""
    lines = [line for part in receipt.parts for line in range(part.first, part.last + 1)]
    assert lines == sorted(set(lines))
    texts = markdown.split("\n")
    assert {number for number, text in enumerate(texts, 1) if text.strip()} <= set(lines)
    assert all(0 < part.first <= part.last <= len(texts) for part in receipt.parts)


@examples(150)
@given(sessions(), st.integers(200, 3000), st.sampled_from(PAGES))
def test_a_receipt_accounts_for_the_whole_page_and_for_all_that_is_not_on_it(session: Session, budget: int, page: str) -> None:
    profile = make_profile(budget=budget, page=page, retrieval={"schemas": MESSAGES})
    context, explanation = make_explanation(session.trigger, session.rows, profile)
    receipt = explanation.receipt()
    check_lines(receipt, context.markdown)

    tokens = Counter[tuple[str, str]]()
    for part in receipt.parts:
        if part.source:
            tokens[part.section, part.source.id] += part.tokens
    assert tokens == {(each.name, name): number for each in context.sections for name, number in each.tokens_by_id.items()}

    assert receipt.by_reason == context.left_out
    assert Counter(absent.reason for absent in receipt.absent) == context.left_out
    on_page = {name for _, name in tokens}
    assert on_page.isdisjoint(absent.source.id for absent in receipt.absent)
    assert {omission.id for omission in context.omissions} <= {absent.source.id for absent in receipt.absent}
    assert receipt.budget.tokens == context.tokens
    assert receipt.budget.unused == receipt.budget.allowance - context.tokens


@examples(60)
@given(sessions(), st.integers(200, 2000))
def test_each_breadcrumb_that_was_recalled_has_a_sentence_that_says_whether_it_is_on_the_page(
    session: Session, budget: int
) -> None:
    _, explanation = make_explanation(session.trigger, session.rows, make_profile(budget=budget))
    on_page = {part.source.id for part in explanation.receipt().parts if part.source}
    for name in {row.breadcrumb.id for row in session.rows}:
        if explanation.knows(name):
            sentence = explanation.why(name)
            assert sentence.startswith(f"{name} v")
            assert (" is on the page, " in sentence) is (name in on_page)
            assert sentence.endswith(".")
