"""The messages of a conversation in a file that are read: its last branch, each message once."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from hashlib import blake2b
from itertools import groupby, pairwise
from typing import Any

from builder.chat_messages.messages import message_of, role_of, speaker_of, without_envelope
from builder.domain.errors import Rejected
from builder.domain.json_text import canonical
from builder.domain.json_values import JsonObject, parsed
from builder.wire.items import PLAIN, Item
from builder.wire.parts import Call, Mark, Result, Text, Thought
from builder.wire.tool_parts import first_of

PARENTS = ("parentId", "parent_id", "parentUuid", "parent_uuid", "parentMessageId", "parent_message_id", "parent")
"""Fields that name the message before this one."""
_PLAIN = PLAIN.union(PARENTS)
"""Fields of a message whose key needs no reader."""
CALL_IDS = ("tool_call_id", "toolCallId", "tool_use_id", "call_id")
"""Fields of a result with the id of its call."""
LEAST_COPY = 4
"""Messages of a dialogue that may have been copied more than once."""
MOST_BACK = 500
"""Messages from the end of a conversation among which the beginning of a repeated end is looked for."""
LEAST_EQUAL, MAX_WORDS = 0.5, 200
"""Share of the words that two forms of a first question have in common, in order; words of each that are compared."""


@dataclass(slots=True)
class Entry:
    """A message or a record of a file."""

    line: int
    value: JsonObject
    time: datetime | None = None
    identity: str = ""
    """Its own id; "" = none."""
    is_chat: bool = True
    role: str = ""
    """The role of a message; "" = unknown."""
    group: int = 0
    """Number of the list of messages that it is part of; 0 = it is a line of its own."""
    key: bytes = b""
    """Hash of its role, words and calls."""
    former: str = ""
    """The id that earlier releases gave it."""

    def is_again(self, other: "Entry") -> bool:
        """Whether both are one message: equal words, not two times, and not two speakers."""
        return bool(self.key) and self.key == other.key and self._may_be(other)

    def is_sent_again(self, other: "Entry") -> bool:
        """The same of two lists of messages in which the one before is the same: their calls and results may have other ids."""
        if self.is_again(other) or not self.key or self.role not in {"assistant", "tool"}:
            return self.is_again(other)
        bare, before = (key_of(each.value, each.role, with_ids=False) for each in (self, other))
        return bare == before and self._may_be(other)

    def _may_be(self, other: "Entry") -> bool:
        names = {speaker_of(self.value), speaker_of(other.value)} - {""}
        return len(names) <= 1 and (self.time is None or other.time is None or self.time == other.time)


def key_of(message: Any, role: str, *, with_ids: bool = True) -> bytes:
    """16 bytes; equal for messages of one role that say, call and answer the same. role: of `chat_role`.

    with_ids: calls and results count by their ids as well.
    """
    content = message.get("content")
    is_plain = isinstance(content, str) and message.keys() <= _PLAIN and role != "tool"
    meaning = content if is_plain else _meaning(message, with_ids=with_ids)
    text = meaning.strip() if isinstance(meaning, str) else canonical(meaning)
    return blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def chat_role(message: Any) -> str:
    """`user`, `assistant`, `tool` or `system`; "" = unknown."""
    try:
        return role_of(without_envelope(message))
    except Rejected:
        return ""


def _meaning(value: Any, *, with_ids: bool) -> Any:
    """Texts as one, calls and results by their fields, files as they came; thoughts only where there is nothing else."""
    try:
        message = message_of(value)
    except Rejected:
        return value
    meanings = [each for item in message.items for each in _meanings(item, with_ids=with_ids)]
    words = "".join(each for each in meanings if isinstance(each, str)).strip()
    others = [each for each in meanings if not isinstance(each, str)]
    if others or message.files:
        return [words, others, message.files]
    return words or [item.value for item in message.items if item.value]


def _meanings(item: Item, *, with_ids: bool) -> Iterator[Any]:
    for part in item.parts:
        match part:
            case Text():
                yield part.text
            case Call():
                yield ["call", part.tool, part.arguments, part.id if with_ids else ""]
            case Result():
                yield ["result", (part.id or part.tool) if with_ids else "", _plain(part.output)]
            case Thought() | Mark():
                pass
            case _:
                yield [item.value]


def _plain(value: Any) -> Any:
    """Texts in parts as one text, a JSON text as its value."""
    if isinstance(value, str):
        return parsed(value.strip())
    if not isinstance(value, list):
        return value
    texts = [part.get("text") if isinstance(part, dict) and part.get("type", "text") == "text" else part for part in value]
    words = [text for text in texts if isinstance(text, str)]
    return parsed("".join(words).strip()) if len(words) == len(texts) else value


def last_branch(entries: list[Entry]) -> list[Entry]:
    """Without the messages of branches that were left: what was edited or asked for again, and what followed.

    A parent whose children have several speakers, or its own role, is a thread and no branch.
    """
    messages = [entry for entry in entries if entry.is_chat]
    by_id = {entry.identity: entry for entry in messages if entry.identity}
    if not _has_branches(messages, by_id):
        return entries
    path = _path(messages, _newest(messages), by_id)
    return [entry for entry in entries if not entry.is_chat or id(entry) in path or _stays(entry, path, by_id)]


def _newest(messages: list[Entry]) -> int:
    """By time where all have one; the later one in the file of two."""
    times = [entry.time for entry in messages if entry.time is not None]
    if len(times) < len(messages):
        return len(messages) - 1
    return max(range(len(times)), key=lambda index: (times[index], index))


def _parent(entry: Entry) -> str | None:
    """Id; "" = it is a first message; None = it does not say."""
    name = next((name for name in PARENTS if name in entry.value), "")
    value = entry.value[name] if name else None
    return str((value.get("id") if isinstance(value, dict) else value) or "") if name else None


def _has_branches(messages: list[Entry], by_id: dict[str, Entry]) -> bool:
    children: dict[str, list[Entry]] = {}
    for entry in messages:
        parent = _parent(entry)
        if parent and parent in by_id and entry.role != "tool":
            children.setdefault(parent, []).append(entry)
    several = [(by_id[parent], group) for parent, group in children.items() if len({each.identity for each in group}) > 1]
    return _branches(several) or (not several and _has_other_beginnings(messages, by_id))


def _has_other_beginnings(messages: list[Entry], by_id: dict[str, Entry]) -> bool:
    """Whether one person's first message was edited: several have no message before them, and later ones name an answer."""
    first = [entry for entry in messages if entry.identity and _parent(entry) == ""]
    later = [by_id[parent] for entry in messages if entry.role == "user" and (parent := _parent(entry)) in by_id]
    if len(first) == 1 or not (first and later):
        return False
    is_last = all(before.role == "assistant" and _first_of(before, by_id) is first[-1] for before in later)
    return is_last and all(_is_edit(*pair) for pair in pairwise(first))


