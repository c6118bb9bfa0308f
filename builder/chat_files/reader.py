"""Files of records and of chat messages as events: `{"role", "content"}` a line, `{"messages": [...]}`, records, one JSON value.

Equal conversations give equal ids.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from builder.chat_files.fields import session_of, time_field
from builder.chat_files.history import Entry, chat_role, key_of, last_branch, without_repeats
from builder.chat_files.ids import derived_id, question_field, reply_fields, scoped_id
from builder.chat_files.json_lines import LineValue, json_values
from builder.chat_files.order import align_times, in_time_order
from builder.chat_files.refusals import known_export, known_text, refusal
from builder.chat_messages.bodies import Conversation, message_bodies
from builder.chat_messages.payloads import Payload, payload_of
from builder.domain.breadcrumb import AGENT_RESPONSE, USER_MESSAGE
from builder.domain.errors import Rejected
from builder.domain.json_text import canonical, shape
from builder.domain.json_values import JsonObject
from builder.wire.items import unread_lines
from builder.wire.records import Outgoing, outgoing, session_in
from builder.wire.subjects import session_token
from builder.wire.times import clock_offset, moment, read_time

MOST_LINES = 20
"""That are named one by one."""
NEITHER = (
    'it is neither a record nor a chat message; write {"role": "user", "content": "…"}, or give a record an id, a schema_name '
    "and a session"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEvent:
    """An event of a file."""

    line: int
    event: Outgoing
    time: datetime | None
    """None = the file has none for it."""
    former: str = ""
    """The id that earlier releases gave a chat message."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A value that could not be read, and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


def refusal_lines(refusals: list[Refusal], most: int = MOST_LINES) -> list[str]:
    """By line, and how many more there are."""
    lines = [str(each) for each in sorted(refusals, key=lambda each: each.line)]
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"and {more:,} more lines could not be read"]


@dataclass(slots=True, kw_only=True)
class FileContent:
    """The content of a file."""

    events: list[FileEvent] = field(default_factory=list)
    """In the order of their times where those of a session ran back, else of the file."""
    refusals: list[Refusal] = field(default_factory=list)
    system_messages: int = 0
    """Left out, because a profile gives the system prompt."""
    repeats: int = 0
    """Messages that came twice and stand once."""
    branches: int = 0
    """Messages of branches that were left."""
    unread: dict[str, int] = field(default_factory=dict)
    """Line that names a part which no reader could read → how often it came."""
    times_without_zone: int = 0
    """Read as UTC."""
    reordered: set[str] = field(default_factory=set)
    """Sessions whose times ran back."""

    def notes(self) -> list[str]:
        """Remarks for people, a sentence each."""
        sentences = (
            (self.system_messages, "system messages left out: {}, because a profile gives the system prompt"),
            (self.repeats, "messages that came twice and are read once: {}"),
            (self.branches, "messages of branches that were left, and are left out: {}"),
            (sum(self.unread.values()), "parts that no reader knows, named on pages by a line each: {}"),
            (self.times_without_zone, "times without a zone, read as UTC: {}"),
            (len(self.reordered), "sessions whose times run back, read in the order of their times: {}"),
        )
        return [*(sentence.format(f"{count:,}") for count, sentence in sentences if count), *list(self.unread)[:MOST_LINES]]


def read_file(lines: Iterable[str], workspace: str, session: str) -> FileContent:
    """All events of a file; what cannot be read is named by its line.

    session: of lines that name none; further `messages` are `SESSION-2`, `SESSION-3`, …, unless they begin with all of an earlier
    list: each request of a log has the whole history.
    """
    content = FileContent()
    reader = _Reader(content, session)
    for value in json_values(lines):
        reader.read(value)
    reader.name_exports()
    conversations = {name: deque(_chosen(reader.entries.pop(name), name, content)) for name in tuple(reader.entries)}
    writers = {name: _Writer(name, workspace, content) for name in conversations}
    for name in reader.sessions:
        if conversations[name]:
            writers[name].write(conversations[name].popleft())
    content.refusals.sort(key=lambda each: each.line)
    return content


