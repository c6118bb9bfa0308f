"""A run of calls of which the page shows no more: one line on what was called, how often."""

import json
from collections import Counter
from collections.abc import Sequence

from builder.assemble.items.forms import FOLD_REASON
from builder.assemble.items.labels import called_tool
from builder.assemble.items.list_items import ITEM
from builder.assemble.items.writer import Item, Writer
from builder.domain.context import OPENING, Fragment
from builder.domain.control_text import visible
from builder.recall.index.conversation import Entry
from builder.remember.calls import Call

MAX_NAMES = 5
"""Kinds of calls that a line names, the most frequent first."""
MAX_ARGUMENT_CHARS = 24


def run_item(entries: Sequence[Entry], writer: Writer) -> Item:
    """One line for calls that follow each other, the oldest first."""
    crumbs = [writer.view.breadcrumb(entry.row) for entry in entries]
    names = Counter(
        _name(writer.rendering.call(crumb, entry.request), writer.labels.caller(crumb), writer)
        for crumb, entry in zip(crumbs, entries, strict=True)
    )
    listed = [f"{name} {number} \N{MULTIPLICATION SIGN}" if number > 1 else name for name, number in names.most_common(MAX_NAMES)]
    listed += [OPENING] if len(names) > MAX_NAMES else []
    text = ITEM + writer.rendering.phrases.counted("call_in_brief", "calls_in_brief", len(entries)) + " " + ", ".join(listed)
    fragment = Fragment(breadcrumb=crumbs[0], text=text, tokens=writer.rendering.count(text + "\n"), reduced=FOLD_REASON)
    return Item(origin=entries[0].origin, fragments=(fragment,))


def _name(call: Call, caller: str, writer: Writer) -> str:
    phrases = writer.rendering.phrases
    name = " ".join(filter(None, (called_tool(call.tool, "", phrases), _argument(call.arguments))))
    return phrases("call_by", tool=name, agent=caller) if caller else name


def _argument(arguments: str) -> str:
    """The first argument, of a path its last part."""
    values = json.loads(arguments)
    plain = (str(value) for value in values.values() if isinstance(value, str | int | float))
    first = visible(" ".join(next((value for value in plain if value.strip()), "").split()))
    return (first.rsplit("/", 1)[-1] if " " not in first else first)[:MAX_ARGUMENT_CHARS].strip()
