"""`Summarizer` by any OpenAI-compatible endpoint."""

from builder.adapters.summarizer.endpoint import EndpointSummarizer

__all__ = ["EndpointSummarizer"]
