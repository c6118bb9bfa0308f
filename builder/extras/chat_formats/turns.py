"""The conversation as turns of a chat: who writes, their words byte for byte, and which calls got which results."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Literal

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.list_items import ITEM
from builder.assemble.items.rendering import Image
from builder.assemble.items.writer import Item, Writer, instead_of_results
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.control_text import visible
from builder.extras.chat_formats.messages import Exchange, Message, MessagePart
from builder.extras.chat_formats.words import lines, message_words, page_call, result_words
from builder.recall.index.conversation import Entry

SectionItem = tuple[str, Item]


def is_turn(item: Item) -> bool:
    """Whether it is a message or a call; a result whose call is not shown is neither."""
    return item.entry is not None and bool(item.entry.request or item.first.role != "tool")


def roles_with_labels(items: Iterable[Item], asker: Breadcrumb | None, writer: Writer) -> frozenset[str]:
    """The roles in which more than one writes. asker: the current message."""
    labels = defaultdict[str, set[str]](set)
    for crumb in (*(item.first for item in items), *((asker,) if asker else ())):
        labels["user" if crumb is asker else _role(crumb, writer)].add(_name(crumb, writer))
    return frozenset(role for role, names in labels.items() if len(names - {""}) > 1)


@dataclass(frozen=True, slots=True)
class Notes:
    """Lines of ours, and the breadcrumbs that they show."""

    text: str = ""
    ids: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[MessagePart, ...]:
        """As the only part of a message; () without lines."""
        return (MessagePart(f"{self.text}\n", is_note=True),) if self.text else ()


class Dialogue:
    """The conversation as messages, turn by turn.

    Notes come before a person's words; those of the assistant end the user's message before it. What is no message, such as a run
    of calls, is a note, behind the message that makes the first of them.
    """

    def __init__(self, ledger: Ledger, labelled_roles: frozenset[str]) -> None:
        """labelled_roles: see `roles_with_labels`."""
        self._ledger = ledger
        self._labelled_roles = labelled_roles
        self._speaker = ""
        self.messages: list[Message] = []
        self.day = ""
        """The date of the last note."""
        self.note = Notes()
        """Lines that no message comes after yet."""

    def add(self, *stretches: Sequence[SectionItem]) -> None:
        """Append stretches of the conversation, each in page order."""
        gaps = chain.from_iterable(map(self._gaps, stretches))
        rows = zip(chain.from_iterable(stretches), gaps, strict=True)
        for _, of_message in groupby(rows, key=lambda each: each[0][1].first.id):
            parts = list(of_message)
            turn = [part for part in parts if is_turn(part[0][1])]
            for (section, _), gap in turn[:1]:
                self._say(section, gap, [item for (_, item), _ in turn])
            self._put_note((gap, item) for (_, item), gap in parts if not is_turn(item))

    def _gaps(self, placed: Sequence[SectionItem]) -> Iterator[str]:
        is_first = any(self._ledger.rules[section].source == "conversation" for section, _ in placed)
        return self._ledger.gaps.signs([item for _, item in placed], is_first=is_first)

    def _put_note(self, items: Iterable[tuple[str, Item]]) -> None:
        """items: each behind the sign of the gap before it."""
        texts, ids = [self.note.text], [*self.note.ids]
        for gap, item in items:
            texts += (gap.removeprefix(ITEM), item.text.removeprefix(ITEM))
            ids += (part.breadcrumb.id for part in item.fragments)
        self.note = Notes(lines(*texts), tuple(ids))

    def _say(self, section: str, gap: str, items: Sequence[Item]) -> None:
        message = _turn(items, self._ledger.writer)
        if not (message.parts or message.exchanges or message.images):
            return
        date = self._ledger.date(section, items[0])
        label = self._label(items[0].first, message)
        note = note_of(date if date != self.day else "", label, lines(self.note.text, gap))
        self._append(message, Notes(note, self.note.ids))
        self.day, self.note = date, Notes()

    def _label(self, crumb: Breadcrumb, message: Message) -> str:
        """Who speaks, where that is not clear, or the words were edited; else ""."""
        writer, before = self._ledger.writer, self._speaker
        name, label = _name(crumb, writer), writer.labels.of(crumb)
        if message.role == "assistant":
            self._speaker = name or before
        if message.parts and label != writer.labels.name(crumb):
            return label
        is_unclear = message.role in self._labelled_roles or not writer.view.is_own(crumb)
        return name if is_unclear and (message.role == "user" or name != before) else ""

    def _append(self, message: Message, note: Notes) -> None:
        if note.text and message.role == "user":
            message = replace(message, parts=(*note.parts, *message.parts), ids=(*note.ids, *message.ids))
        elif note.text and self.messages and self.messages[-1].role == "user":
            last = self.messages.pop()
            parts = (*last.parts, MessagePart(f"\n{note.text}\n", is_note=True))
            self.messages.append(replace(last, parts=parts, ids=(*last.ids, *note.ids)))
        elif note.text:
            self.messages.append(Message(role="user", parts=note.parts, ids=note.ids))
        self.messages.append(message)


def note_of(date: str, name: str, gap: str = "") -> str:
    """The note before a message: gap, date, speaker."""
    signs = gap.removeprefix(ITEM).replace(f"\n{ITEM}", "\n")
    return lines(signs, f"[{date}]" if date else "", visible(f"{name}:") if name else "")


def written_parts(fragment: Fragment, role: str, writer: Writer) -> tuple[MessagePart, ...]:
    """The words of a message; () when the assistant says nothing."""
    words = message_words(fragment, writer.labels.of(fragment.breadcrumb))
    if words.strip():
        return (MessagePart(words),)
    return (MessagePart(f"{writer.rendering.phrases('empty_message')}\n", is_note=True),) if role == "user" else ()


def pictures(item: Item, fragment: Fragment, writer: Writer) -> tuple[Image, ...]:
    """The images of a fragment of an item that sends them."""
    images, before = writer.rendering.images, 0
    for sender in item.pictured if item.pictures else ():
        if sender is fragment:
            return images(fragment.breadcrumb)[max(item.first_picture - before, 0) :]
        before += len(images(sender.breadcrumb))
    return ()


def _role(crumb: Breadcrumb, writer: Writer) -> Literal["user", "assistant"]:
    return "assistant" if crumb.role in {"assistant", "tool"} and writer.view.is_own(crumb) else "user"


def _name(crumb: Breadcrumb, writer: Writer) -> str:
    is_bare = crumb.role == "tool"
    if crumb.role != "user" and writer.view.is_own(crumb) and (is_bare or crumb.agent):
        return ""
    return (writer.labels.caller if is_bare else writer.labels.name)(crumb)


def _turn(items: Sequence[Item], writer: Writer) -> Message:
    crumb = items[0].first
    role = _role(crumb, writer)
    words = [item for item in items if not item.is_call]
    calls = [item for item in items if item.is_call]
    message = Message(
        role=role,
        parts=tuple(part for item in words for part in written_parts(item.fragments[0], role, writer)),
        ids=(crumb.id,),
        images=tuple(image for item in words for image in pictures(item, item.fragments[0], writer)),
    )
    if role == "user" and calls:
        return _with_calls(message, calls, writer)
    return replace(message, exchanges=tuple(_exchange(item.entry, item, writer) for item in calls if item.entry))


def _with_calls(message: Message, calls: Sequence[Item], writer: Writer) -> Message:
    """A message of another agent, and its calls as a note."""
    text = "\n".join(item.text for item in calls)
    results = [(item, result) for item in calls for result in item.fragments[1:]]
    return replace(
        message,
        parts=(*message.parts, MessagePart(f"\n{text}\n" if message.parts else f"{text}\n", is_note=True)),
        ids=(*message.ids, *(result.breadcrumb.id for _, result in results)),
        images=(*message.images, *(image for item, result in results for image in pictures(item, result, writer))),
    )


def _exchange(entry: Entry, item: Item, writer: Writer) -> Exchange:
    first, *results = item.fragments
    return Exchange(
        call=page_call(first, entry.request, writer),
        results=tuple(_result(each, writer) for each in results) or (writer.rendering.phrases(instead_of_results(entry)),),
        ids=tuple(each.breadcrumb.id for each in results),
        failed=bool(results) and results[-1].breadcrumb.failed,
        images=tuple(image for each in results for image in pictures(item, each, writer)),
    )


def _result(fragment: Fragment, writer: Writer) -> str:
    phrases = writer.rendering.phrases
    text = result_words(fragment, phrases("result"))
    return text if text.strip() else phrases("result_left_out", id=fragment.breadcrumb.id)
