"""A page as the messages of a chat API: the same fragments, written words apart from what the builder adds.

What lasts is a system message per section; then the conversation; then the current message, after everything else on the page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.labels import CHAT_ROLES
from builder.assemble.items.rendering import Group, PageSection
from builder.assemble.items.section_sources import SAME, SOURCES
from builder.assemble.items.writer import Item, Writer
from builder.domain.context import OPENING, RECENT, SLOW, STATIC
from builder.domain.profile import SectionRule
from builder.extras.chat_formats.messages import Message, MessagePart
from builder.extras.chat_formats.turns import (
    Dialogue,
    Notes,
    SectionItem,
    is_turn,
    note_of,
    pictures,
    roles_with_labels,
    written_parts,
)
from builder.extras.chat_formats.words import lines
from builder.recall.index.conversation import closed_turn

PROBE = "x"
"""Stands in a section while its heading is looked for."""


class PageMessages:
    """The parts of a page, of which messages are made."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._trigger = next(rule for rule in ledger.rules.values() if rule.source == "trigger")
        items = ledger.items.get(self._trigger.name, ())
        self._current = next((item for item in items if not item.entry), None)
        self._is_text = self._current is not None and self._current.first.role not in CHAT_ROLES
        """The current message is nobody's words."""
        self._calls = [placed for placed in _of(ledger, "turn") if is_turn(placed[1])]
        first = min((item.origin for _, item in self._calls), default=ledger.writer.view.size)
        questions = [(self._trigger.name, item) for item in items if item.entry]
        before = (placed for placed in questions if placed[1].origin < first)
        self._before = sorted((*_of(ledger, "window"), *before), key=lambda placed: placed[1].origin)
        """The conversation before the calls to answer from."""
        self._since = [*self._calls, *(placed for placed in questions if placed[1].origin > first)]
        turns = (item for _, item in (*self._before, *self._since) if is_turn(item))
        self._labelled_roles = roles_with_labels(turns, self._current.first if self._current else None, ledger.writer)

    def messages(self) -> tuple[Message, ...]:
        """They end with the current message, or with the calls to answer from."""
        dialogue = Dialogue(self._ledger, self._labelled_roles)
        dialogue.add(self._before, self._since)
        system, notes = self._system_and_notes()
        is_cached = not system or bool(system[-1].breakpoint)
        notes = Notes("\n\n".join(filter(None, (dialogue.note.text, notes.text))), (*dialogue.note.ids, *notes.ids))
        conversation = _opened(dialogue.messages, _note_of(self._ledger, "window") if self._before else "")
        if self._ends_with_calls(conversation, notes):
            callers = {item.first.id for _, item in self._since}
            ending = lines(_note_of(self._ledger, "turn"), _note_of(self._ledger, "trigger"))
            return (*system, *_ending_with_calls(conversation, callers, notes, ending, is_cached=is_cached))
        last = Message(role="user", parts=(MessagePart(notes.text, is_note=True),), ids=notes.ids)
        if self._current and not self._is_text:
            last = self._with_current(self._current, notes, dialogue.day)
        return (*system, *_with_breakpoint(conversation, is_cached=is_cached), last)

    def _system_and_notes(self) -> tuple[tuple[Message, ...], Notes]:
        """The sections that last, and those before the current message."""
        ledger = self._ledger
        items = {name: self._without_turns(name) for name in ledger.items}
        lasting: list[PageSection] = []
        others: list[PageSection] = []
        for section in filter(None, map(self._without_note, ledger.page_sections(items))):
            rule = ledger.rules[section.name]
            (lasting if SOURCES[rule.source].is_in_system(rule) else others).append(section)
        return tuple(_system(lasting, items, ledger)), _notes(others, items, ledger.writer)

    def _without_turns(self, name: str) -> Sequence[Item]:
        items, source = self._ledger.items[name], self._ledger.rules[name].source
        match source:
            case "trigger":
                return [item for item in items if self._is_text and not item.entry]
            case "turn":
                return [item for item in items if not is_turn(item)]
            case _:
                return [] if source in SAME["window"] else items

    def _without_note(self, section: PageSection) -> PageSection | None:
        """Without a note that a message has; None when nothing else is in it."""
        source = self._ledger.rules[section.name].source
        if source in {"turn", "trigger"} or (source in SAME["window"] and self._before):
            return replace(section, note="") if section.groups else None
        return section

    def _ends_with_calls(self, conversation: Sequence[Message], notes: Notes) -> bool:
        view, now = self._ledger.writer.view, self._ledger.writer.now
        turn = closed_turn(view, view.history.breadcrumbs.versions[now.id][0]) if now.role == "tool" else ()
        if any(item.entry in (turn or ()) and item.fragments[1:] for _, item in self._calls):
            return True
        ends_with_user = bool(conversation) and conversation[-1].role == "user"
        return self._current is None and (not notes.text or ends_with_user)

    def _with_current(self, current: Item, notes: Notes, day: str) -> Message:
        """The current message after everything that is no message. day: of the last note."""
        ledger, writer, crumb = self._ledger, self._ledger.writer, current.first
        date = ledger.date(self._trigger.name, current)
        label = writer.labels.of(crumb)
        is_named = "user" in self._labelled_roles or crumb.role != "user" or label != writer.labels.name(crumb)
        note = note_of(date if date != day else "", label if is_named else "")
        heading = _heading(self._trigger, writer) if notes.text else ""
        above = lines(notes.text and f"{notes.text}\n", heading, _note_of(ledger, "trigger"), note)
        return Message(
            role="user",
            parts=(*Notes(above).parts, *written_parts(current.fragments[-1], "user", writer)),
            ids=(*notes.ids, crumb.id),
            images=pictures(current, current.fragments[-1], writer),
        )


