"""What people, agents and tools send, as the service reads it: a line each, `sequence` seconds after the morning began."""

import json
import re
from datetime import timedelta
from typing import Any

from builder.domain.breadcrumb import StreamMessage
from builder.domain.context import Context
from builder.domain.stored import StoredBreadcrumb
from builder.remember.decode import decode
from tests.factories import MORNING, make_place, make_remembered, remembered_of

DATES = re.compile(r"^\[\d+ \w+ \d{4}[^\]]*\]\n", re.MULTILINE)
Call = tuple[str, str, dict[str, Any]]
"""Request id, tool and arguments."""


def message_of(sequence: int, schema: str, body: dict[str, Any], session: str = "s42", **record: Any) -> StreamMessage:
    """What the stream holds of this record. record: more of its fields, such as `id`, `version`, `created_at`, `user_id`."""
    fields = {"id": f"m{sequence}", "version": 1, "context": body} | record
    return StreamMessage(
        subject=f"breadcrumbs.acme.{session}.{schema}",
        data=json.dumps(fields).encode(),
        place=make_place(sequence),
        received_at=MORNING + timedelta(seconds=sequence),
    )


def sent(sequence: int, schema: str, body: dict[str, Any], session: str = "s42", **record: Any) -> StoredBreadcrumb:
    """What the service makes of this record. record: as in `message_of`."""
    return remembered_of(decode(message_of(sequence, schema, body, session, **record)))


def said(sequence: int, text: str, speaker: str = "", **record: Any) -> StoredBreadcrumb:
    """A person says something. speaker: the display name."""
    return sent(sequence, "user.message.v1", {"content": text} | ({"speaker": speaker} if speaker else {}), **record)


def replied(sequence: int, text: str, *calls: Call, speaker: str = "", **record: Any) -> StoredBreadcrumb:
    """An agent says something and calls tools."""
    requests = [{"requestId": call, "tool": tool, "input": arguments} for call, tool, arguments in calls]
    body = {"message": text, "tool_requests": requests} | ({"speaker": speaker} if speaker else {})
    return sent(sequence, "agent.response.v1", body, **record)


def requested(sequence: int, call: str, tool: str = "bash", session: str = "s42", **arguments: Any) -> StoredBreadcrumb:
    """A call by itself."""
    return sent(sequence, "tool.request.v1", {"requestId": call, "tool": tool, "input": arguments}, session)


def answered(sequence: int, call: str, output: Any, tool: str = "bash", session: str = "s42", **record: Any) -> StoredBreadcrumb:
    """What a tool answered."""
    body = {"request_id": call, "tool": tool, "status": "success", "output": output}
    return sent(sequence, "tool.response.v1", body, session, **record)


def failed(sequence: int, call: str, message: str, tool: str = "bash") -> StoredBreadcrumb:
    """A tool's error."""
    return sent(sequence, "tool.error.v1", {"request_id": call, "tool_name": tool, "error_message": message})


def deleted(sequence: int, removes: str, session: str = "s42") -> StoredBreadcrumb:
    """A tombstone."""
    return sent(sequence, "breadcrumb.deleted.v1", {"breadcrumb_id": removes}, session)


def bash(call: str, command: str) -> Call:
    """A call of the shell."""
    return call, "bash", {"command": command}


def chat(number: int, start: int = 1, words: str = "about the kiln, the glaze and the shelf") -> list[StoredBreadcrumb]:
    """So many remarks of a person and an agent in turn, all different."""
    return [
        (said, replied)[n % 2](start + n, f"Remark {start + n} {words}.") for n in range(number)
    ]  # fmt: skip


def two_sessions() -> list[StoredBreadcrumb]:
    """Session s1 says three things; session s2 talks in between."""
    texts = [
        ("s1", "Which kiln is it?"),
        ("s2", "It rained all afternoon."),
        ("s1", "The blue one."),
        ("s2", "Bring a coat."),
        ("s1", "It dries by Friday."),
    ]
    return [make_remembered(text, n, session=session) for n, (session, text) in enumerate(texts, 1)]


def section(context: Context, heading: str) -> str:
    """What stands under a heading of the page."""
    return context.markdown.partition(f"## {heading}\n")[2].partition("\n\n## ")[0].rstrip("\n")


def conversation(context: Context) -> str:
    """The conversation as the page shows it, or its newest part."""
    return section(context, "Conversation") or section(context, "Recent Conversation")


def undated(text: str) -> str:
    """A section without its lines on dates."""
    return DATES.sub("", text)


def ids_of(context: Context, name: str) -> list[str]:
    """The breadcrumbs of a section in page order."""
    return [name_ for held in context.sections if held.name == name for name_ in held.ids]
