"""The standing instructions that the page does not show anyway, each whole: half of one may say the opposite."""

from dataclasses import replace

from builder.assemble.budget.shares import Shares
from builder.assemble.draft import PageDraft
from builder.assemble.items.rendering import RenderForm
from builder.domain.context import OVER_BUDGET, Omission
from builder.language.dates import depends_on_day
from builder.recall.search.candidates import Find

HOLDS = "an instruction that still holds"
"""Why it is on the page."""


def put_instructions(draft: PageDraft, shares: Shares) -> None:
    """Within their share, those with words of the question first, then the newest."""
    rule, ledger = draft.rule("instructions"), draft.ledger
    if rule is None or not draft.active.instructions:
        return
    ledger.put(rule.name, (), HOLDS)
    room, rows = shares.section(rule, ledger, draft.reserve), draft.whole_rows()
    due = [find for find in sorted(draft.active.instructions, key=lambda find: find.row) if _is_due(draft, find, rows)]
    ledger.rules[rule.name] = (
        replace(rule, dates="day") if rule.dates == "none" and any(_needs_date(draft, find) for find in due) else rule
    )
    items = {
        find.row: draft.writer.message(draft.recall.view.breadcrumb(find.row), find.row, RenderForm(spans=find.spans))
        for find in due
    }
    if ledger.cost(rule.name, [*items.values()]) > room:
        rows_on_page, question_terms = set[int](), {*draft.recall.terms(draft.writer.question).split()}
        texts = {find.row: draft.recall.view.breadcrumb(find.row).text for find in due}
        common = {row: len(question_terms.intersection(draft.recall.terms(text).split())) for row, text in texts.items()}
        for find in sorted(due, key=lambda find: (-common[find.row], -find.row)):
            permissions = (permission for permission, rules in draft.active.rules.items() if find.row in rules)
            added = {find.row, *rows_on_page, *draft.active.rules[find.row], *permissions}
            if ledger.cost(rule.name, [item for row, item in items.items() if row in added]) <= room:
                rows_on_page = added
        items = {row: item for row, item in items.items() if row in rows_on_page}
    ledger.put(rule.name, [*items.values()], HOLDS)


def take_off_half_pairs(draft: PageDraft) -> None:
    """Remove finds of an instruction without the permission that ends it, and the other way round."""
    sources = (draft.items("instructions"), draft.items("retrieval"))
    rows, rules = draft.whole_rows().union(item.origin for items in sources for item in items), draft.active.rules
    alone = {rule for permission in rules.keys() - rows for rule in rules[permission]}
    alone |= {permission for permission in rules if rules[permission] and rows.isdisjoint(rules[permission])}
    draft.take_off_finds([find for find in draft.items("retrieval") if find.origin in alone])


def leave_out_instructions(draft: PageDraft) -> None:
    """Say why the others are not on the page."""
    view = draft.recall.view
    draft.omissions.name(draft.active.omissions)
    for find in draft.active.instructions:
        draft.omissions.name([Omission(id=view.breadcrumb(find.row).id, reason=OVER_BUDGET, tokens=find.tokens)])


def _is_due(draft: PageDraft, find: Find, rows: frozenset[int]) -> bool:
    view = draft.recall.view
    sessions = view.session_of
    return sessions[find.row] != view.session or find.row not in rows


def _needs_date(draft: PageDraft, find: Find) -> bool:
    crumb, day_of = draft.recall.view.breadcrumb(find.row), draft.writer.day_of
    spans = find.spans or ((0, len(crumb.text)),)
    return day_of(crumb) != day_of(draft.recall.trigger) and any(depends_on_day(crumb.text[start:end]) for start, end in spans)
