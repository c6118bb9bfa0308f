"""Who speaks, as the page names them: a display name can neither be nor begin a label of the page."""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.phrases import Phrases
from builder.language.confusables import look, looks
from builder.language.names import DEFAULT_NAMES, is_plain, parts, quoted, role_looks, whole_look
from builder.recall.index.view import View

LABELS = (
    "user", "assistant", "another_user", "tool", "tool_answered", "tool_failed", "call", "result", "failed", "note", "page",
    "knowledge",
)  # fmt: skip
"""The phrases that stand in front of a text."""
_PLAIN_TOOL = re.compile(r"[\w.:/-]+")
_FIRST_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Labels:
    """Names on one page: an agent's name is no name for a person, and only the user is shown as the user."""

    view: View
    now: Breadcrumb
    """The trigger, whose person is the user."""
    phrases: Phrases
    consumers: frozenset[str] = frozenset()
    """Names of agents that the service builds pages for, whether they have spoken or not; the page's own is one of them."""
    others: dict[str, int] = field(default_factory=dict)
    """People without a name of their own → their number, in the order of their first label."""

    def of(self, breadcrumb: Breadcrumb) -> str:
        """The speaker of a breadcrumb."""
        name, nameless = breadcrumb.speaker, DEFAULT_NAMES.get(breadcrumb.role, "")
        reserved = reserved_names(self.phrases)
        match breadcrumb.role:
            case "tool":
                return tool_label(breadcrumb.tool or name, reserved)
            case "user" if not self._is_the_user(breadcrumb) and name in {nameless, self.now.speaker}:
                who = breadcrumb.user_id or breadcrumb.session
                return self.phrases("another_user", number=self.others.setdefault(who, len(self.others) + 1))
            case _ if not nameless:
                return name if name == breadcrumb.schema or is_plain(name, reserved) else quoted(name)
            case _ if name == nameless:
                return self.phrases(breadcrumb.role)
        if breadcrumb.role == "user":
            is_name = is_plain(name, reserved) and not self._is_an_agent(name)
        else:
            is_name = is_plain(name, reserved - self._own_words(name)) and not self._poses(name)
        return name if is_name else f"{self.phrases(breadcrumb.role)} {quoted(name)}"

    def _is_the_user(self, breadcrumb: Breadcrumb) -> bool:
        """By the sender's own id where both are known; else any person in the trigger's session is the user."""
        if breadcrumb.user_id and self.now.user_id:
            return breadcrumb.user_id == self.now.user_id
        return breadcrumb.session == self.now.session

    def _is_an_agent(self, name: str) -> bool:
        return self.view.has_agent(name) or not parts(name).isdisjoint(map(whole_look, self.consumers))

    def _poses(self, agent: str) -> bool:
        """Whether an agent's name looks like that of a consumer, and is another one."""
        alike = {name.casefold() for name in self.consumers if whole_look(name) == whole_look(agent)}
        return bool(alike) and agent.casefold() not in alike

    def _own_words(self, agent: str) -> frozenset[str]:
        """What an agent's name may hold, but not begin with: "Travel Assistant"."""
        first = _FIRST_WORD.match(agent)
        own = role_looks("assistants") | looks(self.phrases("assistant"))
        return frozenset() if first is None or look(first.group()) in own else own


def reserved_names(phrases: Phrases) -> frozenset[str]:
    """Looks of the names of roles, and of the first words of the labels of a page with these phrases."""
    return _reserved(tuple(phrases.entries.get(name, "") for name in LABELS))


@lru_cache(64)
def _reserved(labels: tuple[str, ...]) -> frozenset[str]:
    words = map(_FIRST_WORD.search, labels)
    return role_looks().union(*(looks(word.group()) for word in words if word))


def tool_label(name: str, reserved: frozenset[str] | None = None) -> str:
    """A tool's name as the page shows it. reserved: looks that none has; default: those of roles."""
    reserved = role_looks() if reserved is None else reserved
    return name if _PLAIN_TOOL.fullmatch(name) and whole_look(name) not in reserved else quoted(name)


def call_label(tool: str, phrases: Phrases) -> str:
    """What stands in front of the arguments of a call."""
    return f"{phrases('call')} {tool_label(tool, reserved_names(phrases))}"
