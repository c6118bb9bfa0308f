"""The page as the messages of a chat API: the same fragments, written words apart from what the builder adds.

What lasts is a system message per section; then the conversation; then the current message, after everything else on the page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from builder.assemble.budget.ledger import Ledger
from builder.assemble.chat_turns import (
    SectionItem,
    conversation_messages,
    is_turn,
    note_of,
    pictures,
    roles_with_labels,
    written_parts,
)
from builder.assemble.items.labels import CHAT_ROLES
from builder.assemble.items.rendering import SAME, SOURCES, Group, PageSection
from builder.assemble.items.writer import Item, Writer
from builder.domain.context import OPENING, RECENT, SLOW, STATIC, Message, MessagePart
from builder.domain.profile import SectionRule

PROBE = "x"
"""What is in a section while its heading is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Notes:
    """The sections before the current message."""

    text: str
    """As on the page."""
    ids: tuple[str, ...]


def messages(ledger: Ledger) -> tuple[Message, ...]:
    """What the ledger holds, as messages; () when the profile wants none.

    They end with the current message, or with the calls to answer from.
    """
    writer = ledger.writer
    if writer.profile.chat_format == "none":
        return ()
    trigger = next(rule for rule in ledger.rules.values() if rule.source == "trigger")
    calls = [placed for placed in _of(ledger, "turn") if is_turn(placed[1])]
    dialogue, later = _dialogue(ledger, trigger, min((item.origin for _, item in calls), default=writer.view.size))
    current = next((item for item in ledger.items.get(trigger.name, ()) if not item.entry), None)
    is_text = current is not None and current.first.role not in CHAT_ROLES
    chat = (item for _, item in (*dialogue, *calls, *later) if is_turn(item))
    labelled_roles = roles_with_labels(chat, current.first if current else None, writer)
    conversation, day, rest = conversation_messages(dialogue, (*calls, *later), ledger, labelled_roles)
    items = {name: _without_turns(ledger.rules[name], items, is_text=is_text) for name, items in ledger.items.items()}
    opening = _note_of(ledger, "window") if dialogue else ""
    page_sections = (_without_note(each, ledger, is_opened=bool(dialogue)) for each in ledger.page_sections(items))
    sections = [section for section in page_sections if section]
    rules = ledger.rules
    lasting = [each for each in sections if SOURCES[rules[each.name].source].is_in_system(rules[each.name], writer.profile)]
    system = tuple(_system(lasting, items, ledger))
    is_cached = not system or bool(system[-1].breakpoint)
    notes = _notes([section for section in sections if section not in lasting], items, writer)
    notes = replace(notes, text="\n\n".join(filter(None, (rest.text, notes.text))), ids=(*rest.ids, *notes.ids))
    conversation = _opened(conversation, opening)
    answers = any(part.breadcrumb.id == writer.now.id for _, item in calls for part in item.fragments)
    if answers or (current is None and (not notes.text or (conversation[-1:] and conversation[-1].role == "user"))):
        callers = frozenset(item.first.id for _, item in (*calls, *later))
        ending = "\n".join(filter(None, (_note_of(ledger, "turn"), _note_of(ledger, "trigger"))))
        return (*system, *_ending_with_calls(conversation, callers, notes, ending, is_cached=is_cached))
    last = Message(role="user", parts=(MessagePart(notes.text, is_note=True),), ids=notes.ids)
    if current and not is_text:
        last = _current(current, trigger, notes, day, labelled_roles, ledger)
    return (*system, *_with_breakpoint(conversation, is_cached=is_cached), last)


def _of(ledger: Ledger, source: str) -> list[SectionItem]:
    rule = ledger.rule(source)
    return [(rule.name, item) for item in ledger.items.get(rule.name, ())] if rule else []


def _dialogue(ledger: Ledger, trigger: SectionRule, calls: int) -> tuple[list[SectionItem], list[SectionItem]]:
    questions = [(trigger.name, item) for item in ledger.items.get(trigger.name, ()) if item.entry]
    dialogue = [*_of(ledger, "window")]
    dialogue += [placed for placed in questions if placed[1].origin < calls]
    return sorted(dialogue, key=lambda placed: placed[1].origin), [each for each in questions if each[1].origin > calls]


def _note_of(ledger: Ledger, source: str) -> str:
    rule = ledger.rule(source)
    return ledger.notes.get(rule.name, "") if rule else ""


def _without_note(section: PageSection, ledger: Ledger, *, is_opened: bool) -> PageSection | None:
    """Without a note that a message has; None when nothing else is in it."""
    source = ledger.rules[section.name].source
    if source not in {*SAME["window"], "turn", "trigger"} or (source in SAME["window"] and not is_opened):
        return section
    return replace(section, note="") if section.groups else None


