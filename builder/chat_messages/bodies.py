"""One chat message of any vendor as schemas and bodies of breadcrumbs: words, calls, results."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from builder.chat_messages.messages import Message, message_of, without_envelope
from builder.domain.breadcrumb import AGENT_RESPONSE, TOOL_RESPONSE, USER_MESSAGE
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.wire.items import PLAIN, SPOKEN, Item, parts_of
from builder.wire.parts import Call, Result, Text

Body = tuple[str, JsonObject]
"""Schema and body."""
SYSTEM_FRAME: Mapping[str, Any] = {"speaker": "System", "creator": {"type": "system"}}
"""Frame of a system message within a conversation: it is nobody's question, and no words of the agent."""


@dataclass(slots=True)
class OpenCall:
    """A call of the conversation."""

    request: str
    """Its id, which no other call of its message has."""
    call: Call
    message: int
    """Number of the message that makes it."""
    has_result: bool = False


@dataclass(slots=True)
class Conversation:
    """The messages of one session that were read so far."""

    session: str
    prefix: str = "call"
    """Beginning of the ids of calls that have none."""
    times: Counter[str] = field(default_factory=Counter)
    question: str = ""
    """Id of the last message of a person."""
    has_words: bool = False
    """Somebody has said something: a system message is one of the conversation from here on."""
    messages: int = 0
    calls: int = 0
    waiting: dict[tuple[str, str], list[OpenCall]] = field(default_factory=dict)
    """By id, by tool, and all: the calls of the last message that made such ones, in its order."""

    def open(self, call: Call) -> list[JsonObject]:
        """The call as `tool_requests` have it; [] for one that its message has already, under the same id.

        Another call under an id of its message, and one without an id, get an id of their own.
        """
        others = [each for each in self.waiting.get(("id", call.id), ()) if each.message == self.messages]
        if call.id and any(each.call == call for each in others):
            return []
        self.calls += 1
        request = f"{call.id or self.prefix}-{self.calls}" if others or not call.id else call.id
        opened = OpenCall(request, call, self.messages)
        for key in {("id", call.id), ("id", call.item_id), ("tool", call.tool), ("all", "")} - {("id", "")}:
            same = self.waiting.get(key, [])
            self.waiting[key] = [*same, opened] if same and same[0].message == self.messages else [opened]
        return [{"tool": call.tool, "input": call.arguments, "requestId": request}]

    def answered(self, result: Result) -> tuple[str, str]:
        """Tool and request id of the call that a result answers: by its id, else by its tool, each in the order of the calls."""
        key = ("id", result.id) if result.id else ("tool", result.tool) if result.tool else ("all", "")
        fitting = self.waiting.get(key, [])
        call = next((each for each in fitting if not each.has_result), fitting[-1] if fitting and result.id else None)
        if call is None:
            return result.tool or "tool", result.id
        call.has_result = True
        return call.call.tool, call.request


def message_bodies(value: Any, conversation: Conversation) -> list[Body]:
    """The bodies of one message, in its order: [] for a system prompt. Raises `Rejected`.

    A model's message is a response with its calls, the results that its vendor's own tools returned, and the response after them.
    Results inside a person's message are results; the rest of it is the person's.
    """
    message = message_of(value)
    conversation.messages += 1
    if message.role == "system":
        return _system(message, conversation)
    fields = without_envelope(value).keys()
    if not (message.items or message.files or (message.role != "user" and (fields <= PLAIN or fields & SPOKEN))):
        raise Rejected(f"a message of the role {message.role!r} has no content; leave it out, or give it one")
    conversation.has_words = True
    if message.role == "tool":
        return [_result(part, conversation) for part in message.parts if isinstance(part, Result)]
    return _spoken(message, conversation)


def _system(message: Message, conversation: Conversation) -> list[Body]:
    if not conversation.has_words or message.text == "":
        return []
    return [body for each in _rounds(message, conversation) for body in each.bodies(message.role, SYSTEM_FRAME)]


def _result(result: Result, conversation: Conversation) -> Body:
    tool, request = conversation.answered(result)
    body = {"tool": tool, "request_id": request, "status": "error" if result.failed else "success"}
    return TOOL_RESPONSE, body | ({"error": result.output} if result.failed else {"output": result.output})


@dataclass(slots=True)
class _Round:
    """Words and calls, and the results that came before the next words."""

    text: str | None
    """Text of the whole message, where it is nothing else."""
    words: list[Item] = field(default_factory=list)
    calls: list[JsonObject] = field(default_factory=list)
    results: list[Body] = field(default_factory=list)

    @property
    def is_answer(self) -> bool:
        """Whether it has words and calls nothing; a thought is no answer."""
        return not self.calls and any(isinstance(part, Text) and part.text.strip() for part in parts_of(self.words))

    def bodies(self, role: str, frame: Mapping[str, Any]) -> list[Body]:
        """Those of its words and of its results."""
        if not self.words and not self.calls and self.results:
            return self.results
        content = [item.value for item in self.words] if self.text is None else self.text
        if role == "user":
            return [*self.results, (USER_MESSAGE, {"content": content, **frame})]
        requests = {"tool_requests": self.calls} if self.calls else {}
        return [(AGENT_RESPONSE, {"message": content, **frame, **requests}), *self.results]


def _spoken(message: Message, conversation: Conversation) -> list[Body]:
    """Rounds of words and calls, each with the results that came before the next words."""
    rounds = _rounds(message, conversation)
    frame: JsonObject = {"speaker": message.name} if message.name else {}
    if message.role == "assistant" and conversation.question and not message.is_mark:
        frame["trigger_event_id"] = conversation.question
        if rounds[-1].is_answer:
            conversation.question = ""  # what follows goes on with the answer, and is no other one
    first, *others = rounds
    return [
        *first.bodies(message.role, frame | message.files),
        *(body for each in others for body in each.bodies(message.role, frame)),
    ]


def _rounds(message: Message, conversation: Conversation) -> list[_Round]:
    rounds = [_Round(message.text)]
    for item in message.spoken:
        calls = [part for part in item.parts if message.role == "assistant" and isinstance(part, Call)]
        results = [part for part in item.parts if isinstance(part, Result)] if calls or len(item.parts) == 1 else []
        if rounds[-1].results and not results:
            rounds.append(_Round(None))
        for call in calls:
            rounds[-1].calls += conversation.open(call)
        rounds[-1].results += (_result(each, conversation) for each in results)
        if not calls and not results:
            rounds[-1].words.append(item)
    return rounds
