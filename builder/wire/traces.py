"""Trace context of messages, as the headers of W3C, and spans of OpenTelemetry.

A process that has not imported OpenTelemetry makes no spans, imports nothing, and passes on the trace of what it works on.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Note = Callable[..., None]
"""Attributes of a span by name; `error=True` marks it as failed."""
Kind = Literal["internal", "producer", "consumer"]
TRACER = "context-builder"
PREFIX = "context_builder."
MAX_STATE_CHARS = 512
"""The length of `tracestate` that the standard asks everybody to pass on; a longer one is left out."""
_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_RECEIVED: ContextVar[Mapping[str, str]] = ContextVar("trace", default={})  # noqa: B039 - never changed


def trace_of(headers: Mapping[str, str] | None) -> dict[str, str]:
    """`traceparent` and `tracestate` of a message, whatever their case; {} unless they are valid."""
    texts = {name.lower(): text for name, text in (headers or {}).items()}
    parent, state = texts.get("traceparent", ""), texts.get("tracestate", "")
    if not _PARENT.fullmatch(parent):
        return {}
    return {"traceparent": parent} | ({"tracestate": state} if 0 < len(state) <= MAX_STATE_CHARS else {})


def trace_headers() -> dict[str, str]:
    """For a message that is sent now: of the active span, else of the message in work."""
    headers: dict[str, str] = {}
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(headers)
    return trace_of(headers) or {**_RECEIVED.get()}


@contextmanager
def trace_scope(trace: Mapping[str, str]) -> Iterator[None]:
    """Messages that the block sends belong to this trace, unless a span is active."""
    token = _RECEIVED.set(trace)
    try:
        yield
    finally:
        _RECEIVED.reset(token)


@contextmanager
def span(name: str, kind: Kind = "internal", trace: Mapping[str, str] | None = None) -> Iterator[Note]:
    """The block as an active span. trace: of the message that the block works on; None = the span is part of the active one.

    Of an exception the span has the type alone: messages quote contents.
    """
    with trace_scope(_RECEIVED.get() if trace is None else trace):
        if "opentelemetry.trace" not in sys.modules:
            yield lambda **_attributes: None
            return
        from opentelemetry import trace as api
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        parent = None if trace is None else TraceContextTextMapPropagator().extract(trace)
        with api.get_tracer(TRACER).start_as_current_span(
            name, parent, api.SpanKind[kind.upper()], record_exception=False, set_status_on_exception=False
        ) as own:

            def note(*, error: bool = False, **attributes: str | float) -> None:
                own.set_attributes({PREFIX + key: value for key, value in attributes.items()})
                if error:
                    own.set_status(api.StatusCode.ERROR)

            try:
                yield note
            except BaseException as failure:
                note(error=True, error_type=type(failure).__name__)
                raise