def _of(ledger: Ledger, source: str) -> list[SectionItem]:
    rule = ledger.rule(source)
    return [(rule.name, item) for item in ledger.items.get(rule.name, ())] if rule else []


def _note_of(ledger: Ledger, source: str) -> str:
    rule = ledger.rule(source)
    return ledger.notes.get(rule.name, "") if rule else ""


def _opened(conversation: list[Message], note: str) -> list[Message]:
    if not note:
        return conversation
    parts = Notes(note).parts
    if conversation and conversation[0].role == "user":
        return [replace(conversation[0], parts=(*parts, *conversation[0].parts)), *conversation[1:]]
    return [Message(role="user", parts=parts), *conversation]


def chat_tokens(chat: Sequence[Message], writer: Writer) -> int:
    """Tokens of all texts, arguments and results; names and ids are the API's."""
    first = next((message.role for message in chat if message.role != "system"), "")
    texts = [OPENING] if first == "assistant" else []
    for message in chat:
        joint = "\n\n" if message.role == "system" else ""
        texts += (part.text + joint for part in message.parts)
        texts += (text for each in message.exchanges for text in (each.call.arguments, "\n".join(each.results)))
    return sum(map(writer.rendering.page_tokens, texts))


def _system(front: Sequence[PageSection], items: dict[str, Sequence[Item]], ledger: Ledger) -> Iterable[Message]:
    classes = [ledger.rules[section.name].section_class for section in front]
    static = len(list(takewhile(lambda name: name == STATIC, classes)))
    slow = len(list(takewhile(lambda name: name != "turn", classes)))
    marks = {slow: SLOW, static: STATIC}
    for number, section in enumerate(front, 1):
        notes = _notes((section,), items, ledger.writer)
        parts = (MessagePart(notes.text, is_note=True),)
        yield Message(role="system", parts=parts, ids=notes.ids, breakpoint=marks.get(number, ""))


def _notes(sections: Sequence[PageSection], items: dict[str, Sequence[Item]], writer: Writer) -> Notes:
    chat = (item for section in sections for item in items.get(section.name, ()))
    text = writer.rendering.page(writer.profile.page, tuple(sections)).text.strip("\n") if sections else ""
    return Notes(text, tuple(dict.fromkeys(part.breadcrumb.id for item in chat for part in item.fragments)))


def _heading(rule: SectionRule, writer: Writer) -> str:
    section = PageSection(name=rule.name, title=rule.title, groups=(Group(date="", fragments=(PROBE,)),))
    layout = writer.rendering.page(writer.profile.page, (section,))
    if not layout.ends or layout.text[layout.ends[0] :].strip():
        return ""
    return layout.text[: layout.ends[0]].rstrip("\n").removesuffix(PROBE).strip("\n")


def _ending_with_calls(
    conversation: Sequence[Message], callers: set[str], notes: Notes, ending: str, *, is_cached: bool
) -> tuple[Message, ...]:
    """callers: ids of the messages that make the calls or came after. ending: the note that ends the message before."""
    if not notes.text and not ending:
        return _with_breakpoint(conversation, is_cached=is_cached)
    number = sum(1 for _ in takewhile(lambda message: callers & {*message.ids}, reversed(conversation)))
    before, calls = list(conversation[: len(conversation) - number]), conversation[len(conversation) - number :]
    question = before.pop() if before and before[-1].role == "user" else Message(role="user")
    gap = "\n" if notes.text or question.parts else ""
    last = Notes(ending and f"{gap}{ending}")
    front = replace(question, parts=(*notes.parts, *question.parts, *last.parts), ids=(*notes.ids, *question.ids))
    return (*_with_breakpoint(before, is_cached=is_cached), front, *calls)


def _with_breakpoint(conversation: Sequence[Message], *, is_cached: bool) -> tuple[Message, ...]:
    if conversation and is_cached:
        return (*conversation[:-1], replace(conversation[-1], breakpoint=RECENT))
    return tuple(conversation)
