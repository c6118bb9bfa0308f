"""What is on the page whatever was said: the latest, or all, of a kind."""

from collections.abc import Sequence
from dataclasses import replace

from builder.assemble.budget.shares import Shares
from builder.assemble.draft import Draft
from builder.assemble.items.forms import MIN_PART_TOKENS
from builder.assemble.items.writer import Item, Writer
from builder.domain.context import OVER_BUDGET, Omission
from builder.domain.profile import Profile, SectionRule
from builder.domain.selector import Pinned
from builder.domain.stored_breadcrumb import StoredBreadcrumb


def put_pinned(draft: Draft, shares: Shares) -> None:
    """Fill each section with source pinned within its share."""
    recall, ledger = draft.recall, draft.ledger
    for rule in recall.profile.sections:
        if rule.source != "pinned":
            continue
        rows = section_rows(recall.profile, recall.pinned, rule)
        room = shares.section(rule, ledger, draft.reserve) - ledger.heading(rule.name)
        items = pinned_items([row for row, _ in rows], draft.writer, room)
        kinds = {row.breadcrumb.id: f"pinned: {_name(kind)}" for row, kind in rows}
        ledger.put(rule.name, [replace(item, reason=kinds[item.first.id]) for item in items], "pinned")
        draft.omissions.name(Omission(id=row.breadcrumb.id, reason=OVER_BUDGET) for row, _ in rows)


def section_rows(
    profile: Profile, pinned: tuple[tuple[StoredBreadcrumb, ...], ...], rule: SectionRule
) -> list[tuple[StoredBreadcrumb, Pinned]]:
    """The breadcrumbs of this section, each with its kind, in the profile's order, of each kind the newest first, none twice.

    pinned: for each of the profile's kinds what was recalled.
    """
    default = profile.section("pinned")
    own: list[tuple[StoredBreadcrumb, Pinned]] = []
    ids: set[str] = set()
    for kind, rows in zip(profile.pinned, pinned, strict=True):
        is_here = (kind.section or (default.name if default else "")) == rule.name
        for row in rows:
            if row.breadcrumb.id not in ids and is_here:
                own.append((row, kind))
            ids.add(row.breadcrumb.id)
    return own


def pinned_items(rows: Sequence[StoredBreadcrumb], writer: Writer, room: int) -> tuple[Item, ...]:
    """The items of a section within `room` tokens, in place order: each whole, or cut where a useful part remains."""
    items: list[Item] = []
    for row in rows:
        item = writer.message(row.breadcrumb, -1)
        if item.tokens > room:
            item = writer.message(row.breadcrumb, -1, cap=room)
        if item.text and item.tokens <= room and (not item.is_cut or item.tokens >= MIN_PART_TOKENS):
            items.append(item)
            room -= item.tokens
    return tuple(sorted(items, key=lambda item: item.first.place))


def _name(kind: Pinned) -> str:
    """What a profile pins, e.g. "the latest tool.catalog.v1"."""
    selector = kind.selector
    conditions = {
        "": selector.schemas,
        "id ": selector.ids,
        "any tag of ": selector.any_tags,
        "all tags of ": selector.all_tags,
        "no tag of ": selector.none_tags,
    }
    words = "; ".join(f"{name}{', '.join(values)}" for name, values in conditions.items() if values)
    number = kind.keep if isinstance(kind.keep, str) else f"the newest {kind.keep}"
    return f"{'the latest' if number == 'latest' else number} {'' if selector.schemas else 'with '}{words}"
