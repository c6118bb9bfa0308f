"""The tool calls of a breadcrumb with their arguments as chat APIs take them: a JSON object, without bytes or control text."""

import json
from itertools import starmap
from typing import Any

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.control_text import visible
from builder.domain.json_text import with_texts
from builder.domain.message import Call
from builder.remember.attachments import described
from builder.wire.json import one_line


def calls_of(breadcrumb: Breadcrumb) -> tuple[Call, ...]:
    """Each request id once, as it was called last."""
    return tuple(starmap(_call, dict(zip(breadcrumb.calls, breadcrumb.call_signatures, strict=False)).items()))


def call_of(breadcrumb: Breadcrumb, request: str) -> Call:
    """One of them; the others are not read, because a message may make thousands."""
    return _call(request, signature_of(breadcrumb, request))


def signature_of(breadcrumb: Breadcrumb, request: str) -> str:
    """Tool and arguments of the call as one text."""
    last = len(breadcrumb.call_signatures)
    return breadcrumb.call_signatures[last - 1 - breadcrumb.calls[:last][::-1].index(request)]


def _call(request: str, signature: str) -> Call:
    call = json.loads(signature)
    return Call(id=request, tool=visible(call["tool"]), arguments=_arguments(call["input"]))


def _arguments(value: Any) -> str:
    if value is None:
        return "{}"
    plain = with_texts(described(value), visible, visible)
    return one_line(plain if isinstance(plain, dict) else {"input": plain})
