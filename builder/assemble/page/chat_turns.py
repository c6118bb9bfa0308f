"""The conversation as turns of a chat: who writes, what he wrote byte for byte, and which calls got which results."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.draft import Item, Writer
from builder.assemble.items.labels import call_label
from builder.assemble.items.words import call_arguments, message_words, result_words, shows_pictures
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.control_text import visible
from builder.domain.message import Exchange, Image, Message, Part

Placed = tuple[str, Item]
"""A section's name, and an item that stands in it."""


def is_turn(item: Item) -> bool:
    """Whether it is told as a message or a call: a result whose call is not shown is neither."""
    return item.entry is not None and bool(item.entry.request or item.first.role != "tool")


def roles_with_labels(items: Iterable[Item], asker: Breadcrumb | None, writer: Writer) -> frozenset[str]:
    """The roles in which more than one writes. asker: the current message, which counts as the user's."""
    labels: defaultdict[str, set[str]] = defaultdict(set)
    crumbs = [(_role(item.first), item.first) for item in items]
    for role, crumb in (*crumbs, *((("user", asker),) if asker else ())):
        if crumb.role != "tool":
            labels[role].add(writer.labels.of(crumb))
    return frozenset(role for role, names in labels.items() if len(names) > 1)


def conversation_messages(turns: Iterable[Placed], ledger: Ledger, labelled_roles: frozenset[str]) -> tuple[list[Message], str]:
    """The turns in page order, and the date of the last note. labelled_roles: see `roles_with_labels`.

    Dates and names stand in front of what a person wrote. Those of the assistant's end the user's message before it, which is one
    of ours where there is none.
    """
    conversation: list[Message] = []
    day = speaker = ""
    for _, turn in groupby(turns, key=lambda placed: placed[1].entry.row if placed[1].entry else -1):
        (section, first), *more = turn
        message = _turn((first, *(item for _, item in more)), ledger.writer)
        if not message.parts and not message.exchanges and not message.images:
            continue
        date, name = ledger.date(section, first), ledger.writer.labels.of(first.first) if first.first.role != "tool" else ""
        is_new = message.role == "user" or name not in {"", speaker}
        note = note_of(date if date != day else "", name if is_new and message.role in labelled_roles else "")
        day, speaker = date, name if name and message.role == "assistant" else speaker
        _append(conversation, message, note)
    return conversation, day


def _append(conversation: list[Message], message: Message, note: str) -> None:
    """Append a message with its note: in front of it when it is the user's, else at the end of the user's message before it."""
    if not note:
        conversation.append(message)
    elif message.role == "user":
        conversation.append(replace(message, parts=(Part(f"{note}\n", is_note=True), *message.parts)))
    elif conversation and conversation[-1].role == "user":
        last = conversation.pop()
        conversation += [replace(last, parts=(*last.parts, Part(f"\n{note}\n", is_note=True))), message]
    else:
        conversation += [Message(role="user", parts=(Part(f"{note}\n", is_note=True),), ids=()), message]


def note_of(date: str, name: str) -> str:
    """When, and who."""
    return "\n".join(filter(None, (f"[{date}]" if date else "", visible(f"{name}:") if name else "")))


def written_parts(fragment: Fragment, role: str, writer: Writer) -> tuple[Part, ...]:
    """What a message says; nothing when the assistant says nothing."""
    words = message_words(fragment, writer.labels.of(fragment.breadcrumb))
    if words.strip():
        return (Part(words),)
    return (Part(f"{writer.rendering.phrases('empty_message')}\n", is_note=True),) if role == "user" else ()


def pictures(fragment: Fragment, writer: Writer) -> tuple[Image, ...]:
    """The images of what is shown as more than one line of ours."""
    return writer.rendering.images(fragment.breadcrumb) if shows_pictures(fragment) else ()


def _role(crumb: Breadcrumb) -> Literal["user", "assistant"]:
    """Who writes it in a chat of two: bare tool requests are the assistant's."""
    return "assistant" if crumb.role in {"assistant", "tool"} else "user"


def _turn(items: Sequence[Item], writer: Writer) -> Message:
    """A message with its calls, or calls alone."""
    crumb = items[0].first
    words = [item.fragments[0] for item in items if item.entry and not item.entry.request]
    return Message(
        role=_role(crumb),
        parts=tuple(part for fragment in words for part in written_parts(fragment, _role(crumb), writer)),
        ids=(crumb.id,),
        exchanges=tuple(_exchange(item.entry.request, item, writer) for item in items if item.entry and item.entry.request),
        images=tuple(image for fragment in words for image in pictures(fragment, writer)),
    )


def _exchange(request: str, item: Item, writer: Writer) -> Exchange:
    first, *results = item.fragments
    call = writer.rendering.call(first.breadcrumb, request)
    call = replace(call, arguments=call_arguments(call, first, call_label(call.tool, writer.rendering.phrases)))
    exchange = Exchange(call=call, results=(writer.rendering.phrases("no_answer"),), ids=(), failed=False)
    for fragment in results:
        exchange = _with_result(exchange, fragment, writer)
    return exchange


def _with_result(exchange: Exchange, fragment: Fragment, writer: Writer) -> Exchange:
    """The exchange with one more result."""
    phrases = writer.rendering.phrases
    text, left_out = result_words(fragment, phrases("result")), phrases("result_left_out", id=fragment.breadcrumb.id)
    return replace(
        exchange,
        results=(*(exchange.results if exchange.ids else ()), text if text.strip() else left_out),
        ids=(*exchange.ids, fragment.breadcrumb.id),
        failed=fragment.breadcrumb.failed,
        images=(*exchange.images, *pictures(fragment, writer)),
    )
