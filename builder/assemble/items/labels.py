"""Who speaks, as the page names them, and the tools of calls."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from builder.domain.breadcrumb import Breadcrumb, Role
from builder.domain.phrases import Phrases
from builder.language.names import DEFAULT_NAMES, WORD, is_plain, looks, parts, quoted, role_looks, whole_look
from builder.recall.index.conversation import has_other_agents
from builder.recall.index.replies import answers_former_words, has_later_answer, quoted_words
from builder.recall.index.view import View

CHAT_ROLES = frozenset({"user", "assistant", "system"})
"""Roles whose words stand by themselves in messages."""


LABELS = (
    "user", "assistant", "system", "another_user", "tool", "tool_answered", "tool_failed", "call", "result", "failed", "note",
    "page", "knowledge", "edited", "to_former_words", "earlier_answer",
)  # fmt: skip
MAX_TOOL_CHARS = 200
_PLAIN_TOOL = re.compile(r"[\w.:/-]+")


@dataclass(frozen=True, slots=True)
class Labels:
    """Names on one page: a person never has an agent's name, and only the user is shown as the user."""

    view: View
    now: Breadcrumb
    """The trigger, whose person is the user."""
    phrases: Phrases
    consumers: frozenset[str] = frozenset()
    """Names of agents that the service builds pages for, whether they have spoken or not; the page's own is one of them."""
    others: dict[str, int] = field(default_factory=dict)
    """People without a name of their own → their number, in the order of their first label."""
    names: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Fields of a breadcrumb that decide its name → the name."""
    labels: dict[tuple[str, int], str] = field(default_factory=dict)
    """Id and version of a breadcrumb → what stands before its words."""

    def of(self, breadcrumb: Breadcrumb) -> str:
        """Who says it, with a mark where the words were edited, do not stand any more, or reply to others than those before."""
        key = breadcrumb.id, breadcrumb.version
        if key not in self.labels:
            words = quoted_words(self.view, breadcrumb)
            reply = (self.phrases("reply", words=words),) if words else ()
            self.labels[key] = " ".join((self.name(breadcrumb), *map(self.phrases, self._marks(breadcrumb)), *reply))
        return self.labels[key]

    def _marks(self, breadcrumb: Breadcrumb) -> Iterator[str]:
        """Names of phrases."""
        if breadcrumb.role in CHAT_ROLES and self.view.is_edited(breadcrumb):
            yield "edited"
        if answers_former_words(self.view, breadcrumb):
            yield "to_former_words"
        elif has_later_answer(self.view, breadcrumb):
            yield "earlier_answer"

    def caller(self, breadcrumb: Breadcrumb) -> str:
        """Who makes the calls; "" where only the consumer can."""
        if self.view.is_own(breadcrumb) and not has_other_agents(self.view):
            return ""
        speaker = breadcrumb.speaker if breadcrumb.speaker != DEFAULT_NAMES["tool"] else DEFAULT_NAMES["assistant"]
        return self.name(replace(breadcrumb, role="assistant", speaker=speaker))

    def name(self, breadcrumb: Breadcrumb) -> str:
        """The speaker of a breadcrumb; among several agents one without a name is called by its id."""
        who = breadcrumb.role, breadcrumb.speaker, breadcrumb.agent, breadcrumb.user_id, breadcrumb.session
        key = (*who, breadcrumb.schema, breadcrumb.tool)
        if key not in self.names:
            self.names[key] = self._name(breadcrumb)
        return self.names[key]

    def _name(self, breadcrumb: Breadcrumb) -> str:
        role, name, nameless = breadcrumb.role, self._speaker(breadcrumb), DEFAULT_NAMES.get(breadcrumb.role, "")
        reserved = reserved_names(self.phrases)
        if role == "tool":
            return tool_label(breadcrumb.tool or name, reserved)
        is_other = role == "user" and not self._is_the_user(breadcrumb)
        if is_other and whole_look(name) in {whole_look(nameless), whole_look(self.now.speaker)}:
            who = breadcrumb.user_id or breadcrumb.session
            return self.phrases("another_user", number=self.others.setdefault(who, len(self.others) + 1))
        if not nameless:
            return name if name == breadcrumb.schema or is_plain(name, reserved) else quoted(name)
        return self.phrases(role) if name == nameless else self._with_role(role, name)

    def _speaker(self, breadcrumb: Breadcrumb) -> str:
        """Among several agents the id of one without a name."""
        is_nameless = breadcrumb.role == "assistant" and breadcrumb.speaker == DEFAULT_NAMES["assistant"]
        if is_nameless and (has_other_agents(self.view) or not self.view.is_own(breadcrumb)):
            return breadcrumb.agent or breadcrumb.speaker
        return breadcrumb.speaker

    def _with_role(self, role: Role, name: str) -> str:
        """The name, behind its role where it is no plain name of its own."""
        # "Travel Assistant" may be the name of an agent, but none is called like the role itself.
        is_of_agent = role == "assistant" and whole_look(name) not in role_looks("assistants")
        reserved = reserved_names(self.phrases, without="assistants" if is_of_agent else "")
        is_name = is_plain(name, reserved) and not self._is_taken(role, name)
        return name if is_name else f"{self.phrases(role)} {quoted(name)}"

    def _is_the_user(self, breadcrumb: Breadcrumb) -> bool:
        if breadcrumb.user_id and self.now.user_id:
            return breadcrumb.user_id == self.now.user_id
        return breadcrumb.session == self.now.session

    def _is_taken(self, role: Role, name: str) -> bool:
        consumers = frozenset(map(whole_look, self.consumers))
        if role == "user":
            return self.view.has_agent(name) or not parts(name).isdisjoint(consumers)
        return whole_look(name) in consumers and name.casefold() not in {consumer.casefold() for consumer in self.consumers}


def reserved_names(phrases: Phrases, without: str = "") -> frozenset[str]:
    """Looks of the names of roles and of the labels of these phrases. without: a word list."""
    return _reserved(tuple(phrases.entries.get(name, "") for name in LABELS), without)


@lru_cache(64)
def _reserved(labels: tuple[str, ...], without: str) -> frozenset[str]:
    words = map(WORD.search, labels)
    every = role_looks().union(*(looks(word.group()) for word in words if word))
    return every - role_looks(without) if without else every


def tool_label(name: str, reserved: frozenset[str] = frozenset()) -> str:
    """A tool's name on the page. reserved: looks that none has; none = those of roles."""
    name = name[:MAX_TOOL_CHARS]
    return name if _PLAIN_TOOL.fullmatch(name) and whole_look(name) not in (reserved or role_looks()) else quoted(name)


def called_tool(tool: str, caller: str, phrases: Phrases) -> str:
    """The tool of a call. caller: see `Labels.caller`."""
    name = tool_label(tool, reserved_names(phrases))
    return phrases("call_by", tool=name, agent=caller) if caller else name


def call_label(tool: str, caller: str, phrases: Phrases) -> str:
    """The words before the arguments of a call."""
    return f"{phrases('call')} {called_tool(tool, caller, phrases)}"
