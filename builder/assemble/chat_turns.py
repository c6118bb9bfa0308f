"""The conversation as turns of a chat: who writes, their words byte for byte, and which calls got which results."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Literal

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.labels import (
    call_arguments,
    call_label,
    instead_of_results,
    message_words,
    result_words,
    shows_pictures,
)
from builder.assemble.items.list_items import ITEM
from builder.assemble.items.writer import Item, Writer
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Exchange, Fragment, Image, Message, MessagePart
from builder.domain.text import visible
from builder.recall.index.conversation import Entry

SectionItem = tuple[str, Item]


def is_turn(item: Item) -> bool:
    """Whether it is a message or a call; a result whose call is not shown is neither."""
    return item.entry is not None and bool(item.entry.request or item.first.role != "tool")


def roles_with_labels(items: Iterable[Item], asker: Breadcrumb | None, writer: Writer) -> frozenset[str]:
    """The roles in which more than one writes. asker: the current message."""
    labels: defaultdict[str, set[str]] = defaultdict(set)
    for crumb in (*(item.first for item in items), *((asker,) if asker else ())):
        labels["user" if crumb is asker else _role(crumb, writer)].add(_name(crumb, writer))
    return frozenset(role for role, names in labels.items() if len(names - {""}) > 1)


@dataclass(frozen=True, slots=True)
class _Note:
    """Lines of ours, and the breadcrumbs that they show."""

    text: str
    ids: tuple[str, ...] = ()


def conversation_messages(
    dialogue: Sequence[SectionItem], calls: Sequence[SectionItem], ledger: Ledger, labelled_roles: frozenset[str]
) -> tuple[list[Message], str, _Note]:
    """The conversation and the calls to answer from, the date of the last note, and lines that no message comes after.

    Notes come before a person's words; those of the assistant end the user's message before it. What is no message, such as a run
    of calls, is a note. labelled_roles: see `roles_with_labels`.
    """
    conversation: list[Message] = []
    writer, labels = ledger.writer, ledger.writer.labels
    day = speaker = lines = ""
    ids: tuple[str, ...] = ()
    gaps = chain.from_iterable(_gaps(placed, ledger) for placed in (dialogue, calls))
    turns = groupby(zip((*dialogue, *calls), gaps, strict=True), key=lambda each: each[0][1].entry and each[0][1].entry.row)
    for _, turn in turns:
        ((section, first), gap), *more = turn
        if not is_turn(first):
            each = ((gap, first), *((gap, item) for (_, item), gap in more))
            texts = (text.removeprefix(ITEM) for gap, item in each for text in (gap, item.text) if text)
            lines = "\n".join(filter(None, (lines, *texts)))
            ids = (*ids, *(part.breadcrumb.id for _, item in each for part in item.fragments))
            continue
        message = _turn((first, *(item for (_, item), _ in more)), writer)
        if not message.parts and not message.exchanges and not message.images:
            continue
        date, crumb = ledger.date(section, first), first.first
        name, is_edited = _name(crumb, writer), bool(message.parts) and labels.of(crumb) != labels.name(crumb)
        is_named = (message.role == "user" or name not in {"", speaker}) and (
            message.role in labelled_roles or not writer.view.is_own(crumb)
        )
        gap, lines = "\n".join(filter(None, (lines, gap))), ""
        note = note_of(date if date != day else "", labels.of(crumb) if is_edited else name if is_named else "", gap)
        day, speaker = date, name if name and message.role == "assistant" else speaker
        _append(conversation, message, _Note(note, ids))
        ids = ()
    return conversation, day, _Note(lines, ids)


def _gaps(placed: Sequence[SectionItem], ledger: Ledger) -> Iterator[str]:
    items = [item for _, item in placed]
    return ledger.gaps.signs(items, is_first=any(ledger.rules[section].source == "conversation" for section, _ in placed))


def _append(conversation: list[Message], message: Message, note: _Note) -> None:
    text, ids = note.text, note.ids
    if not text:
        conversation.append(message)
    elif message.role == "user":
        parts = (MessagePart(f"{text}\n", is_note=True), *message.parts)
        conversation.append(replace(message, parts=parts, ids=(*ids, *message.ids)))
    elif conversation and conversation[-1].role == "user":
        last = conversation.pop()
        parts = (*last.parts, MessagePart(f"\n{text}\n", is_note=True))
        conversation += [replace(last, parts=parts, ids=(*last.ids, *ids)), message]
    else:
        conversation += [Message(role="user", parts=(MessagePart(f"{text}\n", is_note=True),), ids=ids), message]


def note_of(date: str, name: str, gap: str = "") -> str:
    """The note before a message: gap, date, speaker."""
    return "\n".join(
        filter(
            None,
            (gap.removeprefix(ITEM).replace(f"\n{ITEM}", "\n"), f"[{date}]" if date else "", visible(f"{name}:") if name else ""),
        )
    )


def written_parts(fragment: Fragment, role: str, writer: Writer) -> tuple[MessagePart, ...]:
    """The words of a message; () when the assistant says nothing."""
    words = message_words(fragment, writer.labels.of(fragment.breadcrumb))
    if words.strip():
        return (MessagePart(words),)
    return (MessagePart(f"{writer.rendering.phrases('empty_message')}\n", is_note=True),) if role == "user" else ()


def pictures(fragment: Fragment, writer: Writer) -> tuple[Image, ...]:
    """The images of what is shown as more than one line of ours."""
    return writer.rendering.images(fragment.breadcrumb) if shows_pictures(fragment) else ()


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
    words = [item.fragments[0] for item in items if item.entry and not item.entry.request]
    message = Message(
        role=role,
        parts=tuple(part for fragment in words for part in written_parts(fragment, role, writer)),
        ids=(crumb.id,),
        images=tuple(image for fragment in words for image in pictures(fragment, writer)),
    )
    calls = [item for item in items if item.entry and item.entry.request]
    if role == "user" and calls:
        text = "\n".join(item.text for item in calls)
        results = [result for item in calls for result in item.fragments[1:]]
        return replace(
            message,
            parts=(*message.parts, MessagePart(f"\n{text}\n" if message.parts else f"{text}\n", is_note=True)),
            ids=(crumb.id, *(result.breadcrumb.id for result in results)),
            images=(*message.images, *(image for result in results for image in pictures(result, writer))),
        )
    return replace(message, exchanges=tuple(_exchange(item.entry, item, writer) for item in calls if item.entry))


def _exchange(entry: Entry, item: Item, writer: Writer) -> Exchange:
    first, *results = item.fragments
    call, phrases = writer.rendering.call(first.breadcrumb, entry.request), writer.rendering.phrases
    call = replace(
        call, arguments=call_arguments(call, first, call_label(call.tool, writer.labels.caller(first.breadcrumb), phrases))
    )
    exchange = Exchange(call=call, results=(phrases(instead_of_results(entry)),), ids=(), failed=False)
    for fragment in results:
        exchange = _with_result(exchange, fragment, writer)
    return exchange


def _with_result(exchange: Exchange, fragment: Fragment, writer: Writer) -> Exchange:
    phrases = writer.rendering.phrases
    text, left_out = result_words(fragment, phrases("result")), phrases("result_left_out", id=fragment.breadcrumb.id)
    return replace(
        exchange,
        results=(*(exchange.results if exchange.ids else ()), text if text.strip() else left_out),
        ids=(*exchange.ids, fragment.breadcrumb.id),
        failed=fragment.breadcrumb.failed,
        images=(*exchange.images, *pictures(fragment, writer)),
    )
