"""Who speaks, as the page names them: a display name can neither be nor begin a label of the page."""

import re
from dataclasses import dataclass, field

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.phrases import Phrases
from builder.recall.index.view import View

DEFAULT_NAMES = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
"""Role → the stored speaker of a breadcrumb without a name."""
RESERVED_NAMES = frozenset(
    {
        "user",
        "another",
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
    """Names on one page: an agent's name is no name for a person, and only the user is shown as the user."""

    view: View
    now: Breadcrumb
    """The trigger, whose person is the user."""
    phrases: Phrases
    others: dict[str, int] = field(default_factory=dict)
    """People without a name of their own → their number, in the order of their first label."""

    def of(self, breadcrumb: Breadcrumb) -> str:
        """The speaker of a breadcrumb."""
        name, nameless = breadcrumb.speaker, DEFAULT_NAMES.get(breadcrumb.role, "")
        match breadcrumb.role:
            case "tool":
                return tool_label(breadcrumb.tool or name)
            case "user" if not self._is_the_user(breadcrumb) and name in {nameless, self.now.speaker}:
                who = breadcrumb.user_id or breadcrumb.session
                return self.phrases("another_user", number=self.others.setdefault(who, len(self.others) + 1))
            case _ if not nameless:
                return name
            case _ if name == nameless:
                return self.phrases(breadcrumb.role)
        is_ambiguous = breadcrumb.role == "user" and self._is_an_agent(name)
        return f'{self.phrases(breadcrumb.role)} "{_quoted(name)}"' if is_ambiguous or not is_plain(name) else name

    def _is_the_user(self, breadcrumb: Breadcrumb) -> bool:
        """By the sender's own id where both are known; else any person in the trigger's session is the user."""
        if breadcrumb.user_id and self.now.user_id:
            return breadcrumb.user_id == self.now.user_id
        return breadcrumb.session == self.now.session

    def _is_an_agent(self, name: str) -> bool:
        return self.view.history.breadcrumbs.agents.get(name.casefold(), self.view.size) < self.view.size


def is_plain(name: str) -> bool:
    """Whether a display name reads as nothing but a name."""
    first = _FIRST_WORD.match(name)
    return bool(_PLAIN.fullmatch(name)) and first is not None and first.group().casefold() not in RESERVED_NAMES


def tool_label(name: str) -> str:
    """A tool's name as the page shows it."""
    return name if _PLAIN_TOOL.fullmatch(name) and name.casefold() not in RESERVED_NAMES else f'"{_quoted(name)}"'


def _quoted(name: str) -> str:
    return " ".join(name.translate(_QUOTATION_MARK).split())
