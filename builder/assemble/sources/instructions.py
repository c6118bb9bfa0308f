"""The standing instructions that the page does not show anyway, each whole: half of one may say the opposite."""

from builder.assemble.budget.shares import Shares
from builder.assemble.draft import Draft
from builder.assemble.items.forms import RenderForm
from builder.assemble.items.writer import Item
from builder.domain.context import OVER_BUDGET, Omission
from builder.recall.search.finds import Find

HOLDS = "an instruction that still holds"
"""Why it is on the page."""


def put_instructions(draft: Draft, shares: Shares) -> None:
    """Put them within their share, those with words of the question first, then the newest."""
    rule, ledger = draft.rule("instructions"), draft.ledger
    if rule is None or not draft.active.instructions:
        return
    ledger.put(rule.name, (), HOLDS)
    room, rows = shares.section(rule, ledger, draft.reserve), draft.whole_rows()
    due = [find for find in sorted(draft.active.instructions, key=lambda find: find.row) if _is_due(draft, find, rows)]
    items = [_item(draft, find) for find in due]
    if ledger.cost(rule.name, items) > room:
        items, question_terms = [], {*draft.recall.terms(draft.writer.question).split()}
        for find in sorted(due, key=lambda find: (-_common_words(draft, find, question_terms), -find.row)):
            with_item = sorted((*items, _item(draft, find)), key=lambda other: other.origin)
            items = with_item if ledger.cost(rule.name, with_item) <= room else items
    ledger.put(rule.name, items, HOLDS)


def _item(draft: Draft, find: Find) -> Item:
    return draft.writer.message(draft.recall.view.breadcrumb(find.row), find.row, RenderForm(spans=find.spans))


def leave_out_instructions(draft: Draft) -> None:
    """Say why the others are not on the page."""
    view = draft.recall.view
    draft.omissions.name(draft.active.omissions)
    for find in draft.active.instructions:
        draft.omissions.name([Omission(id=view.breadcrumb(find.row).id, reason=OVER_BUDGET, tokens=find.tokens)])


def _is_due(draft: Draft, find: Find, rows: frozenset[int]) -> bool:
    """Whether the page does not show it. One from another session is said again: there it is one message of many.

    rows: those of which the page shows all.
    """
    view = draft.recall.view
    sessions = view.column(view.history.breadcrumbs.session)
    return sessions[find.row] != view.session or find.row not in rows


def _common_words(draft: Draft, find: Find, question_terms: set[str]) -> int:
    """question_terms: terms of the question."""
    return len(question_terms & {*draft.recall.terms(draft.recall.view.breadcrumb(find.row).text).split()})
