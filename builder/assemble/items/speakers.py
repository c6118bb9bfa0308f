"""Where a speaker is named: where another one begins, and after a pause."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from builder.assemble.items.list_items import ITEM, NO_LABEL
from builder.assemble.items.writer import Item, Writer
from builder.language.names import look

MAX_WORDINGS = 64
"""Sets of phrases, one for each language of a profile."""
MAX_LABEL_CHARS = 200
"""The beginning of a text, which a reader may take for a label."""


def is_later(before: int, origin: int, writer: Writer) -> bool:
    """Whether a pause or a new day is between two rows."""
    view, stretch = writer.view, writer.view.history.breadcrumbs.stretch
    if stretch[before] != stretch[origin]:
        return True
    return writer.day_of(view.breadcrumb(before)) != writer.day_of(view.breadcrumb(origin))


def labels_once(items: Sequence[Item], writer: Writer) -> list[Item]:
    """A conversation without holes, in which only who begins to speak, or speaks after a pause, has a label."""
    after = (
        item if is_later(before.origin, item.origin, writer) else without_label(item, before, writer)
        for before, item in pairwise(items)
    )
    return [*items[:1], *after]


def without_label(item: Item, before: Item, writer: Writer) -> Item:
    """Without the label where the one before is by the same speaker, and the text can stand right after the bullet."""
    if not (before.is_message and item.is_message) or before.first.role != item.first.role:
        return item
    first, label = item.fragments[0], writer.labels.of(item.first)
    rest = first.text.removeprefix(f"{ITEM}{label}: ")
    if writer.labels.of(before.first) != label or rest == first.text or not _stands_alone(rest, writer):
        return item
    text = ITEM + rest
    fragment = replace(first, text=text, tokens=writer.rendering.count(f"{text}\n"))
    return replace(item, fragments=(fragment, *item.fragments[1:]))


@lru_cache(MAX_WORDINGS)
def _looks(*words: str) -> frozenset[str]:
    return frozenset(map(look, words))


def _stands_alone(text: str, writer: Writer) -> bool:
    """Whether the text can stand right after the bullet, and nobody takes its beginning for a label of the page."""
    line = look(text.split("\n", 1)[0][:MAX_LABEL_CHARS])
    phrases = writer.rendering.phrases
    is_label = NO_LABEL in line or line.split(" ")[0] in _looks(phrases("call"), phrases("tool"))
    return text[:1].isalpha() and not is_label