def _chosen(entries: list[Entry], name: str, content: FileContent) -> list[Entry]:
    branch = last_branch(entries)
    once = without_repeats(branch)
    ordered = in_time_order(once)
    align_times(ordered)
    content.branches += len(entries) - len(branch)
    content.repeats += len(branch) - len(once)
    if ordered is not once:
        content.reordered.add(name)
    return ordered


class _Reader:
    """The values of a file by session."""

    def __init__(self, content: FileContent, session: str) -> None:
        self.entries: dict[str, list[Entry]] = {}
        self.sessions: list[str] = []
        """The session of each entry."""
        self._content = content
        self._session = session
        self._lists = self._unnamed = 0
        self._numbers: dict[int, int] = {}
        """Hash of a list without a name → number of its conversation."""
        self._formers: Counter[int] = Counter()
        self._exports: dict[str, list[int]] = {}

    def read(self, value: LineValue) -> None:
        """A value of the file."""
        if value.problem and (export := known_text(value.text)):
            self._exports.setdefault(export, []).append(value.line)
            return
        if value.problem:
            self._content.refusals.append(Refusal(value.line, value.problem))
            return
        payload = payload_of(value.value)
        messages = payload.messages if payload else []
        is_own = any(each is value.value or (isinstance(each, dict) and "role" in each) for each in messages)
        export = "" if is_own else known_export(value.value)
        try:
            if export:
                self._exports.setdefault(export, []).append(value.line)
            elif payload is None:
                self._record(value)
            else:
                self._chat(value, payload)
        except Rejected as error:
            self._content.refusals.append(Refusal(value.line, str(error)))

    def name_exports(self) -> None:
        """One sentence for each program whose files are not read."""
        for name, lines in self._exports.items():
            more = f" ({len(lines):,} values of the file are of it)" if len(lines) > 1 else ""
            self._content.refusals.append(Refusal(lines[0], refusal(name) + more))

    def _record(self, value: LineValue) -> None:
        record = value.value
        if not isinstance(record, dict):
            raise Rejected(f"it is {shape(record)}; write a record or a chat message as a JSON object")
        if "schema_name" not in record and "context" not in record:
            raise Rejected(NEITHER)
        time = None
        name = _session_name(session_in(record) or self._session)
        with suppress(Rejected):  # whoever decodes it says what is wrong, and where
            time = self._time(record.get("created_at"), "created_at")
        identity = record["id"] if isinstance(record.get("id"), str) else ""
        self._add(name, Entry(value.line, record, time, identity, is_chat=False))

    def _chat(self, value: LineValue, payload: Payload) -> None:
        is_list = bool(payload.request) or not payload.answer
        own = session_of(value.value)
        number = self._number(payload.messages) if is_list and not own else 1
        self._lists += is_list
        name = _session_name(own or (f"{self._session}-{number}" if number > 1 else self._session))
        for number, message in enumerate(payload.messages, 1):
            try:
                self._message(name, value.line, message, self._lists if is_list else 0)
            except Rejected as error:
                where = f"message {number}: " if is_list or len(payload.messages) > 1 else ""
                self._content.refusals.append(Refusal(value.line, f"{where}{error}"))

    def _number(self, messages: list[Any]) -> int:
        """Of the conversation of a list without a name: it goes on with the longest one that it begins with."""
        talk = first = number = 0
        for message in messages:
            role = chat_role(message) if isinstance(message, dict) else ""
            if role not in {"", "system"}:
                talk = hash((talk, key_of(message, role, with_ids=False)))
                first = first or talk
                number = self._numbers.pop(talk, number)
        if talk == first or not number:  # a question alone is a new one
            self._unnamed += 1
            number = self._unnamed
        self._numbers[talk] = number
        return number

    def _message(self, name: str, line: int, message: Any, group: int) -> None:
        if not isinstance(message, dict):
            raise Rejected(f'a message is {shape(message)}; write {{"role": "user", "content": "…"}}')
        field_name = time_field(message)
        time = self._time(message.get(field_name), field_name)
        own = message.get("id")
        identity = str(own) if isinstance(own, str | int) and not isinstance(own, bool) else ""
        former = identity if isinstance(own, str) and own else self._former(name, message)
        role = chat_role(message)
        key = key_of(message, role) if role else b""
        self._add(name, Entry(line, message, time, identity, True, role, group, key, former))

    def _former(self, name: str, message: JsonObject) -> str:
        text = canonical(message)
        key = hash((name, text))
        self._formers[key] += 1
        return derived_id(f"{name}\0{self._formers[key]}\0{text}")

    def _time(self, value: Any, name: str) -> datetime | None:
        sent = read_time(value, name)
        self._content.times_without_zone += sent is not None and not sent.has_zone
        return sent.time if sent else None

    def _add(self, name: str, entry: Entry) -> None:
        self.entries.setdefault(name, []).append(entry)
        self.sessions.append(name)


