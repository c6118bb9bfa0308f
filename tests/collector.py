"""A collector of traces: OTLP over HTTP on loopback, which keeps what it gets."""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A span."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    """"" = it is the root."""
    attributes: dict[str, str | int | float]
    failed: bool


class Collector:
    """`url` is what OTEL_EXPORTER_OTLP_ENDPOINT names."""

    def __init__(self) -> None:
        self.spans: list[Received] = []
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/traces"
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.bodies.append(body)
                collector.spans += _spans(ExportTraceServiceRequest.FromString(body))
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's
                """Write nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def named(self, name: str, **attributes: str | int) -> list[Received]:
        """Spans of this name with these attributes of ours."""
        wanted = {f"context_builder.{key}": value for key, value in attributes.items()}.items()
        return [each for each in self.spans if each.name == name and wanted <= each.attributes.items()]

    def below(self, span: Received) -> list[str]:
        """Names of its children, in the order of their ends."""
        return [each.name for each in self.spans if each.parent == span.id]


def _spans(request: ExportTraceServiceRequest) -> list[Received]:
    return [
        Received(
            service=next(each.value.string_value for each in resource.resource.attributes if each.key == "service.name"),
            name=span.name,
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            attributes={each.key: getattr(each.value, each.value.WhichOneof("value") or "") for each in span.attributes},
            failed=span.status.code == 2,  # STATUS_CODE_ERROR
        )
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
