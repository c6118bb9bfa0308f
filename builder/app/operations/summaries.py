"""The summarising loop with its parts, and `compact` on request."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from builder.adapters.stemmer import load_language
from builder.app.components import Components
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured, Rejected, installation
from builder.domain.profile import Profile
from builder.ports.broker import Sender
from builder.ports.models import Summarizer
from builder.recall.summaries.excerpts import Words
from builder.worker.summary_scheduler import Sources, SummaryScheduler
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


def open_summarising(
    core: Components,
    sources: Sources,
    sender: Sender,
    endpoint: Summarizer | None,
    busy: Callable[[], bool],
    count_summary: Callable[[str], None],
    largest: int,
    of_records: Callable[[str], tuple[Profile, ...]],
) -> SummaryScheduler:
    """The loop beside the worker. busy, of_records: as in `SummaryScheduler`. made, largest: as in `SummaryWriter`."""
    writer = make_summary_writer(core, sender, endpoint, count_summary, largest)
    return SummaryScheduler(sources, writer, core.profiles, busy, of_records=of_records)


def make_summary_writer(
    core: Components, sender: Sender, endpoint: Summarizer | None, count_summary: Callable[[str], None], largest: int
) -> SummaryWriter:
    """What makes the summaries. made, largest: as in `SummaryWriter`."""
    words = Words(terms=core.helpers.terms, count=core.helpers.count)
    return SummaryWriter(sender, words, load_language(), endpoint, count_summary, core.store.facts, largest)


async def compact_on_request(
    core: Callable[[], Components],
    summarising: SummaryScheduler,
    workspace: str,
    session: str,
    profile: str,
    keep_user: bool,
) -> dict[str, Any]:
    """Summarise all but the tail of a session in the running service; the answer to the request.

    core: the present components. Raises `Rejected` for an unknown profile and for one without summaries, and `Unavailable`.
    """
    try:
        consumer = core().profile(profile)
    except Misconfigured as error:
        raise Rejected(str(error)) from error
    return asdict(await summarising.compact(workspace, session, consumer, keep_user))
