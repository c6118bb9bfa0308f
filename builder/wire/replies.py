"""What a model returned, as its vendor's message or whole answer: words, calls to run, and what the vendor's own tools did."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builder.domain.errors import Rejected
from builder.domain.text import shape
from builder.wire.chat_messages import Conversation
from builder.wire.messages import answer_of, contents_of, files_beside, messages_of, without_envelope
from builder.wire.parts import Call, File, Mark, Part, Result, Thought
from builder.wire.vendor_parts import read_parts
from builder.wire.words import words_of

SHAPES = "give a message of OpenAI or Anthropic or Gemini or LangChain or Vercel (dict or object), a whole answer, or a text"
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "context-builder/reply")
_WORDS = ("content", "parts", "text", "output_text", "refusal", "tool_calls", "toolCalls", "function_call", "audio")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply."""

    text: str
    tool_requests: tuple[dict[str, Any], ...]
    """{tool, input, requestId} each, as `agent.response.v1` has them."""
    reasoning: str = ""
    """What it thought."""
    server_tools: tuple[dict[str, Any], ...] = ()
    """{tool, input, output} of each call that the vendor ran itself."""


def reply_of(reply: Any, scope: str = "") -> Reply:
    """Read a reply; a call listed twice counts once. scope: makes ids for calls without one unique. Raises `Rejected`."""
    if isinstance(reply, str):
        return Reply(reply, ())
    parts = _parts(reply)
    signatures = json.dumps([(part.tool, part.arguments) for part in parts if isinstance(part, Call)], default=str)
    conversation = Conversation("", prefix=f"call_{uuid.uuid5(NAMESPACE, f'{scope} {signatures}').hex[:16]}", messages=1)
    requests: dict[str, dict[str, Any]] = {}
    server: dict[str, dict[str, Any]] = {}
    for part in parts:
        if isinstance(part, Call):
            target = server if part.is_remote else requests
            target |= {request["requestId"]: request for request in conversation.open(part)}
        elif isinstance(part, Result):
            tool, name = conversation.answered(part)
            request = requests.pop(name) if name in requests else server.get(name, {"tool": tool})
            failed = {"failed": True} if part.failed else {}
            server[name or f"result {len(server)}"] = request | {"output": part.output} | failed
    spoken = [Mark("") if isinstance(part, Call | Result | Thought | Mark) else part for part in parts]
    thoughts = [part.text for part in parts if isinstance(part, Thought)]
    ran = ({key: value for key, value in each.items() if key != "requestId"} for each in server.values())
    return Reply(words_of(spoken, is_answer=True), tuple(requests.values()), "\n".join(thoughts), tuple(ran))


def _parts(reply: Any) -> list[Part]:
    reply = answer_of(reply)
    messages = messages_of(reply)
    if messages is None and isinstance(reply, Mapping) and any(reply.get(name) is not None for name in _WORDS):
        messages = [reply]
    if messages is None:
        raise Rejected(f"the reply is {shape(reply)} without words of a model; {SHAPES}")
    parts: list[Part] = []
    try:
        for message in messages:
            plain = without_envelope(message)
            parts += read_parts(contents_of(plain))
            parts += map(File, files_beside(plain))
    except (ValueError, Rejected) as error:
        raise Rejected(f"the reply is {shape(reply)}: {error}; {SHAPES}") from error
    return parts
