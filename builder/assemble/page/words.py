"""The words of a fragment without what a page puts around them: its bullet, its indent, its label."""

import json
import re

from builder.assemble.forms import REDUCED
from builder.assemble.page.items import INSIDE, ITEM, spoken
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.message import Call

WRITTEN = frozenset({"user", "assistant"})
"""Roles whose words stand by themselves in messages."""
RESULT = "Result"
"""The label of a result below its call. That of a failure stays: it says what happened."""
BLANK_TOKENS = 16
"""Tokens of the white space around a text that messages keep; a page has none of it."""
_LINE_END = re.compile("\r\n?")


def message_words(fragment: Fragment, label: str) -> str:
    """What a message says: byte for byte when all of it is shown, else the part that is. label: the speaker's on the page."""
    text = fragment.breadcrumb.text
    return text if not fragment.reduced and _has_room(text) else spoken(fragment.text, label)


def result_words(fragment: Fragment) -> str:
    """What a result below its call says. A text is given byte for byte where the page shows all of it."""
    below = fragment.text
    shown = spoken(ITEM + below.removeprefix(INSIDE) if below.startswith(INSIDE) else below, RESULT)
    output = None if fragment.reduced else _output(fragment.breadcrumb)
    is_same = output is not None and output.strip() and _has_room(output) and _bare(output) == _bare(shown)
    return output if output is not None and is_same else shown


def call_arguments(call: Call, fragment: Fragment, label: str) -> str:
    """The arguments as a JSON object; where the page shows a part of the call only, that part. label: of the tool."""
    if not fragment.reduced:
        return call.arguments
    return json.dumps({"cut": spoken(fragment.text, f"Call {label}")}, ensure_ascii=False, separators=(",", ":"))


def shows_pictures(fragment: Fragment) -> bool:
    """Whether it is more than one line of ours."""
    return fragment.reduced not in set(filter(None, REDUCED.values()))


def _output(breadcrumb: Breadcrumb) -> str | None:
    """What a tool answered, if that is a text."""
    output = json.loads(breadcrumb.body).get("output")
    return output if isinstance(output, str) else None


def _has_room(text: str) -> bool:
    return len(text) - len(text.strip()) <= BLANK_TOKENS


def _bare(text: str) -> str:
    """As the page has it: one kind of line ends, nothing around it, and a tag's first sign made harmless or not."""
    return _LINE_END.sub("\n", text).strip().replace("&lt;", "<")
