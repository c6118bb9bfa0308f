"""Who speaks, as the page names them: a display name can neither be nor begin a label of the page."""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from builder.assemble.items.words import CHAT_ROLES
from builder.domain.breadcrumb import Breadcrumb, Role
from builder.domain.phrases import Phrases
from builder.language.names import DEFAULT_NAMES, WORD, is_plain, looks, parts, quoted, role_looks, whole_look
from builder.recall.index.conversation import has_other_agents
from builder.recall.index.view import View

LABELS = (
    "user", "assistant", "another_user", "tool", "tool_answered", "tool_failed", "call", "result", "failed", "note", "page",
    "knowledge", "edited",
)  # fmt: skip
"""The phrases that stand in front of a text."""
MAX_TOOL_CHARS = 200
"""Of a tool's name as it is shown."""
_PLAIN_TOOL = re.compile(r"[\w.:/-]+")


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
    reserved: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reserved", reserved_names(self.phrases))

    def of(self, breadcrumb: Breadcrumb) -> str:
        """Who says a breadcrumb, with a mark where a person or an agent has edited the words."""
        mark = f" {self.phrases('edited')}" if breadcrumb.role in CHAT_ROLES and self.view.is_edited(breadcrumb) else ""
        return self.name(breadcrumb) + mark

    def caller(self, breadcrumb: Breadcrumb) -> str:
        """Who makes the calls of a breadcrumb; "" where they can be the consumer's own only."""
        if self.view.is_own(breadcrumb) and not has_other_agents(self.view):
            return ""
        speaker = breadcrumb.speaker if breadcrumb.speaker != DEFAULT_NAMES["tool"] else DEFAULT_NAMES["assistant"]
        return self.name(replace(breadcrumb, role="assistant", speaker=speaker))

    def name(self, breadcrumb: Breadcrumb) -> str:
        """The speaker of a breadcrumb. Where several agents take part, one without a name is called by its id."""
        name, nameless = breadcrumb.speaker, DEFAULT_NAMES.get(breadcrumb.role, "")
        if (
            breadcrumb.role == "assistant"
            and name == nameless
            and (has_other_agents(self.view) or not self.view.is_own(breadcrumb))
        ):
            name = breadcrumb.agent or name
        reserved = self.reserved
        match breadcrumb.role:
            case "tool":
                return tool_label(breadcrumb.tool or name, reserved)
            case "user" if not self._is_the_user(breadcrumb) and whole_look(name) in {
                whole_look(nameless),
                whole_look(self.now.speaker),
            }:
                who = breadcrumb.user_id or breadcrumb.session
                return self.phrases("another_user", number=self.others.setdefault(who, len(self.others) + 1))
            case _ if not nameless:
                return name if name == breadcrumb.schema or is_plain(name, reserved) else quoted(name)
            case _ if name == nameless:
                return self.phrases(breadcrumb.role)
        # "Travel Assistant" may be the name of an agent, but none is called like the role itself.
        if breadcrumb.role == "assistant" and whole_look(name) not in role_looks("assistants"):
            reserved = reserved_names(self.phrases, without="assistants")
        is_name = is_plain(name, reserved) and not self._is_taken(breadcrumb.role, name)
        return name if is_name else f"{self.phrases(breadcrumb.role)} {quoted(name)}"

    def _is_the_user(self, breadcrumb: Breadcrumb) -> bool:
        """By the sender's own id where both are known; else any person in the trigger's session is the user."""
        if breadcrumb.user_id and self.now.user_id:
            return breadcrumb.user_id == self.now.user_id
        return breadcrumb.session == self.now.session

    def _is_taken(self, role: Role, name: str) -> bool:
        """Whether a person's name has that of an agent in it, or an agent's looks like that of a consumer that has another."""
        consumers = frozenset(map(whole_look, self.consumers))
        if role == "user":
            return self.view.has_agent(name) or not parts(name).isdisjoint(consumers)
        return whole_look(name) in consumers and name.casefold() not in {consumer.casefold() for consumer in self.consumers}


def reserved_names(phrases: Phrases, without: str = "") -> frozenset[str]:
    """Looks of the names of roles, and of the first words of the labels of a page with these phrases. without: a word list."""
    return _reserved(tuple(phrases.entries.get(name, "") for name in LABELS), without)


@lru_cache(64)
def _reserved(labels: tuple[str, ...], without: str) -> frozenset[str]:
    words = map(WORD.search, labels)
    every = role_looks().union(*(looks(word.group()) for word in words if word))
    return every - role_looks(without) if without else every


def tool_label(name: str, reserved: frozenset[str] = frozenset()) -> str:
    """A tool's name as the page shows it. reserved: looks that none has; none = those of roles."""
    name = name[:MAX_TOOL_CHARS]
    return name if _PLAIN_TOOL.fullmatch(name) and whole_look(name) not in (reserved or role_looks()) else quoted(name)


def called_tool(tool: str, caller: str, phrases: Phrases) -> str:
    """The tool of a call. caller: see `Labels.caller`."""
    name = tool_label(tool, reserved_names(phrases))
    return phrases("call_by", tool=name, agent=caller) if caller else name


def call_label(tool: str, caller: str, phrases: Phrases) -> str:
    """What stands in front of the arguments of a call."""
    return f"{phrases('call')} {called_tool(tool, caller, phrases)}"
