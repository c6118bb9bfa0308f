"""Trace context in headers."""

import sys

import pytest

from builder.domain.breadcrumb import Place, StreamMessage
from builder.wire.traces import span, trace_headers, trace_of, trace_scope
from tests.factories import MORNING

PARENT = f"00-{'ab' * 16}-{'cd' * 8}-01"
TRACE = {"traceparent": PARENT}


@pytest.fixture(autouse=True)
def _without_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)


def test_the_headers_are_read_in_any_case() -> None:
    assert trace_of({"Traceparent": PARENT, "TRACESTATE": "a=1", "Nats-Msg-Id": "x"}) == {
        "traceparent": PARENT,
        "tracestate": "a=1",
    }


@pytest.mark.parametrize("parent", ["", "00", PARENT.upper(), f"{PARENT}\r\nNats-Msg-Id: x", f"{PARENT}-more"])
def test_what_is_no_trace_is_left_out(parent: str) -> None:
    assert trace_of({"traceparent": parent, "tracestate": "a=1"}) == {}


def test_a_long_state_is_left_out_and_its_trace_stays() -> None:
    assert trace_of(TRACE | {"tracestate": "a=" + "b" * 511}) == TRACE


def test_what_is_sent_belongs_to_the_trace_of_the_work() -> None:
    assert trace_headers() == {}
    with span("process", "consumer", TRACE), span("part"):
        assert trace_headers() == TRACE
        with trace_scope({}):
            assert trace_headers() == {}
    assert trace_headers() == {}


def test_an_error_goes_through_a_span() -> None:
    with pytest.raises(KeyError), span("process", "consumer", TRACE):
        _ = dict[str, int]()["of the block"]


def test_the_trace_is_no_part_of_a_messages_identity() -> None:
    message, traced = (
        StreamMessage(subject="s", data=b"{}", place=Place(1, 1), received_at=MORNING, trace=trace) for trace in ({}, TRACE)
    )
    assert message == traced
