"""The words of a fragment without bullet, indent and label, as messages have them."""

import json
from typing import Any

from builder.assemble.items.list_items import INSIDE, ITEM, LINE_END, NO_LABEL, spoken
from builder.domain.breadcrumb import TOOL_RESPONSE, Breadcrumb
from builder.domain.context import Call, Fragment
from builder.domain.control_text import visible
from builder.domain.json_text import one_line
from builder.recall.index.conversation import Entry
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


def call_arguments(call: Call, fragment: Fragment, label: str) -> str:
    """The arguments as a JSON object, or the part that the page shows. label: of the call."""
    if not fragment.reduced:
        return call.arguments
    part = visible(spoken(fragment.text, visible(label)))
    return one_line({"cut": part})


def instead_of_results(entry: Entry) -> str:
    """Name of the phrase for a call that has no result below."""
    return "no_longer_available" if entry.is_answered else "no_answer"


def _exact(breadcrumb: Breadcrumb, plain: str, label: str) -> str:
    body = json.loads(breadcrumb.body)
    error, output = (visible(_output_text(body.get(name))) for name in ("error", "output"))
    if not breadcrumb.failed:
        return output
    printed = f"{label}{NO_LABEL}\n{output}" if output and output != error else ""
    parts = (error, printed) if error else (output,)
    return f"{plain.partition(NO_LABEL)[0]}{NO_LABEL} " + "\n".join(filter(None, parts)) if any(parts) else ""


def _output_text(value: Any) -> str:
    plain = brief(without_wrapper(value))
    return plain if isinstance(plain, str) else "" if plain is None else one_line(plain)


def _has_room(text: str) -> bool:
    return len(text) - len(text.strip()) <= MAX_MARGIN_CHARS


def _bare(text: str) -> str:
    return LINE_END.sub("\n", text).strip().replace("&lt;", "<")
