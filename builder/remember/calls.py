"""Calls as breadcrumbs keep them: tool and arguments as one text each, by the names that they have in their message."""

import json
from dataclasses import dataclass
from itertools import starmap
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.json_text import one_line
from builder.domain.json_values import with_texts
from builder.wire.words import text_of, with_lines

MAX_CALL_CHARS = 1200
"""Of the calls of one message, about as many as a passage has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call."""

    id: str
    tool: str
    arguments: str
    """A JSON object as text."""


def call_signature(tool: str, arguments: Any) -> str:
    """Tool and arguments as one JSON text."""
    return one_line({"tool": tool, "input": arguments})


def calls_of(breadcrumb: Breadcrumb) -> tuple[Call, ...]:
    """Each by the name that it has in its message."""
    return tuple(starmap(_call, zip(breadcrumb.call_names, breadcrumb.call_signatures, strict=False)))


def call_of(breadcrumb: Breadcrumb, request: str) -> Call:
    """One of them; a message may make thousands."""
    return _call(request, signature_of(breadcrumb, request))


def signature_of(breadcrumb: Breadcrumb, request: str) -> str:
    """Tool and arguments of the call as one text."""
    return breadcrumb.call_signatures[breadcrumb.call_names.index(request)]


def call_words(breadcrumb: Breadcrumb) -> str:
    """Tools and arguments of its calls, at most MAX_CALL_CHARS of them: the words by which a search finds it."""
    if breadcrumb.tool:  # a request of its own: its text is the call
        return ""
    return "\n".join(f"{call['tool']} {text_of(call['input'])}" for call in map(json.loads, breadcrumb.call_signatures))[
        :MAX_CALL_CHARS
    ]


def _call(request: str, signature: str) -> Call:
    call = json.loads(signature)
    return Call(id=request, tool=visible(call["tool"]), arguments=_arguments(call["input"]))


def _arguments(value: Any) -> str:
    if value is None:
        return "{}"
    plain = with_texts(with_lines(value), visible, visible)
    arguments = plain if isinstance(plain, dict) else {"input": plain}
    text = one_line(arguments)
    if visible(text) != text:  # a token begins in one text and ends in another
        text = one_line(with_texts(arguments, _without_beginnings, _without_beginnings))
    return text


def _without_beginnings(text: str) -> str:
    return text.replace("<", "<\\")
