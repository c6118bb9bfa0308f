"""Jobs of extras in the running service: what they hear, and which names they cannot have."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from builder.app.line import JobParts
from builder.app.service import open_service
from builder.domain.delivery import DeliveryOutcome
from builder.domain.errors import Misconfigured
from builder.extra import Extra, extras
from builder.worker.jobs import BackgroundJob
from tests.integration.inside import settings, worker_here
from tests.running import Broker, say


class Tally(BackgroundJob):
    """Counts deliveries."""

    def __init__(self) -> None:
        self.deliveries = 0

    @override
    def delivered(self, outcome: DeliveryOutcome) -> None:
        self.deliveries += 1

    @override
    async def run_once(self) -> None:
        raise NotImplementedError


@pytest.fixture
def tally(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Tally:
    """A job of an extra, under the name that is the fixture's parameter."""
    job = Tally()

    @asynccontextmanager
    async def opened(_parts: JobParts) -> AsyncIterator[BackgroundJob]:
        yield job

    every = {**extras(), "rival": Extra(jobs={request.param: opened})}
    monkeypatch.setattr("builder.extra.extras", lambda: every)
    return job


@pytest.mark.parametrize("tally", ["the metrics"], indirect=True)
async def test_no_name_of_a_job_takes_the_place_of_the_metrics(tally: Tally, tmp_path: Path, broker: Broker) -> None:
    async with worker_here(settings(tmp_path, broker.url)) as bench:
        await bench.process(await say(bench.js, "Where is the kiln?", "s1", "m1", "jobs"))
        assert [outcome.outcome for outcome in bench.outcomes] == ["published"]
    assert tally.deliveries == 1


@pytest.mark.usefixtures("tally")
@pytest.mark.parametrize("tally", ["collecting garbage"], indirect=True)
async def test_a_job_under_the_name_of_one_of_the_services_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="an extra brings a job 'collecting garbage', which the service has; uninstall"):
        async with open_service(settings(tmp_path)):
            pass


@pytest.mark.usefixtures("tally")
@pytest.mark.parametrize("tally", ["purging"], indirect=True)
async def test_a_job_under_the_name_of_another_extras_ends_the_start(tmp_path: Path, broker: Broker) -> None:
    with pytest.raises(Misconfigured, match="the extra 'rival' brings 'purging' to the jobs, which has it already; uninstall it"):
        async with worker_here(settings(tmp_path, broker.url)):
            pass
