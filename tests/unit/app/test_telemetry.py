"""Log lines have fields for collectors, and hold no words of people."""

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from builder.adapters.templates.failures import Failure
from builder.app.logs import set_up_logging, text_lines
from builder.app.telemetry import OUTCOMES, REASONS, Metrics
from builder.domain.delivery import DeliveryOutcome
from builder.domain.errors import ChainTooLong, Rejected
from builder.worker.jobs import UnexpectedError, guard
from tests.factories import make_place


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
    done = DeliveryOutcome(
        subject=subject, place=make_place(7), replay=False, outcome="published", seconds=0.01234, tokens=(120, 30)
    )
    Metrics(CollectorRegistry()).delivered(done)
    line = json.loads(lines.getvalue())
    assert line["message"] == f"published {subject} seq=7 ms=12.3 contexts=2"
    fields = {"outcome": "published", "workspace": "acme", "session": "s42", "schema": "user.message.v1"}
    numbers = {"seq": 7, "ms": 12.3, "contexts": 2, "tokens": 150}
    assert {name: line[name] for name in (*fields, *numbers)} == fields | numbers


def test_a_repetition_says_that_its_contexts_were_published_before(lines: io.StringIO) -> None:
    subject = "breadcrumbs.acme.s42.user.message.v1"
    Metrics(CollectorRegistry()).delivered(
        DeliveryOutcome(subject=subject, place=make_place(7), replay=False, outcome="published", seconds=0, tokens=())
    )
    assert json.loads(lines.getvalue())["message"].endswith("contexts=0 (published before)")


def test_a_subject_that_is_none_has_no_address(lines: io.StringIO) -> None:
    Metrics(CollectorRegistry()).delivered(
        DeliveryOutcome(
            subject="breadcrumbs", place=make_place(1), replay=False, outcome="rejected", seconds=0, reason="it is no subject"
        )
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
    line = json.loads(lines.getvalue())
    assert "hunter2" not in lines.getvalue()
    assert "hunter2" not in str(bug.value)
    assert line["message"] == "a bug in breadcrumb 7"
    assert "in fails_with" in line["exception"]
    assert line["exception"].index("KeyError\nwhich led to\n") < line["exception"].rindex("ValueError")


def test_a_message_of_several_lines_is_one_line(lines: io.StringIO) -> None:
    logging.getLogger("library").warning("503 \nNats-Subject: x\n")
    assert json.loads(lines.getvalue())["message"] == "503 Nats-Subject: x"


def test_failed_hints_of_records_are_counted_together_and_logged_by_their_schema(lines: io.StringIO) -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    for name in ("note.v1", "ticket.v1"):
        metrics.template_failed(Failure(kind="llm_hints", name=name, reason="mode: no mode", instead="the ordinary hint"))
    assert registry.get_sample_value("context_builder_hint_failures_total", {"hint": "llm_hints"}) == 2
    message = json.loads(lines.getvalue().splitlines()[0])["message"]
    assert message == "llm_hints of note.v1 failed, the ordinary hint is shown: mode: no mode; mend it"


def outcome(number: int, name: str) -> DeliveryOutcome:
    subject, kind = f"breadcrumbs.acme.s{number}.schema{number}.v1", REASONS[number % len(REASONS)]
    return DeliveryOutcome(
        subject=subject, place=make_place(number), replay=False, outcome=name, seconds=0.01, tokens=(number,), kind=kind
    )


def test_metrics_do_not_grow_with_sessions_and_schemas_and_name_none(lines: io.StringIO) -> None:
    logging.getLogger().setLevel("ERROR")
    metrics = Metrics(CollectorRegistry())
    settled = [name for name in OUTCOMES if name != "expired"]

    def scrape(first: int, last: int) -> str:
        for number in range(first, last):
            metrics.delivered(outcome(number, settled[number % len(settled)]))
        return generate_latest(metrics.registry).decode()

    few, many = scrape(0, 200), scrape(200, 20_000)
    assert len(many.splitlines()) == len(few.splitlines())
    assert len(many) < 20_000
    assert not re.search(r"acme|s1999|schema", many)
    assert not lines.getvalue()


def test_a_chain_that_was_stopped_is_counted() -> None:
    metrics = Metrics(CollectorRegistry())
    metrics.delivered(outcome(REASONS.index(ChainTooLong.kind), "rejected"))
    assert metrics.registry.get_sample_value("context_builder_chains_stopped_total") == 1


def test_each_outcome_and_each_reason_of_a_dead_letter_is_zero_before_the_first_one() -> None:
    registry = CollectorRegistry()
    Metrics(registry)
    kinds: set[type[Rejected]] = {Rejected, *Rejected.__subclasses__()}
    assert {kind.kind for kind in kinds} == set(REASONS)
    for outcome_name in OUTCOMES:
        assert registry.get_sample_value("context_builder_breadcrumbs_total", {"outcome": outcome_name}) == 0
    for reason in REASONS:
        assert registry.get_sample_value("context_builder_dead_letters_total", {"reason": reason}) == 0


async def test_many_old_triggers_are_one_warning_and_the_time_of_the_last_one(lines: io.StringIO) -> None:
    metrics = Metrics(CollectorRegistry(), gather=0)
    for number in range(1_000):
        metrics.delivered(outcome(number, "expired"))
    while "WARNING" not in lines.getvalue():
        await asyncio.sleep(0)
    metrics.delivered(outcome(1_001, "expired"))
    while lines.getvalue().count("WARNING") < 2:
        await asyncio.sleep(0)
    logged = [line for line in map(json.loads, lines.getvalue().splitlines()) if line["level"] == "WARNING"]
    assert [line["message"].split(" triggers were a day old")[0] for line in logged] == ["1000", "1"]
    assert (metrics.registry.get_sample_value("context_builder_expired_timestamp_seconds") or 0) > 1.7e9


def test_a_line_for_people_has_its_time_in_utc() -> None:
    record = logging.LogRecord("builder", logging.INFO, "", 0, "stopped", None, None)
    record.created, record.msecs = 0.25, 250
    assert text_lines().format(record) == "1970-01-01T00:00:00.250Z INFO    builder  stopped"
