"""What stands on the page whatever was said: the latest, or all, of a kind."""

from collections.abc import Sequence

from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.forms import MIN_PART_TOKENS
from builder.domain.profile import Profile, SectionRule
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.recall import ConsumerRecall


def collect_pinned(recall: ConsumerRecall, rule: SectionRule, writer: Writer, room: int) -> tuple[Item, ...]:
    """The items of a section; see `SectionSource.collect`."""
    return pinned_items(section_rows(recall.profile, recall.pinned, rule), writer, room)


def section_rows(
    profile: Profile, pinned: tuple[tuple[StoredBreadcrumb, ...], ...], rule: SectionRule
) -> tuple[StoredBreadcrumb, ...]:
    """What stands in this section, in the profile's order, of each kind the newest first; what is of two kinds stands once.

    pinned: for each of the profile's kinds what was recalled.
    """
    default = profile.section("pinned")
    own: dict[str, StoredBreadcrumb] = {}
    others: set[str] = set()
    for kind, rows in zip(profile.pinned, pinned, strict=True):
        here = (kind.section or (default.name if default else "")) == rule.name
        for row in rows:
            if row.breadcrumb.id in own or row.breadcrumb.id in others:
                continue
            if here:
                own[row.breadcrumb.id] = row
            else:
                others.add(row.breadcrumb.id)
    return tuple(own.values())


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
