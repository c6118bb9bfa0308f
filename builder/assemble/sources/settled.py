"""What stands of the part of the conversation that the page does not show: its summary, and the instructions in force."""

from builder.assemble.budget.ledger import Ledger
from builder.assemble.forms import Form
from builder.assemble.page.draft import Item
from builder.domain.profile import SectionRule
from builder.pipeline.in_force import InForce
from builder.pipeline.summaries import summary_shown

LEAST_SUMMARY = 100
"""Tokens below which a part of a summary says nothing of a long session."""


def summary_items(ledger: Ledger, rule: SectionRule, shown: frozenset[int], moved: int, room: int) -> tuple[Item, ...]:
    """The newest summary within `room` tokens, without the lines that tell what is shown; nothing while there is none.

    moved: row with which the conversation came to begin where it does.
    """
    summary = summary_shown(ledger.writer.view, ledger.writer.profile, shown, moved)
    room -= ledger.heading(rule.name)
    if summary is None or room < 1:
        return ()
    item = ledger.writer.message(summary, -1, cap=room)
    return (item,) if item.text and item.tokens <= room and (not item.is_cut or room >= LEAST_SUMMARY) else ()


def instruction_items(ledger: Ledger, rule: SectionRule, active: InForce, shown: frozenset[int], room: int) -> tuple[Item, ...]:
    """The instructions that are not shown anyway, the newest first as long as there is room: half of one may say the opposite."""
    items: list[Item] = []
    for find in active.instructions:
        if find.row not in shown:
            crumb = ledger.writer.view.history.rows[find.row].breadcrumb
            item = ledger.writer.message(crumb, find.row, Form(spans=find.spans))
            longer = sorted((*items, item), key=lambda other: other.origin)
            if ledger.cost(rule.name, longer) <= room:
                items = longer
    return tuple(items)
