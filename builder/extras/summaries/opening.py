"""The job, made of the parts of the service and of the endpoint that its settings name."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from builder.app.line import JobParts
from builder.app.settings import SummariesSettings
from builder.domain.errors import Misconfigured
from builder.extra import SummaryModel, additions
from builder.extras.summaries.scheduler import SummaryScheduler
from builder.extras.summaries.writer import SummaryWriter
from builder.ports.models import Summarizer


@asynccontextmanager
async def open_job(parts: JobParts) -> AsyncIterator[SummaryScheduler]:
    """Raises `Misconfigured` without model or SDK."""
    host, words = parts.host, parts.functions
    async with open_endpoint(parts.settings.summaries, words.count) as endpoint:
        writer = SummaryWriter(
            parts.sender, words, endpoint, host.log.store, parts.observer, parts.settings.worker.max_body_bytes
        )
        yield SummaryScheduler(host.log, host.builder().recaller, writer, host.consumers.in_memory)


@asynccontextmanager
async def open_endpoint(summaries: SummariesSettings, tokens: Callable[[str], int]) -> AsyncIterator[Summarizer | None]:
    """None = not configured. tokens: text → count. Raises `Misconfigured` without model or SDK."""
    if not summaries.url:
        yield None
        return
    openers, scheme = additions("summarizers"), summaries.url.partition("://")[0]
    if scheme not in openers or not summaries.model:
        raise Misconfigured(
            f"CONTEXT_BUILDER_SUMMARIES__URL is {summaries.url!r} and __MODEL {summaries.model!r}; "
            "give a URL like https://host/v1 and the name of a model, or unset both"
        )
    model = SummaryModel(
        url=summaries.url,
        model=summaries.model,
        key=summaries.key.get_secret_value(),
        timeout=summaries.timeout_seconds,
        attempts=summaries.attempts,
    )
    async with openers[scheme](model, tokens) as endpoint:
        yield endpoint
