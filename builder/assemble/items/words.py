"""The words of a fragment without what a page puts around them: its bullet, its indent, its label.

They are given byte for byte, but control text is made visible.
"""

import json

from builder.assemble.items.forms import LINE_REASONS
from builder.assemble.items.list_items import INSIDE, ITEM, LINE_END, spoken
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.control_text import visible
from builder.domain.message import Call
from builder.recall.index.conversation import Entry

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

    A text is given byte for byte where the page shows all of it.
    """
    below = fragment.text
    plain = visible(spoken(ITEM + below.removeprefix(INSIDE) if below.startswith(INSIDE) else below, label))
    output = "" if fragment.reduced else visible(_output(fragment.breadcrumb))
    return output if output.strip() and _has_room(output) and _bare(output) == _bare(plain) else plain


def call_arguments(call: Call, fragment: Fragment, label: str) -> str:
    """The arguments as a JSON object; where the page shows a part of the call only, that part. label: of the call."""
    if not fragment.reduced:
        return call.arguments
    part = visible(spoken(fragment.text, visible(label)))
    return json.dumps({"cut": part}, ensure_ascii=False, separators=(",", ":"))


def instead_of_results(entry: Entry) -> str:
    """Name of the phrase for a call that no result stands below."""
    return "no_longer_available" if entry.is_answered else "no_answer"


def shows_pictures(fragment: Fragment) -> bool:
    """Whether it is more than one line of ours."""
    return fragment.reduced not in set(filter(None, LINE_REASONS.values()))


def _output(breadcrumb: Breadcrumb) -> str:
    """What a tool answered, if that is a text; else nothing."""
    output = json.loads(breadcrumb.body).get("output")
    return output if isinstance(output, str) else ""


def _has_room(text: str) -> bool:
    return len(text) - len(text.strip()) <= MAX_MARGIN_CHARS


def _bare(text: str) -> str:
    """As the page has it: one kind of line ends, nothing around it, and a tag's first sign made harmless or not."""
    return LINE_END.sub("\n", text).strip().replace("&lt;", "<")
