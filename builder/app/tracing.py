"""Export of spans, as OpenTelemetry's own variables say. Without one of them nothing is imported."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from builder import __version__
from builder.domain.errors import Misconfigured, installation

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
HTTP = "http/protobuf"
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


def is_on(environment: Mapping[str, str]) -> bool:
    """Whether spans are exported."""
    is_off = environment.get("OTEL_SDK_DISABLED", "").lower() == "true" or environment.get("OTEL_TRACES_EXPORTER") == "none"
    return not is_off and any(environment.get(name) for name in ENDPOINTS)
