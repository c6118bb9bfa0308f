"""Whether spans are exported, by the variables of OpenTelemetry."""

import sys
from collections.abc import Mapping

import pytest

from builder.app.tracing import OPT_IN, exported_spans, is_experimental, is_on
from builder.domain.errors import Misconfigured

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "contexts"}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, True),
        (ENDPOINT | {"OTEL_SDK_DISABLED": "True"}, False),
        (ENDPOINT | {"OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_an_endpoint_switches_export_on(environment: Mapping[str, str], expected: bool) -> None:
    assert is_on(environment) is expected


async def test_an_endpoint_without_the_extra_is_misconfigured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(Misconfigured, match=r"OTEL_EXPORTER_OTLP_ENDPOINT .* is set .* not installed.*\[tracing\]"):
        async with exported_spans("test", ENDPOINT):
            pass


@pytest.mark.parametrize(
    ("names", "expected"), [("", False), ("http", False), ("http, gen_ai_latest_experimental", True), ("gen_ai", False)]
)
def test_names_that_may_change_are_switched_on_as_opentelemetry_does_it(names: str, expected: bool) -> None:
    assert is_experimental({OPT_IN: names}) is expected
