"""Why something is on the page, in a few words: the reason of its step, told apart by fragment where an item has several."""

from builder.assemble.draft import Draft
from builder.assemble.items.writer import Item
from builder.assemble.sources.fixed import OF_TURN, OWN_WORDS
from builder.domain.context import Fragment
from builder.domain.profile import SectionRule
from builder.domain.summary import SUMMARY

FURNITURE = "heading, date or note of the service"
"""Reason of lines that come from no breadcrumb."""


def own_words(rule: SectionRule) -> str:
    """Why a section has words of the profile."""
    return OWN_WORDS.get(rule.source, rule.source)


def reason_of(draft: Draft, rule: SectionRule, item: Item, fragment: Fragment) -> str:
    """Why this part of an item is in this section."""
    if item.entry and item.entry in draft.recall.turn:
        return OF_TURN
    if rule.source == "retrieval" and item.origin >= 0:
        find_id = draft.recall.view.breadcrumb(item.origin).id
        if fragment.breadcrumb.id != find_id and fragment.breadcrumb.schema != SUMMARY:
            is_call = fragment is item.fragments[0]
            return f"the call that led to {find_id}, which was found" if is_call else "a note on the other calls of that step"
    return item.reason or draft.ledger.reasons.get(rule.name, rule.source)
