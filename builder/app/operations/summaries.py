"""The writer of summaries with its endpoint."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from builder.adapters.stemmer import load_language
from builder.app.components import Components
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured, installation
from builder.ports.broker import Sender
from builder.ports.models import Summarizer
from builder.recall.summaries.excerpts import TextFunctions
from builder.worker.jobs import Observer
from builder.worker.summary_writer import SummaryWriter


@asynccontextmanager
async def open_endpoint(settings: Settings, tokens: Callable[[str], int]) -> AsyncIterator[Summarizer | None]:
    """The configured endpoint, or None. tokens: text → count. Raises `Misconfigured` without model or SDK."""
    summaries = settings.summaries
    if not summaries.url:
        yield None
        return
    if not summaries.url.startswith(("http://", "https://")) or not summaries.model:
        raise Misconfigured(
            f"CONTEXT_BUILDER_SUMMARIES__URL is {summaries.url!r} and __MODEL {summaries.model!r}; "
            "give a URL like https://host/v1 and the name of a model, or unset both"
        )
    try:
        from builder.adapters.summarizer import EndpointSummarizer
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"CONTEXT_BUILDER_SUMMARIES__URL is set and the package {error.name!r} is not installed; "
            f"{installation('service,openai')}, or unset it"
        ) from error
    key = summaries.key.get_secret_value()
    async with EndpointSummarizer(
        summaries.url, summaries.model, key, summaries.timeout_seconds, summaries.attempts, tokens
    ) as endpoint:
        yield endpoint


def summary_writer(
    core: Components, sender: Sender, endpoint: Summarizer | None, observer: Observer, max_bytes: int
) -> SummaryWriter:
    """What makes the summaries of these components. max_bytes: of a breadcrumb."""
    words = TextFunctions(terms=core.helpers.terms, count=core.helpers.count)
    return SummaryWriter(sender, words, load_language(), endpoint, core.store, observer, max_bytes)