class _Writer:
    """The events of one session."""

    def __init__(self, name: str, workspace: str, content: FileContent) -> None:
        self._name = name
        self._workspace = workspace
        self._content = content
        self._conversation = Conversation(name)
        self._equal: Counter[bytes] = Counter()
        self._versions: dict[str, tuple[str, int]] = {}
        """Own id → schema of its first message, and number of its versions."""

    def write(self, entry: Entry) -> None:
        """Add its events, or name what is wrong with it."""
        try:
            for record, former in self._records(entry) if entry.is_chat else ((entry.value, ""),):
                event = outgoing(record, self._workspace, self._name)
                for each in unread_lines(record["context"]) if isinstance(record.get("context"), dict) else ():
                    self._content.unread[each] = self._content.unread.get(each, 0) + 1
                self._content.events.append(FileEvent(line=entry.line, event=event, time=entry.time, former=former))
        except Rejected as error:
            self._content.refusals.append(Refusal(entry.line, str(error)))

    def _records(self, entry: Entry) -> Iterator[tuple[JsonObject, str]]:
        bodies = message_bodies(entry.value, self._conversation)
        self._content.system_messages += not bodies
        time = {"created_at": moment(entry.time, clock_offset(entry.time))} if entry.time else {}
        identity, version = self._identity(entry, bodies[0][0]) if bodies else ("", 1)
        for number, (schema, body) in enumerate(bodies):
            own = derived_id(f"{self._name}\0{identity}\0{number}") if number else identity
            if schema == USER_MESSAGE:
                self._conversation.question = own
            reply = reply_fields(self._name, entry.value) if schema == USER_MESSAGE else {}
            if schema in {AGENT_RESPONSE, USER_MESSAGE}:
                reply |= question_field(self._name, entry.value)
            head = {"id": own, "schema_name": schema, **({"version": version} if version > 1 else {})}
            yield {**head, "session": self._name, "context": body | reply, **time}, "" if number else entry.former

    def _identity(self, entry: Entry, schema: str) -> tuple[str, int]:
        """Id and version. An id is one of its conversation; the same once more is the next version, or of another kind."""
        if not entry.identity:
            self._equal[entry.key] += 1
            return derived_id(f"{self._name}\0{self._equal[entry.key]}\0{entry.key.hex()}"), 1
        first, versions = self._versions.get(entry.identity, (schema, 0))
        if first != schema:
            return derived_id(f"{self._name}\0{entry.identity}\0{schema}\0{entry.key.hex()}"), 1
        self._versions[entry.identity] = (first, versions + 1)
        return scoped_id(self._name, entry.identity), versions + 1


def _session_name(value: Any) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise Rejected(f"the session is {shape(value)}; write a text")
    session_token(str(value))
    return str(value)
