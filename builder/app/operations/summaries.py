"""The writer of summaries with its endpoint, and `compact` beside a running service or without one."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from builder.adapters.nats.publisher import NatsPublisher, NatsSender
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, current_incarnation
from builder.adapters.stemmer import load_language
from builder.app.broker import connected
from builder.app.components import Components, open_components
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured, installation
from builder.domain.summary import CompactionResult
from builder.ports.broker import Sender
from builder.ports.models import Summarizer
from builder.recall.summaries.excerpts import Words
from builder.remember.decode import decode
from builder.worker.jobs import Observer
from builder.worker.log import Log
from builder.worker.summary_scheduler import SummaryScheduler
from builder.worker.summary_writer import SummaryWriter


@asynccontextmanager
async def open_endpoint(settings: Settings, tokens: Callable[[str], int]) -> AsyncIterator[Summarizer | None]:
    """The configured endpoint, or None. Raises `Misconfigured` for one without a model or without the SDK that talks to it.

    tokens: text → how many.
    """
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
    words = Words(terms=core.helpers.terms, count=core.helpers.count)
    return SummaryWriter(sender, words, load_language(), endpoint, core.store, observer, max_bytes)


async def compact_session(
    settings: Settings, servers: str, workspace: str, session: str, profile: str, keep_user: bool
) -> CompactionResult:
    """Summarise all but the tail of a session, beside a running service or without one.

    Raises `Misconfigured` for an unknown profile, `Rejected` for one without summaries, `Unavailable`.
    """
    async with open_components(settings) as core:
        consumer = core.profile(profile)
        async with connected(settings, servers) as connection, open_endpoint(settings, core.helpers.count) as endpoint:
            js, own = connection.jetstream(), settings.installation
            incarnation = await current_incarnation(js, own)
            stream = NatsStream(js, lambda: incarnation, BREADCRUMBS, own)
            publisher = NatsPublisher(connection, connection.max_payload, own)
            log = Log(stream, core.store, publisher, decode, core.builder.remember, max_attempts=settings.worker.max_attempts)
            writer = summary_writer(core, NatsSender(js, stream), endpoint, Observer(), settings.worker.max_body_bytes)
            return await SummaryScheduler(log, core.builder.recaller, writer, ()).compact(workspace, session, consumer, keep_user)
