"""A message of any vendor in one form: who speaks, and what the message holds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builder.domain.errors import Rejected
from builder.domain.json_text import shape
from builder.domain.json_values import JsonObject
from builder.wire.attachments import Fields
from builder.wire.items import FILES, Item, files_beside, is_item, items_of, parts_of, results_of
from builder.wire.parts import File, Mark, Part, Result
from builder.wire.tool_parts import first_of
from builder.wire.vendor_parts import read_part

CHUNKS = frozenset({"aimessagechunk"})
"""Types of pieces of a stream."""
ROLES: Mapping[str, str] = {
    **dict.fromkeys(("user", "human", "person", "customer", "client", "end_user"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "model", "bot", "chatbot", "agent", "gpt", "llm", "tool-call", *sorted(CHUNKS)), "assistant"
    ),
    **dict.fromkeys(("tool", "function", "toolresult", "tool-response", "observation", "ipython"), "tool"),
    **dict.fromkeys(("developer", "system"), "system"),
}
"""Role of a vendor, in small letters → what it is."""
_NAMES, _PEOPLE = ("name", "speaker"), ("author", "sender", "username")
"""Fields with the name of who speaks, and with that of a person."""
_NOBODY = frozenset({*ROLES, "me", "you", "self"})
_SPEAKERS = frozenset((*_NAMES, *_PEOPLE))


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message."""

    role: str
    """`user`, `assistant`, `tool` or `system`."""
    name: str
    """Name of the speaker; "" = it has none."""
    items: tuple[Item, ...]
    files: JsonObject
    """Fields with images and files beside it."""

    @property
    def parts(self) -> Iterator[Part]:
        """All that it holds."""
        yield from parts_of(self.items)
        yield from map(File, files_beside(self.files))

    @property
    def spoken(self) -> tuple[Item, ...]:
        """Its items without marks, where it has any."""
        return self.items if self.is_mark else tuple(item for item in self.items if not _is_mark(item))

    @property
    def is_mark(self) -> bool:
        """Whether it says nothing: a list of tools, a reference to an item."""
        return bool(self.items) and all(map(_is_mark, self.items))

    @property
    def text(self) -> str | None:
        """Its text as it was written, if it is nothing else; None = it is more."""
        text = self.items[0].value if self.items else ""
        return text if isinstance(text, str) and len(self.items) <= 1 else None


def message_of(value: Any) -> Message:
    """The form of a message. Raises `Rejected`."""
    if not isinstance(value, Mapping):
        raise Rejected(f'a message is {shape(value)}; write {{"role": "user", "content": "…"}}')
    fields = without_envelope(value)
    role = role_of(fields)
    try:
        items = results_of(fields) if role == "tool" else items_of(fields)
    except ValueError as error:
        raise Rejected(str(error)) from error
    return Message(role, speaker_of(fields), items, {name: fields[name] for name in FILES if fields.get(name)})


def is_message(value: Any) -> bool:
    """Whether it has a role, or is an item of a vendor that has none: a call, a result, a thought."""
    if not isinstance(value, dict) or "schema_name" in value:
        return False
    if "role" in value:
        return True
    kind = value.get("type")
    is_typed = isinstance(kind, str) and kind.lower() in ROLES and (isinstance(value.get("data"), dict) or "content" in value)
    return is_typed or is_item(value)


def role_of(message: Fields) -> str:
    """`user`, `assistant`, `tool` or `system`. Raises `Rejected` for an unknown one."""
    own = message.get("role", message.get("type"))
    role = ROLES.get(own.strip().lower()) if isinstance(own, str) else None
    if role is None and is_item(message):
        read = read_part(dict(message))
        role = "tool" if read and all(isinstance(part, Result) for part in read) else "assistant"
    if role is None:
        what = repr(own[:40]) if isinstance(own, str) else shape(own)
        raise Rejected(f"role {what} is unknown; use one of {', '.join(name for name in ROLES if name not in CHUNKS)}")
    return role


def speaker_of(message: Fields) -> str:
    """The name of who speaks; that of an item is its tool's."""
    if _SPEAKERS.isdisjoint(message) or is_item(message):
        return ""
    is_person = ROLES.get(str(message.get("role")).lower()) == "user"
    names = (message.get(field) for field in (*_NAMES, *(_PEOPLE if is_person else ())))
    plain = (first_of(name, ("name", "display_name", "displayName")) if isinstance(name, dict) else name for name in names)
    return next((name for name in plain if isinstance(name, str) and name and name.lower() not in _NOBODY), "")


def without_envelope(message: Fields) -> Fields:
    """A message of LangChain out of its `{"type", "data"}`."""
    data = message.get("data")
    return {"type": message.get("type"), **data} if isinstance(data, dict) and "role" not in message else message


def _is_mark(item: Item) -> bool:
    return all(isinstance(part, Mark) for part in item.parts)
