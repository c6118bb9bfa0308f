"""Log lines have fields for collectors, and hold no words of people."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from builder.app.telemetry import Metrics, set_up_logging
from builder.domain.delivery_outcome import DeliveryOutcome
from builder.domain.failure import Failure
from builder.worker.resilience import UnexpectedError, guard


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[io.StringIO]:
    """What is logged as JSON."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    set_up_logging("INFO", "json")
    written = io.StringIO()
    root.handlers[0].setStream(written)  # type: ignore[attr-defined]
    yield written
    root.handlers[:], root.level = before, level
    capsys.readouterr()


def test_the_line_of_a_breadcrumb_has_a_field_for_each_fact(lines: io.StringIO) -> None:
    subject = "breadcrumbs.acme.s42.user.message.v1"
    done = DeliveryOutcome(subject=subject, sequence=7, replay=False, outcome="published", seconds=0.01234, tokens=(120, 30))
    Metrics(CollectorRegistry()).observe(done)
    line = json.loads(lines.getvalue())
    assert line["message"] == f"published {subject} seq=7 ms=12.3 contexts=2"
    fields = {"outcome": "published", "workspace": "acme", "session": "s42", "schema": "user.message.v1"}
    numbers = {"seq": 7, "ms": 12.3, "contexts": 2, "tokens": 150}
    assert {name: line[name] for name in (*fields, *numbers)} == fields | numbers


def test_a_subject_that_is_none_has_no_address(lines: io.StringIO) -> None:
    Metrics(CollectorRegistry()).observe(
        DeliveryOutcome(subject="breadcrumbs", sequence=1, replay=False, outcome="rejected", seconds=0, reason="it is no subject")
    )
    line = json.loads(lines.getvalue())
    assert (line["workspace"], line["session"], line["schema"], line["reason"]) == ("", "", "", "it is no subject")


def test_fields_that_libraries_add_are_left_out(lines: io.StringIO) -> None:
    logging.getLogger("library").info("connected", extra={"url": "nats://ana:secret@host", "color_message": "connected"})
    line = json.loads(lines.getvalue())
    assert line.keys() == {"time", "level", "logger", "message"}
    assert (line["level"], line["logger"], line["message"]) == ("INFO", "library", "connected")


async def fails_with(text: str) -> None:
    try:
        dict[str, str]()[text]
    except KeyError as error:
        raise ValueError(f"cannot read {text}") from error


async def test_the_traceback_of_a_bug_says_where_and_what_kind_and_not_what_somebody_wrote(lines: io.StringIO) -> None:
    with pytest.raises(UnexpectedError) as bug:
        await guard(fails_with("my password is hunter2"), logging.getLogger("builder.worker.loop"), "breadcrumb 7")
    logged = json.loads(lines.getvalue())["message"]
    assert "hunter2" not in logged
    assert "hunter2" not in str(bug.value)
    assert logged.startswith("a bug in breadcrumb 7:\n")
    assert "in fails_with" in logged
    assert logged.index("KeyError\nwhich led to\n") < logged.rindex("ValueError")


def test_failed_hints_of_records_are_counted_and_logged_by_their_schema(lines: io.StringIO) -> None:
    registry = CollectorRegistry()
    failure = Failure(kind="llm_hints", name="note.v1", reason="mode: no mode", instead="the ordinary hint")
    Metrics(registry).template_failed(failure)
    assert registry.get_sample_value("context_builder_hint_failures_total", {"hint": "llm_hints of note.v1"}) == 1
    message = json.loads(lines.getvalue())["message"]
    assert message == "llm_hints of note.v1 failed, the ordinary hint is shown: mode: no mode; mend it"
