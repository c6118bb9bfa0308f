"""OpenAI-compatible endpoints: one that embeds, and one that writes observations."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from builder.domain.errors import Misconfigured, installation
from builder.extra import Extra, SummaryModel

if TYPE_CHECKING:
    from builder.adapters.embedding.engine import Endpoint, Engine
    from builder.ports.models import Summarizer


def _engine(_model: str, _models_dir: Path, endpoint: "Endpoint | None") -> "Engine | None":
    from builder.extras.endpoints.engine import EndpointEmbedder

    return EndpointEmbedder(endpoint) if endpoint else None


def _summarizer(model: SummaryModel, tokens: Callable[[str], int]) -> "AbstractAsyncContextManager[Summarizer]":
    try:
        from builder.extras.endpoints.summarizer import EndpointSummarizer
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"CONTEXT_BUILDER_SUMMARIES__URL is set and the package {error.name!r} is not installed; "
            f"{installation('service,openai')}, or unset it"
        ) from error
    return EndpointSummarizer(model, tokens)


extra = Extra(engines={"endpoint": _engine}, summarizers={"http": _summarizer, "https": _summarizer})
