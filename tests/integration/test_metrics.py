"""The figures that an operator reads at /metrics and from `doctor`."""

import json
import os
import re
import signal
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import nats
import pytest

from builder.adapters.nats.clock import BrokerClock
from builder.app import broker as broker_of_app
from builder.app.settings import EmbeddingSettings
from builder.cli import doctor
from builder.connection.names import DEFAULT, Installation
from tests.alerts import firing
from tests.commands import COMMAND, run
from tests.integration.inside import settings
from tests.running import Broker, Process, Running, all_settled, answered, environment, jetstream, say, until, wait_for


def value(metrics: str, name: str) -> float:
    found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", metrics, re.MULTILINE)
    assert found, name
    return float(found[1])


async def test_metrics_tell_builds_and_tokens(folder: Path, broker: Broker) -> None:
    with Running(folder / "service", broker.url) as service:
        async with jetstream(broker.url) as js:
            await say(js, "Where do I set the API key?", "s1", "m1")
            await say(js, "And the port?", "s1", "m2")
            await all_settled(js)
            status, metrics = service.get("/metrics")
            tokens = sum(event["token_count"] for event in await answered(js))
    assert status == 200
    assert value(metrics, "context_builder_context_tokens_sum") == tokens
    assert value(metrics, "context_builder_build_seconds_count") == 2
    assert 0 < value(metrics, "context_builder_build_seconds_sum") <= value(metrics, "context_builder_process_seconds_sum")
    assert value(metrics, "context_builder_queue_age_seconds") >= 0


async def test_metrics_and_alerts_change_when_the_broker_is_gone_and_when_it_is_back(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "service", broker.url) as service:
        away = {"ContextBuilderNotReady", "ContextBuilderBrokerAway", "ContextBuilderPartFails"}

        def scrape(ready: int, stream: int) -> bool:
            metrics = service.get("/metrics")[1]
            age = value(metrics, "context_builder_queue_age_seconds")
            return (
                value(metrics, "context_builder_ready") == ready
                and f'context_builder_part_ok{{part="stream"}} {stream}.0' in metrics
                and f'context_builder_part_ok{{part="stream_writes"}} {stream}.0' in metrics
                and 'context_builder_part_ok{part="model"} 1.0' in metrics
                and (age == 0 if ready else age > 1)
                and firing(metrics) == (set() if ready else away)
            )

        wait_for(lambda: scrape(1, 1), "a service that is ready")
        broker.kill()
        wait_for(lambda: scrape(0, 0), "a service that is not, and the age of what may wait")
        broker.start()
        wait_for(lambda: scrape(1, 1), "a service that is ready again")


def test_a_collector_gets_the_facts_of_the_start_as_fields(tmp_path: Path, broker: Broker) -> None:
    env = environment(tmp_path, nats__servers=broker.url, log__format="json")
    with Process([COMMAND, "up"], env, tmp_path / "log") as service:
        wait_for(lambda: '"message":' in service.said() and '"started"' in service.said(), "the line of the start")
        (line,) = [line for line in map(json.loads, service.said().splitlines()) if line["message"] == "started"]
    assert {"name": "context-builder", "nats": broker.url, "consumers": "default"}.items() <= line.items()
    assert line["health"].startswith("http://127.0.0.1:")
    assert {"store", "model", "templates"} <= line.keys()


async def test_doctor_warns_of_a_clock_that_differs(service: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = settings(tmp_path, service.url).model_copy(update={"embedding": EmbeddingSettings(engine="none")})
    (finding,) = [each for each in await doctor.examine(own, service.url) if each["part"] == "broker"]
    assert (finding["ok"], finding["warning"]) == (True, False)
    ahead = partial(BrokerClock, system=lambda: datetime.now(UTC) + timedelta(minutes=30))
    monkeypatch.setattr(broker_of_app, "BrokerClock", ahead)
    (finding,) = [each for each in await doctor.examine(own, service.url) if each["part"] == "broker"]
    assert (finding["ok"], finding["warning"]) == (True, True)
    assert finding["said"].startswith("this computer's clock is 1,800 s ahead of the broker's; set both by a time server")
    assert "BREADCRUMBS holds" in finding["said"]


async def test_a_clock_that_differs_from_the_brokers_is_told_with_the_difference(service: Running) -> None:
    connection = await nats.connect(service.url)
    try:

        async def state(difference: timedelta) -> str:
            return await BrokerClock(connection, DEFAULT, lambda: datetime.now(UTC) + difference).state()

        assert "clock is 108,000 s ahead of the broker's" in await state(timedelta(hours=30))
        assert "clock is 3,600 s behind the broker's" in await state(timedelta(hours=-1))
        assert await state(timedelta(seconds=2)) == ""
        wrong = BrokerClock(connection, DEFAULT, lambda: datetime.now(UTC) + timedelta(days=40))
        assert wrong.now() > datetime.now(UTC) + timedelta(days=39)
        await wrong.ahead()
        assert abs(wrong.now() - datetime.now(UTC)) < timedelta(minutes=1), "it goes by the broker's"
        nobody = Installation("nobody-made-it")
        assert await BrokerClock(connection, nobody, lambda: datetime.now(UTC) + timedelta(days=1)).state() == ""
    finally:
        await connection.close()


async def test_the_queue_s_age_grows_while_nothing_is_settled_and_is_nothing_when_all_is(tmp_path: Path, broker: Broker) -> None:
    # Two workers share the durable; what the stopped one has fetched stays unsettled until the broker delivers it again.
    limits: dict[str, Any] = {"worker__ack_wait_seconds": 4}
    with Running(tmp_path, broker.url, **limits) as service, Running(tmp_path / "other", broker.url, **limits) as other:

        async def age() -> float:
            return value(service.get("/metrics")[1], "context_builder_queue_age_seconds")

        async with jetstream(broker.url) as js:
            await all_settled(js)
            other.signal(signal.SIGSTOP)
            try:
                for number in range(8):
                    await say(js, f"Message {number}.", f"aged-{number}", f"aged-{number}")

                async def is_old() -> bool:
                    return await age() > 1

                await until(is_old, "the age of what the stopped worker holds")
            finally:
                other.signal(signal.SIGCONT)
            await all_settled(js)

            async def is_none() -> bool:
                return await age() == 0

            await until(is_none, "an age of nothing")


async def test_doctor_tells_what_the_streams_hold_and_makes_none(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker:
        env = os.environ | {"CONTEXT_BUILDER_NATS__SERVERS": broker.url, "CONTEXT_BUILDER_DATA_DIR": str(tmp_path / "service")}

        def said() -> str:
            findings = json.loads(run("doctor", "--json", env=env).stdout)
            return next(str(finding["said"]) for finding in findings if finding["part"] == "broker" and finding["ok"])

        assert "BREADCRUMBS is made by the first start" in said()
        with Running(tmp_path / "service", broker.url):
            async with jetstream(broker.url) as js:
                await say(js, "Hello.", "s1", "m1")
                await all_settled(js)
            assert "BREADCRUMBS holds 1" in said()
            assert "0 wait and 0 are in work" in said()
