"""The bridge to an RCRT deployment, beside the service: settings under the deployment's names, parts, and what runs again."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from nats.aio.client import Client
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from builder.app.broker import client_options
from builder.app.components import PARTS, Parts, counter
from builder.app.config import ConfigSnapshot, bundled_folder, file_stamps
from builder.app.service import Service
from builder.app.settings import HttpSettings, NatsSettings, Settings, StoreSettings
from builder.connection.opening import open_connection
from builder.domain.errors import Misconfigured
from builder.extras.rcrt.bridge import Bridge, publisher
from builder.extras.rcrt.dry_run import Comparison, DryRun, Page
from builder.extras.rcrt.intake import Intake, Publish
from builder.extras.rcrt.ledger import Ledger
from builder.extras.rcrt.rest import RcrtApi
from builder.extras.rcrt.writer import ContextWriter
from builder.wire.records import Outgoing
from builder.worker.jobs import Job, JobRunner, Observer

__all__ = ["Comparison", "Page", "RcrtSettings", "bridging", "rcrt_settings", "service_parts", "service_settings"]

log = logging.getLogger("builder.rcrt")

LOOK_SECONDS, LIST_SECONDS = 2.0, 15.0
"""Between two looks at streams and connection, and between two listings."""
WHOLE_LISTING = 40
"""One listing in so many goes to the end and finds deletions."""
LOOKS_AFTER_LOSS = 5
"""Looks after a lost connection that list too: RCRT, whose events nobody hears meanwhile, may connect later than we."""


class RcrtSettings(BaseSettings):
    """Variables of RCRT's own services, without a prefix."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    nats_url: str = Field(description="the NATS servers of the deployment, as nats://nats:4222")
    rcrt_api_url: str = Field(description="its REST server, as http://rcrt:8080")
    workspace: UUID = Field(
        UUID(int=1),
        validation_alias="OWNER_ID",
        description="the owner whose token reads listings; contexts go to the owner of their trigger",
    )
    agent_id: UUID = Field(UUID(int=0xCB), description="the agent that requests are made as")


def rcrt_settings() -> RcrtSettings:
    """Raises `Misconfigured` with the variable."""
    try:
        return RcrtSettings()
    except ValidationError as error:
        mistakes = "; ".join(f"{str(each['loc'][0]).upper()}: {each['msg'].lower()}" for each in error.errors())
        raise Misconfigured(f"{mistakes}; give the same values as to the deployment's own context builder") from error


def service_settings(settings: Settings, own: RcrtSettings, dry_folder: str) -> Settings:
    """The service's settings on RCRT's broker. dry_folder: of a dry run, which has a broker and a store of its own; "" = none."""
    if dry_folder:
        changes: dict[str, Any] = {"data_dir": Path(dry_folder), "nats": NatsSettings(port=-1), "store": StoreSettings()}
        return settings.model_copy(update=changes | {"http": HttpSettings(port=0)})
    return settings.model_copy(update={"nats": settings.nats.model_copy(update={"servers": own.nats_url})})


def service_parts(parts: Parts = PARTS) -> Parts:
    """Parts whose consumers come from RCRT's records alone: its layer lies between the bundled templates and the operator's."""

    def read(folders: tuple[Path, ...], *rest: Any, **options: Any) -> ConfigSnapshot:
        config = parts.reader((folders[0], bundled_folder("templates") / "rcrt", *folders[1:]), *rest, **options)
        return replace(config, stamps=file_stamps(folders))  # of the files that an operator may edit

    return replace(parts, reader=read)


@asynccontextmanager
async def bridging(
    service: Service, settings: Settings, own: RcrtSettings, report: Callable[[Comparison], None] | None = None
) -> AsyncIterator[None]:
    """The bridge for the block. report: of a dry run. Raises `Misconfigured`, `Unavailable`."""
    async with AsyncExitStack() as stack:
        connection = await _connected(stack, service.url, settings)
        listen = await _connected(stack, own.nats_url, settings) if report else None
        ledger = Ledger(connection.jetstream(), service.installation, settings.nats.replicas)
        await ledger.ensure()
        api = await stack.enter_async_context(RcrtApi(own.rcrt_api_url, str(own.workspace), str(own.agent_id)))
        publish = publisher(connection, service.installation)
        if report:
            dry_run = DryRun(counter(), report)
            intake = Intake(api, ledger, _noting(publish, dry_run), dry_run.hear)
            bridge = Bridge(connection, service.installation, settings.nats.replicas, intake, dry_run, listen)
        else:
            writer = ContextWriter(api, ledger)
            intake = Intake(api, ledger, publish, writer.expect)
            bridge = Bridge(connection, service.installation, settings.nats.replicas, intake, writer)
        await stack.enter_async_context(bridge.open())
        runner = JobRunner(busy=lambda: False, observer=Observer())
        tasks = [asyncio.create_task(runner.run(job)) for job in _jobs(bridge, intake, ledger)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _connected(stack: AsyncExitStack, servers: str, settings: Settings) -> Client:
    connection = await open_connection(servers, **(client_options(servers, settings) | {"rounds": 0}))
    stack.push_async_callback(connection.close)
    return connection


def _noting(publish: Publish, dry_run: DryRun) -> Publish:
    async def noted(event: Outgoing, is_old: bool) -> None:
        dry_run.note(event)
        await publish(event, is_old)

    return noted


def _jobs(bridge: Bridge, intake: Intake, ledger: Ledger) -> tuple[Job, ...]:
    rounds, due = count(), 0

    async def look() -> None:
        nonlocal due
        if await ledger.ensure():
            intake.begin_again()
        due = LOOKS_AFTER_LOSS if await bridge.look() else max(0, due - 1)
        if due:
            await intake.catch_up(whole=False)

    async def catch_up() -> None:
        await intake.catch_up(whole=next(rounds) % WHOLE_LISTING == 1)  # not the first one, which events wait for
        bridge.look_again()

    return (
        Job(name="listing RCRT's records", every=LIST_SECONDS, run_once=catch_up),
        Job(name="looking at RCRT's events", every=LOOK_SECONDS, run_once=look),
    )
