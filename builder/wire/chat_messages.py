"""One chat message of any vendor as schemas and bodies of breadcrumbs: words, calls, results."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from builder.domain.breadcrumb import AGENT_RESPONSE, TOOL_RESPONSE, USER_MESSAGE
from builder.domain.errors import Rejected
from builder.domain.text import shape
from builder.wire.messages import FILES, contents_of, is_spoken, role_of, without_envelope
from builder.wire.parts import Call, Mark, Part, Result, Text
from builder.wire.vendor_parts import read_part, read_parts

Body = tuple[str, dict[str, Any]]
"""Schema and body."""
SYSTEM_FRAME: Mapping[str, Any] = {"speaker": "System", "creator": {"type": "system"}}
"""Of a system message within a conversation: it is nobody's question, and no words of the agent."""


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
    """What is read of one session so far."""

    session: str
    prefix: str = "call"
    """Of the ids of calls that have none."""
    times: Counter[str] = field(default_factory=Counter)
    question: str = ""
    """Id of the last message of a person."""
    has_words: bool = False
    """Somebody has said something: a system message is one of the conversation from here on."""
    messages: int = 0
    calls: int = 0
    waiting: dict[tuple[str, str], list[OpenCall]] = field(default_factory=dict)
    """By id, by tool, and all: the calls of the last message that made such ones, in its order."""

    def open(self, call: Call) -> list[dict[str, Any]]:
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


def message_bodies(message: Any, conversation: Conversation) -> list[Body]:
    """What one message says, in its order: [] for a system prompt. Raises `Rejected`.

    A model's message is a response with its calls, the results that its vendor's own tools returned, and the response after them.
    Results inside a person's message are results; the rest of it is the person's.
    """
    if not isinstance(message, Mapping):
        raise Rejected(f'a message is {shape(message)}; write {{"role": "user", "content": "…"}}')
    message = without_envelope(message)
    conversation.messages += 1
    role = role_of(message)
    try:
        if role == "system":
            return _system(message, conversation)
        conversation.has_words = True
        return _tool(message, conversation) if role == "tool" else _spoken(role, message, conversation)
    except ValueError as error:
        raise Rejected(str(error)) from error


def _system(message: Mapping[str, Any], conversation: Conversation) -> list[Body]:
    content = contents_of(message)
    if not conversation.has_words or not content:
        return []
    return [(AGENT_RESPONSE, {"message": content, **SYSTEM_FRAME})]


def _tool(message: Mapping[str, Any], conversation: Conversation) -> list[Body]:
    content = message.get("content", message.get("output", contents_of(message) if "role" in message else None))
    parts = read_part(dict(message)) if "role" not in message else ()
    results = [part for part in parts if isinstance(part, Result)] or _results_in(content)
    if not results:
        request = str(message.get("tool_call_id") or message.get("toolCallId") or "")
        tool = str(message.get("name") or message.get("tool_name") or "")
        results = [Result(content, request, tool, message.get("status") == "error" or message.get("is_error") is True)]
    return [_result(result, conversation) for result in results]


def _results_in(content: Any) -> list[Result]:
    """Those of a tool message that holds nothing else."""
    parts: list[Part] = []
    for item in content if isinstance(content, list) else ():
        parts += read_part(item) if isinstance(item, dict) else ()
    results = [part for part in parts if isinstance(part, Result)]
    return results if len(results) == len(parts) else []


def _result(result: Result, conversation: Conversation) -> Body:
    tool, request = conversation.answered(result)
    body = {"tool": tool, "request_id": request, "status": "error" if result.failed else "success"}
    return TOOL_RESPONSE, body | ({"error": result.output} if result.failed else {"output": result.output})


def _spoken(role: str, message: Mapping[str, Any], conversation: Conversation) -> list[Body]:
    """Rounds of words and calls, each with the results that came before the next words."""
    content, files = contents_of(message), {key: message[key] for key in FILES if message.get(key)}
    frame = _frame(role, message, conversation)
    if role == "user" and content is None and not files:
        raise Rejected("a message of the role 'user' has no content; leave it out, or give it one")
    if not isinstance(content, list):
        bodies = [_words(role, content or "", [], frame | files)]
    else:
        first, *others = _rounds(role, content, conversation)
        bodies = [*_bodies(role, first, frame | files), *(body for each in others for body in _bodies(role, each, frame))]
    if role == "assistant" and _answers(bodies[-1][1]):
        conversation.question = ""  # what follows goes on with the answer, and is no other one
    return bodies


def _frame(role: str, message: Mapping[str, Any], conversation: Conversation) -> dict[str, Any]:
    """Who speaks, and to which question."""
    name = message.get("name") if is_spoken(message) else None
    frame: dict[str, Any] = {"speaker": name} if isinstance(name, str) and name else {}
    if role == "assistant" and conversation.question:
        frame["trigger_event_id"] = conversation.question
    return frame


def _answers(body: Mapping[str, Any]) -> bool:
    """Whether it has words and calls nothing; a thought is no answer."""
    parts = read_parts(body.get("message")) if "tool_requests" not in body else ()
    return any(isinstance(part, Text) and part.text.strip() for part in parts)


@dataclass(slots=True)
class _Round:
    """Words and calls, and the results that came before the next words."""

    words: list[Any] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[Body] = field(default_factory=list)


def _rounds(role: str, content: list[Any], conversation: Conversation) -> list[_Round]:
    rounds = [_Round()]
    for item, parts in _read(content):
        calls = [part for part in parts if role == "assistant" and isinstance(part, Call)]
        is_result = calls or (len(parts) == 1 and isinstance(parts[0], Result))
        results = [part for part in parts if isinstance(part, Result)] if is_result else []
        if rounds[-1].results and not results:
            rounds.append(_Round())
        for call in calls:
            rounds[-1].calls += conversation.open(call)
        rounds[-1].results += (_result(each, conversation) for each in results)
        if not calls and not results:
            rounds[-1].words.append(item)
    return rounds


def _read(content: list[Any]) -> list[tuple[Any, tuple[Part, ...]]]:
    """Items with their parts, without marks where anything else is said."""
    items = [(item, read_part(item)) for item in content]
    spoken = [(item, parts) for item, parts in items if not all(isinstance(part, Mark) for part in parts)]
    return spoken or items


def _bodies(role: str, each: _Round, frame: Mapping[str, Any]) -> list[Body]:
    is_empty = not each.words and not each.calls and bool(each.results)
    words = [] if is_empty else [_words(role, each.words, each.calls, frame)]
    return [*each.results, *words] if role == "user" else [*words, *each.results]


def _words(role: str, content: Any, calls: list[dict[str, Any]], frame: Mapping[str, Any]) -> Body:
    if role == "user":
        return USER_MESSAGE, {"content": content, **frame}
    return AGENT_RESPONSE, {"message": content, **frame, **({"tool_requests": calls} if calls else {})}
