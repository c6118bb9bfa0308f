"""The words of a fragment without bullet, indent and label, as messages have them."""

import json
from dataclasses import replace
from typing import Any

from builder.assemble.items.labels import call_label
from builder.assemble.items.list_items import INSIDE, ITEM, LINE_END, NO_LABEL
from builder.assemble.items.writer import Writer
from builder.domain.breadcrumb import TOOL_RESPONSE, Breadcrumb
from builder.domain.context import Fragment
from builder.domain.control_text import visible
from builder.domain.json_text import one_line
from builder.remember.calls import Call
from builder.remember.content import without_wrapper
from builder.wire.words import brief

MAX_MARGIN_CHARS = 200
"""White space around a text that messages keep. A page has none, so no cut would take it off where it has no room."""


def message_words(fragment: Fragment, label: str) -> str:
    """The words of a message: byte for byte when all of it is shown, else its part. label: the speaker's on the page."""
    text = fragment.breadcrumb.text
    is_whole = not fragment.reduced and not fragment.transformed and _has_room(text)
    return visible(text if is_whole else spoken(fragment.text, visible(label)))


def result_words(fragment: Fragment, label: str) -> str:
    """The words of a result without its label: a text byte for byte, any other value as compact JSON."""
    below = fragment.text
    plain = visible(spoken(ITEM + below.removeprefix(INSIDE) if below.startswith(INSIDE) else below, label))
    words = "" if fragment.reduced or fragment.breadcrumb.schema != TOOL_RESPONSE else _exact(fragment.breadcrumb, plain, label)
    is_shown = not fragment.transformed or _bare(words) == _bare(plain)
    return words if words.strip() and is_shown and _has_room(words) else plain


def page_call(fragment: Fragment, request: str, writer: Writer) -> Call:
    """The call of a request id, with its arguments or the part of them that the page shows."""
    call = writer.rendering.call(fragment.breadcrumb, request)
    if not fragment.reduced:
        return call
    label = call_label(call.tool, writer.labels.caller(fragment.breadcrumb), writer.rendering.phrases)
    return replace(call, arguments=one_line({"cut": visible(spoken(fragment.text, visible(label)))}))


def lines(*texts: str) -> str:
    """Those that say something, one below the other."""
    return "\n".join(filter(None, texts))


def spoken(item: str, speaker: str) -> str:
    """The words of an item without bullet, indent and speaker."""
    first, *more = item.removeprefix(ITEM).split("\n")
    lines = [line.removeprefix(INSIDE) for line in more]
    label = f"{speaker}{NO_LABEL}"
    if first != label:
        return "\n".join((first.removeprefix(f"{label} ") if speaker else first, *lines))
    return "\n".join(lines if lines and lines[0] else lines[1:])


def _exact(breadcrumb: Breadcrumb, plain: str, label: str) -> str:
    body = json.loads(breadcrumb.body)
    error, output = (visible(_output_text(body.get(name))) for name in ("error", "output"))
    if not breadcrumb.failed:
        return output
    printed = f"{label}{NO_LABEL}\n{output}" if output and output != error else ""
    parts = (error, printed) if error else (output,)
    return f"{plain.partition(NO_LABEL)[0]}{NO_LABEL} " + lines(*parts) if any(parts) else ""


def _output_text(value: Any) -> str:
    plain = brief(without_wrapper(value))
    return plain if isinstance(plain, str) else "" if plain is None else one_line(plain)


def _has_room(text: str) -> bool:
    return len(text) - len(text.strip()) <= MAX_MARGIN_CHARS


def _bare(text: str) -> str:
    return LINE_END.sub("\n", text).strip().replace("&lt;", "<")