def _opened(conversation: list[Message], note: str) -> list[Message]:
    if not note:
        return conversation
    part = MessagePart(f"{note}\n", is_note=True)
    if conversation and conversation[0].role == "user":
        return [replace(conversation[0], parts=(part, *conversation[0].parts)), *conversation[1:]]
    return [Message(role="user", parts=(part,), ids=()), *conversation]


def chat_tokens(chat: Iterable[Message], writer: Writer) -> int:
    """Tokens of all texts, arguments and results; names and ids are the API's."""
    count, total, is_first = writer.rendering.page_tokens, 0, True
    for message in chat:
        joint = "\n\n" if message.role == "system" else ""
        total += sum(count(part.text + joint) for part in message.parts)
        total += sum(count(each.call.arguments) + count("\n".join(each.results)) for each in message.exchanges)
        total += count(OPENING) if is_first and message.role == "assistant" else 0
        is_first = is_first and message.role == "system"
    return total


def _without_turns(rule: SectionRule, items: Sequence[Item], *, is_text: bool) -> Sequence[Item]:
    if rule.source == "trigger":
        return [item for item in items if is_text and not item.entry]
    if rule.source in SAME["window"]:
        return []
    return [item for item in items if not is_turn(item)] if rule.source == "turn" else items


def _system(front: Sequence[PageSection], items: dict[str, Sequence[Item]], ledger: Ledger) -> Iterable[Message]:
    classes = [ledger.rules[section.name].section_class for section in front]
    static = len(list(takewhile(lambda name: name == STATIC, classes)))
    slow = len(list(takewhile(lambda name: name != "turn", classes)))
    marks = {slow: SLOW} | {static: STATIC}
    for number, section in enumerate(front, 1):
        notes = _notes((section,), items, ledger.writer)
        yield Message(
            role="system", parts=(MessagePart(notes.text, is_note=True),), ids=notes.ids, breakpoint=marks.get(number, "")
        )


def _notes(sections: Sequence[PageSection], items: dict[str, Sequence[Item]], writer: Writer) -> _Notes:
    chat = (item for section in sections for item in items.get(section.name, ()))
    text = writer.rendering.page(writer.profile.page, tuple(sections)).text.strip("\n") if sections else ""
    return _Notes(text=text, ids=tuple(dict.fromkeys(part.breadcrumb.id for item in chat for part in item.fragments)))


def _current(
    current: Item, rule: SectionRule, notes: _Notes, day: str, labelled_roles: frozenset[str], ledger: Ledger
) -> Message:
    """The current message after everything that is no message. day: of the last note."""
    writer, crumb = ledger.writer, current.first
    date = ledger.date(rule.name, current)
    label = writer.labels.of(crumb)
    is_named = "user" in labelled_roles or crumb.role != "user" or label != writer.labels.name(crumb)
    note = note_of(date if date != day else "", label if is_named else "")
    heading = _heading(rule, writer) if notes.text else ""
    above = "\n".join(filter(None, (notes.text and f"{notes.text}\n", heading, _note_of(ledger, "trigger"), note)))
    return Message(
        role="user",
        parts=(
            *((MessagePart(f"{above}\n", is_note=True),) if above else ()),
            *written_parts(current.fragments[-1], "user", writer),
        ),
        ids=(*notes.ids, crumb.id),
        images=pictures(current.fragments[-1], writer),
    )


def _heading(rule: SectionRule, writer: Writer) -> str:
    section = PageSection(name=rule.name, title=rule.title, groups=(Group(date="", fragments=(PROBE,)),))
    layout = writer.rendering.page(writer.profile.page, (section,))
    if not layout.ends or layout.text[layout.ends[0] :].strip():
        return ""
    return layout.text[: layout.ends[0]].rstrip("\n").removesuffix(PROBE).strip("\n")


def _ending_with_calls(
    conversation: Sequence[Message], callers: frozenset[str], notes: _Notes, ending: str, *, is_cached: bool
) -> tuple[Message, ...]:
    """callers: ids of the messages that make the calls or came after. ending: the note that ends the message before."""
    if not notes.text and not ending:
        return _with_breakpoint(conversation, is_cached=is_cached)
    number = sum(1 for _ in takewhile(lambda message: callers & {*message.ids}, reversed(conversation)))
    before, calls = list(conversation[: len(conversation) - number]), conversation[len(conversation) - number :]
    question = before.pop() if before and before[-1].role == "user" else Message(role="user", parts=(), ids=())
    gap = "\n" if notes.text or question.parts else ""
    first, last = (
        (MessagePart(f"{text}\n", is_note=True),) if text else () for text in (notes.text, ending and f"{gap}{ending}")
    )
    front = replace(question, parts=(*first, *question.parts, *last), ids=(*notes.ids, *question.ids))
    return (*_with_breakpoint(before, is_cached=is_cached), front, *calls)


def _with_breakpoint(conversation: Sequence[Message], *, is_cached: bool) -> tuple[Message, ...]:
    if not conversation or not is_cached:
        return tuple(conversation)
    return (*conversation[:-1], replace(conversation[-1], breakpoint=RECENT))
