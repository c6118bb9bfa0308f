"""The words of a fragment without what a page puts around them: its bullet, its indent, its label.

They are given byte for byte, but control text is made visible.
"""

import json
from typing import Any

from builder.assemble.items.forms import LINE_REASONS, RESULT_SCHEMA
from builder.assemble.items.list_items import INSIDE, ITEM, LINE_END, NO_LABEL, spoken
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.control_text import visible
from builder.domain.message import Call
from builder.recall.index.conversation import Entry
from builder.remember.attachments import described, without_wrapper
from builder.wire.json import one_line

CHAT_ROLES = frozenset({"user", "assistant"})
"""Roles whose words stand by themselves in messages."""
MAX_MARGIN_CHARS = 200
"""White space around a text that messages keep. A page has none, so no cut would take it off where it has no room."""


def message_words(fragment: Fragment, label: str) -> str:
    """What a message says: byte for byte when all of it is shown, else the part that is. label: the speaker's on the page.

    Of a message that hints of a record transformed, what these made of it.
    """
    text = fragment.breadcrumb.text
    is_whole = not fragment.reduced and not fragment.transformed and _has_room(text)
    return visible(text if is_whole else spoken(fragment.text, visible(label)))


def result_words(fragment: Fragment, label: str) -> str:
    """What a result below its call says, without its label; that of a failure stays.

    Where the page shows all of it, a text is given byte for byte and any other value as compact JSON.
    """
    below = fragment.text
    plain = visible(spoken(ITEM + below.removeprefix(INSIDE) if below.startswith(INSIDE) else below, label))
    words = "" if fragment.reduced or fragment.breadcrumb.schema != RESULT_SCHEMA else _exact(fragment.breadcrumb, plain, label)
    is_shown = not fragment.transformed or _bare(words) == _bare(plain)
    return words if words.strip() and is_shown and _has_room(words) else plain


def call_arguments(call: Call, fragment: Fragment, label: str) -> str:
    """The arguments as a JSON object; where the page shows a part of the call only, that part. label: of the call."""
    if not fragment.reduced:
        return call.arguments
    part = visible(spoken(fragment.text, visible(label)))
    return one_line({"cut": part})


def instead_of_results(entry: Entry) -> str:
    """Name of the phrase for a call that no result stands below."""
    return "no_longer_available" if entry.is_answered else "no_answer"


def shows_pictures(fragment: Fragment) -> bool:
    """Whether it is more than one line of ours."""
    return fragment.reduced not in set(filter(None, LINE_REASONS.values()))


def _exact(breadcrumb: Breadcrumb, plain: str, label: str) -> str:
    """What a tool answered; of a failure its error behind the page's word for it, and its output. label: of the output."""
    body = json.loads(breadcrumb.body)
    error, output = (visible(_text(body.get(name))) for name in ("error", "output"))
    if not breadcrumb.failed:
        return output
    printed = f"{label}{NO_LABEL}\n{output}" if output and output != error else ""
    parts = (error, printed) if error else (output,)
    return f"{plain.partition(NO_LABEL)[0]}{NO_LABEL} " + "\n".join(filter(None, parts)) if any(parts) else ""


def _text(value: Any) -> str:
    plain = described(without_wrapper(value))
    return plain if isinstance(plain, str) else "" if plain is None else one_line(plain)


def _has_room(text: str) -> bool:
    return len(text) - len(text.strip()) <= MAX_MARGIN_CHARS


def _bare(text: str) -> str:
    """As the page has it: one kind of line ends, nothing around it, and a tag's first sign made harmless or not."""
    return LINE_END.sub("\n", text).strip().replace("&lt;", "<")
