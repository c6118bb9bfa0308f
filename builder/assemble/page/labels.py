"""Who speaks, as the page names them: a display name can neither be nor begin a label of the page."""

import re
from dataclasses import dataclass

from builder.domain.breadcrumb import Breadcrumb
from builder.pipeline.view import View

DEFAULTS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
"""What a speaker of each role is called who has no name, or one that is shown in quotation marks."""
RESERVED = frozenset(
    {
        "user",
        "assistant",
        "system",
        "tool",
        "call",
        "result",
        "failed",
        "context",
        "developer",
        "human",
        "note",
        "page",
        "knowledge",
    }
)
"""First words of the page's own labels, case-folded."""
_PLAIN = re.compile(r"[^\W_][\w .,'\u2019()&@+/-]*")
_PLAIN_TOOL = re.compile(r"[\w.:/-]+")
_FIRST_WORD = re.compile(r"[^\W_]+")
_QUOTATION_MARK = str.maketrans({'"': "'"})


@dataclass(frozen=True, slots=True)
class Labels:
    """Names as of a view: what an agent is called there is no name for a person."""

    view: View

    def of(self, breadcrumb: Breadcrumb) -> str:
        """The speaker of a breadcrumb."""
        name = breadcrumb.speaker
        if breadcrumb.role == "tool":
            return tool_label(breadcrumb.tool or name)
        default = DEFAULTS.get(breadcrumb.role, "")
        if name == default or not default:
            return name
        taken = breadcrumb.role != "assistant" and self.view.history.agents.get(name.casefold(), self.view.size) < self.view.size
        return f'{default} "{_quoted(name)}"' if taken or not is_plain(name) else name


def is_plain(name: str) -> bool:
    """Whether a display name reads as nothing but a name."""
    first = _FIRST_WORD.match(name)
    return bool(_PLAIN.fullmatch(name)) and first is not None and first.group().casefold() not in RESERVED


def tool_label(name: str) -> str:
    """A tool's name as the page shows it."""
    return name if _PLAIN_TOOL.fullmatch(name) and name.casefold() not in RESERVED else f'"{_quoted(name)}"'


def _quoted(name: str) -> str:
    return " ".join(name.translate(_QUOTATION_MARK).split())
