"""Export of spans, as OpenTelemetry's own variables say. Without one of them nothing is imported."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from typing_extensions import override

from builder import __version__
from builder.domain.errors import Misconfigured, installation

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span, SpanProcessor

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
HTTP = "http/protobuf"
OPT_IN, EXPERIMENTAL = "OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental"
"""OpenTelemetry's switch for conventions that may still change, and the name of those for generative AI."""
MEMORY_OPERATIONS = {
    "process breadcrumb": "upsert_memory",
    "recall": "search_memory",
    "request search": "search_memory",
    "request forget": "delete_memory",
}
"""Span → `gen_ai.operation.name`."""
LAST_SECONDS = 2.0
"""For the last spans; a collector that is away holds up no stop."""


@asynccontextmanager
async def exported_spans(name: str, environment: Mapping[str, str] = os.environ) -> AsyncIterator[None]:
    """While the block runs, where an endpoint is set; the last ones are sent at its end. name: of the installation.

    Raises `Misconfigured` without the extra `tracing`, and for another protocol.
    """
    if not is_on(environment):
        yield
        return
    if (protocol := environment.get("OTEL_EXPORTER_OTLP_PROTOCOL", HTTP)) != HTTP:
        raise Misconfigured(f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}; write {HTTP}, which collectors take on port 4318")
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"{' or '.join(ENDPOINTS)} is set and {error.name} is not installed; unset it, or {installation('tracing')}"
        ) from error
    is_named = "OTEL_SERVICE_NAME" in environment or "service.name=" in environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    facts = {"service.version": __version__} | ({} if is_named else {"service.name": name})
    provider = TracerProvider(resource=Resource.create(facts))
    exporter = OTLPSpanExporter()
    if is_experimental(environment):
        provider.add_span_processor(_memory_operations(name))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        ending = asyncio.create_task(asyncio.to_thread(provider.shutdown))
        await asyncio.wait({ending}, timeout=LAST_SECONDS)
        if not ending.done():
            exporter.shutdown()  # type: ignore[no-untyped-call]
        await ending


def is_experimental(environment: Mapping[str, str]) -> bool:
    """Whether spans have the attributes `gen_ai.…` too."""
    return EXPERIMENTAL in {each.strip() for each in environment.get(OPT_IN, "").split(",")}


def is_on(environment: Mapping[str, str]) -> bool:
    """Whether spans are exported."""
    is_off = environment.get("OTEL_SDK_DISABLED", "").lower() == "true" or environment.get("OTEL_TRACES_EXPORTER") == "none"
    return not is_off and any(environment.get(name) for name in ENDPOINTS)


def _memory_operations(store: str) -> "SpanProcessor":
    """Adds the operation and its store when a span of memory starts."""
    from opentelemetry.sdk.trace import SpanProcessor

    class MemoryOperations(SpanProcessor):
        @override
        def on_start(self, span: "Span", parent_context: "Context | None" = None) -> None:
            if operation := MEMORY_OPERATIONS.get(span.name):
                span.set_attributes({"gen_ai.operation.name": operation, "gen_ai.memory.store.id": store})

    return MemoryOperations()
