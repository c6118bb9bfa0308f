"""The making of summaries: which units wait for one, the extractive summariser, and the request and command `compact`."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from builder.extra import SUMMARISING, Commands, Extra, Request

if TYPE_CHECKING:
    from builder.app.line import JobParts
    from builder.worker.jobs import BackgroundJob


def _job(parts: "JobParts") -> "AbstractAsyncContextManager[BackgroundJob]":
    from builder.extras.summaries.opening import open_job

    return open_job(parts)


def _requests() -> Mapping[str, Request]:
    from builder.extras.summaries.requests import REQUESTS

    return REQUESTS


def _commands() -> Commands:
    from builder.extras.summaries.command import compact

    return {"compact": compact}


extra = Extra(jobs={SUMMARISING: _job}, requests=_requests, commands=_commands)