def _first_of(entry: Entry, by_id: dict[str, Entry]) -> Entry:
    """The message that its talk began with."""
    passed: set[int] = set()
    while id(entry) not in passed and (before := by_id.get(_parent(entry) or "")):
        passed.add(id(entry))
        entry = before
    return entry


def _is_edit(before: Entry, after: Entry) -> bool:
    """Whether one person asks the same in other words. Another topic in the same file is no edit."""
    speakers = {(entry.role, speaker_of(entry.value)) for entry in (before, after)}
    first, second = (str(_meaning(entry.value, with_ids=True)).split()[:MAX_WORDS] for entry in (before, after))
    is_alike = SequenceMatcher(None, first, second, autojunk=False).ratio() >= LEAST_EQUAL
    return len(speakers) == 1 and before.role == "user" and is_alike


def _branches(several: list[tuple[Entry, list[Entry]]]) -> bool:
    for before, group in several:
        speakers = {(each.role, speaker_of(each.value)) for each in group}
        if len(speakers) > 1 or before.role in dict(speakers):
            return False
    return bool(several)


def _path(messages: list[Entry], index: int, by_id: dict[str, Entry]) -> set[int]:
    """Identities of the message and of all before it."""
    places = {id(entry): number for number, entry in enumerate(messages)}
    path: set[int] = set()
    while index >= 0 and id(messages[index]) not in path:
        entry = messages[index]
        path.add(id(entry))
        parent = _parent(entry)
        if parent == "":
            break
        index = places[id(by_id[parent])] if parent in by_id else index - 1
    return path


def _stays(entry: Entry, path: set[int], by_id: dict[str, Entry]) -> bool:
    parent = _parent(entry)
    if parent is None:
        return not entry.identity
    return parent in by_id and id(by_id[parent]) in path and entry.role == "tool"


def without_repeats(entries: list[Entry]) -> list[Entry]:
    """Each message once: a history that each request sends again, an end that is repeated, a message right after itself."""
    conversation: list[Entry] = []
    for group, run in groupby(entries, key=lambda entry: entry.group):
        messages = list(run)
        if conversation and group:
            messages = _new(conversation, messages)
        elif not group:
            messages = _without_second_copy(messages)
        for entry in messages:
            if not _is_again(conversation, entry):
                conversation.append(entry)
    return conversation


def _new(conversation: list[Entry], messages: list[Entry]) -> list[Entry]:
    """Messages that are new to the conversation. A system prompt in front, which clients change with the day, takes no part."""
    first, lead = _after_prompt(conversation), _after_prompt(messages)
    common = _overlap(conversation[first:], messages[lead:])
    return messages[lead + common :] if common else messages


def _after_prompt(messages: list[Entry]) -> int:
    return next((number for number, entry in enumerate(messages) if entry.role != "system"), len(messages))


def _overlap(conversation: list[Entry], messages: list[Entry]) -> int:
    """How many of the messages the conversation has."""
    common = _common(conversation, 0, messages, 0)
    if common in (len(conversation), len(messages)):
        return common
    for start in range(max(len(conversation) - MOST_BACK, 0), len(conversation)):
        length = len(conversation) - start
        if length <= len(messages) and _common(conversation, start, messages, 0) == length:
            return length
    return common


def _common(one: list[Entry], first: int, other: list[Entry], second: int) -> int:
    """How many from these places on are the same."""
    length = min(len(one) - first, len(other) - second)
    for count in range(length):
        before, after = one[first + count], other[second + count]
        if not (before.is_sent_again(after) if count else before.is_again(after)):
            return count
    return length


def _without_second_copy(messages: list[Entry]) -> list[Entry]:
    """Without copies of the whole dialogue right behind it. What comes three times and is short is a habit and no copy."""
    for end in range(2, len(messages) // 2 + 1):
        if not messages[end].is_again(messages[0]) or len({entry.role for entry in messages[:end]}) == 1:
            continue
        copies = 1
        while _common(messages[:end], 0, messages, copies * end) == end:
            copies += 1
        if copies > 1:
            return messages if copies > 2 and end < LEAST_COPY else messages[:end] + messages[copies * end :]  # noqa: PLR2004
    return messages


def _is_again(conversation: list[Entry], entry: Entry) -> bool:
    """Whether the message before says the same; of a result that names its call, one of those before."""
    if not entry.is_chat:
        return False
    is_result = entry.role == "tool"
    if is_result and not first_of(entry.value, CALL_IDS):
        return False
    for before in reversed(conversation):
        if before.is_chat and before.is_again(entry):
            return True
        if not is_result or not before.is_chat or before.role != "tool":
            return False
    return False
