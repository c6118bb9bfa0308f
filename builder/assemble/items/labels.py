"""Who speaks, as the page names them, and the words of a fragment without bullet, indent and label."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from builder.assemble.items.list_items import INSIDE, ITEM, LINE_END, NO_LABEL, spoken
from builder.assemble.items.rendering import LINE_REASONS
from builder.domain.breadcrumb import TOOL_RESPONSE, Breadcrumb, Role
from builder.domain.context import Call, Fragment
from builder.domain.text import Phrases, one_line, visible
from builder.language.words import DEFAULT_NAMES, WORD, is_plain, looks, parts, quoted, role_looks, whole_look
from builder.recall.index.answers import answers_former_words, has_later_answer
from builder.recall.index.conversation import Entry, has_other_agents
from builder.recall.index.replies import quoted_words
from builder.recall.index.view import View
from builder.remember.content import without_wrapper
from builder.wire.words import brief

CHAT_ROLES = frozenset({"user", "assistant", "system"})
"""Roles whose words stand by themselves in messages."""
MAX_MARGIN_CHARS = 200
"""White space around a text that messages keep. A page has none, so no cut would take it off where it has no room."""


def message_words(fragment: Fragment, label: str) -> str:
    """What a message says: byte for byte when all of it is shown, else its part. label: the speaker's on the page."""
    text = fragment.breadcrumb.text
    is_whole = not fragment.reduced and not fragment.transformed and _has_room(text)
    return visible(text if is_whole else spoken(fragment.text, visible(label)))


def result_words(fragment: Fragment, label: str) -> str:
    """What a result says without its label: a text byte for byte, any other value as compact JSON."""
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


def shows_pictures(fragment: Fragment) -> bool:
    """Whether it is more than one line of ours."""
    return fragment.reduced not in set(filter(None, LINE_REASONS.values()))


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
    """What a name hangs on → the name, once it was read."""

    def of(self, breadcrumb: Breadcrumb) -> str:
        """Who says it, with a mark where the words were edited, do not stand any more, or reply to others than those before."""
        words = quoted_words(self.view, breadcrumb)
        reply = (self.phrases("reply", words=words),) if words else ()
        return " ".join((self.name(breadcrumb), *map(self.phrases, self._marks(breadcrumb)), *reply))

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
