"""Who speaks, as the page names them: a display name can neither be nor begin a label of the page."""

import re
from dataclasses import dataclass, field
from functools import lru_cache

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
"""First words of the page's own labels in English, case-folded; no page takes them for a name."""
LABELS = (
    "user", "assistant", "another_user", "tool", "tool_answered", "tool_failed", "call", "result", "failed", "note", "page",
    "knowledge",
)  # fmt: skip
"""The phrases that stand in front of a text."""
_PLAIN = re.compile(r"[^\W_][\w .,'\u2019()&@+/-]*")
MAX_TOOL_CHARS = 200
"""Of a tool's name as it is shown."""
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
                return tool_label(breadcrumb.tool or name, reserved_names(self.phrases))
            case "user" if not self._is_the_user(breadcrumb) and name in {nameless, self.now.speaker}:
                who = breadcrumb.user_id or breadcrumb.session
                return self.phrases("another_user", number=self.others.setdefault(who, len(self.others) + 1))
            case _ if not nameless:
                return name
            case _ if name == nameless:
                return self.phrases(breadcrumb.role)
        is_ambiguous = breadcrumb.role == "user" and self._is_an_agent(name)
        is_name = is_plain(name, reserved_names(self.phrases)) and not is_ambiguous
        return name if is_name else f'{self.phrases(breadcrumb.role)} "{_quoted(name)}"'

    def _is_the_user(self, breadcrumb: Breadcrumb) -> bool:
        """By the sender's own id where both are known; else any person in the trigger's session is the user."""
        if breadcrumb.user_id and self.now.user_id:
            return breadcrumb.user_id == self.now.user_id
        return breadcrumb.session == self.now.session

    def _is_an_agent(self, name: str) -> bool:
        return self.view.history.breadcrumbs.agents.get(name.casefold(), self.view.size) < self.view.size


@lru_cache(64)
def reserved_names(phrases: Phrases) -> frozenset[str]:
    """First words of the labels of a page with these phrases, case-folded."""
    words = (_FIRST_WORD.search(phrases.entries.get(name, "")) for name in LABELS)
    return RESERVED_NAMES | {word.group().casefold() for word in words if word}


def is_plain(name: str, reserved: frozenset[str] = RESERVED_NAMES) -> bool:
    """Whether a display name reads as nothing but a name. reserved: first words that none has."""
    first = _FIRST_WORD.match(name)
    return bool(_PLAIN.fullmatch(name)) and first is not None and first.group().casefold() not in reserved


def tool_label(name: str, reserved: frozenset[str] = RESERVED_NAMES) -> str:
    """A tool's name as the page shows it. reserved: see `is_plain`."""
    name = name[:MAX_TOOL_CHARS]
    return name if _PLAIN_TOOL.fullmatch(name) and name.casefold() not in reserved else f'"{_quoted(name)}"'


def call_label(tool: str, phrases: Phrases) -> str:
    """What stands in front of the arguments of a call."""
    return f"{phrases('call')} {tool_label(tool, reserved_names(phrases))}"


def _quoted(name: str) -> str:
    return " ".join(name.translate(_QUOTATION_MARK).split())
